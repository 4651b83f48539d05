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
                creates an **ExecutorJob**, whose attempts are **Executions**. A **BuilderJob** \
                installs the requirements into a **Build**. A **DataStore** keeps values between \
                executions.

                Names are `snake_case`, times are RFC 3339 in UTC, durations are seconds. Lists are \
                paginated: send `next_cursor` as `cursor` for the next page. Every error is a problem \
                document; [each code is explained](/docs/errors). Clients must ignore unknown fields: \
                fields may be added, but are not renamed or removed within `/v1`."""),
    servers = @Server(url = "/", description = "This Roost"),
    tags = {
      @Tag(name = "Agents", description = "Python scripts with their requirements"),
      @Tag(name = "Builds", description = "Installation of agents' requirements, and the results"),
      @Tag(name = "Executions", description = "Jobs of agents, their attempts and logs"),
      @Tag(name = "Files", description = "Files that jobs read and make"),
      @Tag(name = "Bundles", description = "Files of agents' projects"),
      @Tag(name = "Approvals", description = "Questions that scripts ask people"),
      @Tag(name = "Issues", description = "Failures grouped by cause"),
      @Tag(name = "Search", description = "Search over logs, errors, payloads and return values"),
      @Tag(name = "DataStores", description = "Key-value stores that persist between executions"),
      @Tag(name = "Schedules", description = "Recurring jobs"),
      @Tag(name = "Events", description = "State changes of resources"),
      @Tag(name = "Webhooks", description = "Delivery of events to a URL"),
      @Tag(
          name = "Notifications",
          description = "Messages about issues and failed builds, by e-mail and to Slack"),
      @Tag(name = "Views", description = "Saved views of the dashboard's lists"),
      @Tag(name = "Keys", description = "API keys and their roles"),
      @Tag(name = "Sessions", description = "Browser sessions"),
      @Tag(name = "Overview", description = "Statistics and settings"),
      @Tag(name = "Runtime", description = "Capabilities and limits of this Roost")
    })
public class OpenApiDocument extends Application {}
