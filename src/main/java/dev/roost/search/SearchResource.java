package dev.roost.search;

import dev.roost.agent.Agent;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.api.QueryParameters;
import io.quarkus.narayana.jta.QuarkusTransaction;
import io.smallrye.common.annotation.Blocking;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MediaType;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.Operation;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;
import org.jboss.resteasy.reactive.RestQuery;

/** The search over what executions have printed, returned, received and failed with. */
@Path("/v1/search")
@Tag(name = "Search")
@Produces(MediaType.APPLICATION_JSON)
@Blocking
public class SearchResource {
  private static final List<String> STREAMS = List.of("stdout", "stderr", "logging", "system");
  private static final int MOST_LEVELS = 20;
  private static final int MOST_AGENTS = 100;
  private static final int MOST_CONTEXT = 5;
  private static final int CONTEXT = 2;

  private final Searches searches;

  SearchResource(Searches searches) {
    this.searches = searches;
  }

  /** A page of matches, and what it doesn't cover. */
  @Schema(name = "SearchPage")
  record Results(
      @Schema(description = "The matches, newest first") List<SearchMatch> data,
      @Schema(
              nullable = true,
              description = "The value of cursor for the next page; null on the last page")
          String nextCursor,
      @Schema(
              description =
                  "Whether the search ended early because it exceeded its time. next_cursor continues it; a "
                      + "rarer word, an agent or a time makes it faster")
          boolean timedOut,
      @Schema(
              nullable = true,
              description =
                  "While the index is filled after an upgrade: Executions that ended before this time are "
                      + "not found yet. null: the index is complete")
          Instant indexedFrom) {}

  @GET
  @Operation(
      operationId = "search",
      summary = "Search logs, errors, payloads and return values",
      description =
          "Finds lines of logs, and errors, payloads and return values, that have all words of q, in any "
              + "order and without regard to case. Words are runs of letters and digits. \"Quoted words\" have "
              + "to follow each other. A word with other characters, such as order_id=42 or /var/log, is found "
              + "exactly so. The last word and word* also find words that begin with them. The first 65536 "
              + "characters of an error, a payload and a return value are searched. New lines are found some "
              + "seconds after an Execution has ended, and while it runs.")
  public Results search(
      @Parameter(required = true, description = "The words, up to 16 in 200 characters") @RestQuery
          String q,
      @Parameter(
              description =
                  "What is searched, separated by commas: logs, errors, payloads, results. Everything by default")
          @RestQuery
          String in,
      @Parameter(
              description =
                  "Only lines with one of these levels of Python's logging, separated by commas, for example "
                      + "WARNING,ERROR")
          @RestQuery
          String level,
      @Parameter(
              description =
                  "Only lines of these streams, separated by commas: stdout, stderr, logging, system")
          @RestQuery
          String stream,
      @Parameter(description = "Only those of this agent") @RestQuery("agent_id") String agentId,
      @Parameter(
              description =
                  "Only those of the agent with this name or, if there is none, of the agents that q of "
                      + "GET /v1/agents finds, including deleted agents")
          @RestQuery
          String agent,
      @Parameter(
              description = "Only those from this time or later",
              schema = @Schema(implementation = Instant.class))
          @RestQuery
          String since,
      @Parameter(
              description = "Only those from before this time",
              schema = @Schema(implementation = Instant.class))
          @RestQuery
          String until,
      @Parameter(
              description = "How many lines before and after a matching line are returned",
              schema =
                  @Schema(
                      type = SchemaType.INTEGER,
                      minimum = "0",
                      maximum = "5",
                      defaultValue = "2"))
          @RestQuery
          Integer context,
      @RestQuery String cursor,
      @RestQuery Integer limit) {
    SearchQuery query = SearchQuery.parse(q);
    List<Kind> kinds = QueryParameters.choices("in", in, Kind.class);
    SearchFilter filter =
        new SearchFilter(
            kinds.isEmpty() ? List.of(Kind.values()) : kinds,
            levels(level),
            QueryParameters.choices("stream", stream, STREAMS),
            agents(agentId, agent),
            QueryParameters.time("since", since),
            QueryParameters.time("until", until));
    Searches.Found found =
        searches.search(query, filter, cursor, Page.limit(limit), context(context));
    return new Results(found.matches(), found.next(), found.timedOut(), found.pastFrom());
  }

  private static List<String> levels(String given) {
    if (given == null || given.isBlank()) {
      return List.of();
    }
    List<String> levels =
        Arrays.stream(given.split(",", -1)).map(String::strip).distinct().toList();
    if (levels.size() > MOST_LEVELS) {
      throw Problem.invalid(
          "?level", "out_of_range", "level can have up to " + MOST_LEVELS + " levels.");
    }
    return levels;
  }

  private static List<String> agents(String agentId, String agent) {
    List<String> meant =
        QuarkusTransaction.requiringNew().call(() -> Agent.meant("agent", agent, null));
    if (agentId == null) {
      if (meant != null && meant.size() > MOST_AGENTS) {
        throw Problem.invalid(
            "?agent",
            "out_of_range",
            "agent means %,d agents; up to %d can be searched. Give more of the name."
                .formatted(meant.size(), MOST_AGENTS));
      }
      return meant;
    }
    return meant == null || meant.contains(agentId) ? new ArrayList<>(List.of(agentId)) : List.of();
  }

  private static int context(Integer given) {
    if (given == null) {
      return CONTEXT;
    }
    if (given < 0 || given > MOST_CONTEXT) {
      throw Problem.invalid(
          "?context", "out_of_range", "context must be from 0 to " + MOST_CONTEXT + ".");
    }
    return given;
  }
}
