package dev.roost.mcp;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.roost.api.Page;
import dev.roost.api.Problem;
import dev.roost.datastore.Access;
import dev.roost.datastore.DataStoreResource;
import dev.roost.datastore.DataStoreView;
import dev.roost.datastore.Entries;
import dev.roost.datastore.EntryResource;
import dev.roost.execution.ExecutionsResource;
import dev.roost.execution.ExecutorJob;
import dev.roost.execution.ExecutorJobAnswers;
import dev.roost.execution.ExecutorJobsResource;
import dev.roost.file.Files;
import dev.roost.file.StoredFile;
import dev.roost.log.LogEntry;
import jakarta.enterprise.context.ApplicationScoped;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.stream.Collectors;

/** DataStores, jobs, logs and files, as resources that clients read into a conversation. */
@ApplicationScoped
class Resources {
  static final String FILE = "roost://files/";
  private static final String STORE = "roost://stores/";
  private static final String ENTRIES = "/entries/";
  private static final String JOB = "roost://executor-jobs/";
  private static final String EXECUTION = "roost://executions/";
  private static final String LOG = "/log";
  private static final String JSON = "application/json";
  private static final String TEXT = "text/plain";
  private static final int MOST_JOBS = 20;
  private static final int MOST_LINES = 1_000;

  private final DataStoreResource stores;
  private final EntryResource entriesResource;
  private final Entries entries;
  private final ExecutorJobsResource jobs;
  private final ExecutorJobAnswers answers;
  private final ExecutionsResource executions;
  private final Files files;
  private final ObjectMapper mapper;

  Resources(
      DataStoreResource stores,
      EntryResource entriesResource,
      Entries entries,
      ExecutorJobsResource jobs,
      ExecutorJobAnswers answers,
      ExecutionsResource executions,
      Files files,
      ObjectMapper mapper) {
    this.stores = stores;
    this.entriesResource = entriesResource;
    this.entries = entries;
    this.jobs = jobs;
    this.answers = answers;
    this.executions = executions;
    this.files = files;
    this.mapper = mapper;
  }

  /**
   * A page: first the latest jobs, then the DataStores, newest first.
   *
   * @param cursor null: the first page
   */
  ObjectNode page(String cursor) {
    ObjectNode page = RpcMessage.object();
    ArrayNode resources = page.putArray("resources");
    if (cursor == null) {
      for (ExecutorJob.View job : jobs.page(null, null, null, MOST_JOBS).data()) {
        add(resources, JOB + job.id(), job.id())
            .put("title", "Job of " + job.createdAt())
            .put(
                "description",
                "A job of the agent %s: %s".formatted(job.agentId(), job.state().code()));
      }
    }
    Page<DataStoreView> found;
    try {
      found = stores.list(null, null, null, cursor);
    } catch (Problem e) {
      throw RpcMessage.of(e);
    }
    for (DataStoreView store : found.data()) {
      add(resources, STORE + store.id(), store.name()).put("description", "A DataStore");
    }
    if (found.nextCursor() != null) {
      page.put("nextCursor", found.nextCursor());
    }
    return page;
  }

  private static ObjectNode add(ArrayNode resources, String uri, String name) {
    return resources.addObject().put("uri", uri).put("name", name).put("mimeType", JSON);
  }

  static ObjectNode templates() {
    ObjectNode page = RpcMessage.object();
    ArrayNode templates = page.putArray("resourceTemplates");
    template(templates, STORE + "{store_id}", "store", "The first entries of a DataStore", JSON);
    template(
        templates,
        STORE + "{store_id}" + ENTRIES + "{+key}",
        "entry",
        "The value of one key of a DataStore",
        JSON);
    template(templates, JOB + "{executor_job_id}", "job", "A job, with its latest execution", JSON);
    template(
        templates,
        EXECUTION + "{execution_id}" + LOG,
        "log",
        "The first %,d lines of the log of an execution".formatted(MOST_LINES),
        TEXT);
    template(templates, FILE + "{file_id}", "file", "A file, for example an artifact", null);
    return page;
  }

  private static void template(
      ArrayNode templates, String uri, String name, String description, String type) {
    ObjectNode template = templates.addObject().put("uriTemplate", uri).put("name", name);
    template.put("description", description);
    if (type != null) {
      template.put("mimeType", type);
    }
  }

  /**
   * @throws RpcError there is none with this URI
   */
  ObjectNode read(String uri, Peer peer) {
    ObjectNode result = RpcMessage.object();
    ObjectNode content = result.putArray("contents").addObject().put("uri", uri);
    try {
      if (read(uri, content)) {
        return result;
      }
    } catch (Problem e) {
      if (e.code().status() != 404) {
        throw RpcMessage.of(e);
      }
    }
    int code = peer.isStateless() ? RpcError.INVALID_PARAMS : RpcError.RESOURCE_NOT_FOUND;
    throw new RpcError(code, "There is no resource " + uri, RpcMessage.object().put("uri", uri));
  }

  private boolean read(String uri, ObjectNode content) {
    if (uri.startsWith(STORE)) {
      String rest = uri.substring(STORE.length());
      int split = rest.indexOf(ENTRIES);
      content.put("mimeType", JSON);
      content.put(
          "text",
          split < 0
              ? json(entriesResource.list(rest, null, null, null, null))
              : entry(rest.substring(0, split), rest.substring(split + ENTRIES.length())));
      return true;
    }
    if (uri.startsWith(JOB)) {
      content.put("mimeType", JSON).put("text", json(answers.now(uri.substring(JOB.length()))));
      return true;
    }
    if (uri.startsWith(EXECUTION) && uri.endsWith(LOG)) {
      String id =
          uri.substring(
              EXECUTION.length(), Math.max(EXECUTION.length(), uri.length() - LOG.length()));
      content.put("mimeType", TEXT).put("text", log(id));
      return true;
    }
    if (uri.startsWith(FILE)) {
      readFile(files.find(uri.substring(FILE.length())), content);
      return true;
    }
    return false;
  }

  private String entry(String storeId, String encodedKey) {
    String key;
    try {
      key = URLDecoder.decode(encodedKey.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw RpcError.invalidParams("The key in the URI has an invalid %-sequence.");
    }
    return entries
        .get(Access.ofClient(storeId), key)
        .orElseThrow(() -> Problem.notFound("entry", key))
        .value()
        .text();
  }

  private String log(String executionId) {
    return executions.logs(executionId, MOST_LINES, null, null, null, null).data().stream()
        .map(LogEntry::message)
        .collect(Collectors.joining("\n"));
  }

  private void readFile(StoredFile file, ObjectNode content) {
    if (file.sizeBytes() > StoredFile.PART_BYTES) {
      throw RpcError.invalidParams(
          "This file has %,d bytes; as a resource, it can have %,d. Download it: GET /v1/files/%s/content"
              .formatted(file.sizeBytes(), StoredFile.PART_BYTES, file.id()));
    }
    byte[] bytes = file.parts() == 0 ? new byte[0] : files.read(file, 0);
    content.put("mimeType", file.contentType());
    boolean isText = file.contentType().startsWith("text/") || file.contentType().equals(JSON);
    try {
      if (isText) {
        content.put(
            "text", StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
        return;
      }
    } catch (CharacterCodingException e) {
      // Then it is not text.
    }
    content.put("blob", Base64.getEncoder().encodeToString(bytes));
  }

  private String json(Object value) {
    try {
      return mapper.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }
}
