package dev.roost.api;

import jakarta.ws.rs.core.Application;
import org.eclipse.microprofile.openapi.annotations.OpenAPIDefinition;
import org.eclipse.microprofile.openapi.annotations.info.Info;
import org.eclipse.microprofile.openapi.annotations.info.License;
import org.eclipse.microprofile.openapi.annotations.servers.Server;
import org.eclipse.microprofile.openapi.annotations.tags.Tag;

/** The general part of the OpenAPI document. */
@OpenAPIDefinition(
    info =
        @Info(
            title = "Roost",
            version = "1",
            license = @License(name = "Apache-2.0", identifier = "Apache-2.0"),
            description =
                """
                Runs Python agents. An **Agent** is a script with its requirements; executing it \
                makes an **ExecutorJob**, whose attempts are **Executions**. What an agent needs is \
                built by a **BuilderJob** into a **Build**. A **DataStore** keeps values between \
                executions.

                ReadableNames are `snake_case`, times RFC 3339 in UTC, durations seconds. Lists come in \
                pages: pass `next_cursor` as `cursor` for the next one. Every error is a problem \
                document; [all of them are explained](/docs/errors). Clients ignore fields that they \
                don't know: more may come, none will be renamed or removed within `/v1`."""),
    servers = @Server(url = "/", description = "The Roost that serves this document"),
    tags = {
      @Tag(name = "Agents", description = "Python scripts with their requirements"),
      @Tag(
          name = "Builds",
          description = "How an agent's requirements are installed, and the result"),
      @Tag(
          name = "Executions",
          description = "ExecutorJobs to run an agent, their attempts and logs"),
      @Tag(name = "DataStores", description = "Values that outlive an execution"),
      @Tag(name = "Schedules", description = "ExecutorJobs that repeat"),
      @Tag(name = "Events", description = "What changes, as it changes"),
      @Tag(
          name = "Webhooks",
          description = "Events that are posted to a URL, and their deliveries"),
      @Tag(name = "Keys", description = "API keys and what they may do"),
      @Tag(name = "Sessions", description = "Signing in and out with a browser"),
      @Tag(name = "Overview", description = "How it goes, and how Roost is set up"),
      @Tag(name = "Runtime", description = "What this Roost offers")
    })
public class OpenApiDocument extends Application {}
