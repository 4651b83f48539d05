package dev.roost.agent;

import java.util.List;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** The schema of an agent in requests. {@link AgentRequest} reads the request. */
@Schema(
    name = "AgentRequest",
    description = "Only script is required, and only at creation. A change gives what changes.")
record AgentFields(
    @Schema(description = "Unique. Without it, a readable one is made.", maxLength = 100)
        String name,
    @Schema(description = "Python that defines main(), main(request) or main(request, store).")
        String script,
    @Schema(description = "One package a line, name==version; extras, markers, comments allowed.")
        String requirements,
    @Schema(description = "One variable a line, KEY=VALUE.") String envVars,
    @Schema(description = "One of those that GET /v1/runtime lists.", examples = "3.13")
        String pythonVersion,
    @Schema(
            type = SchemaType.ARRAY,
            description =
                "The first is what main gets. Left out at creation: a store of its own; []: none.")
        List<String> storeIds,
    @Schema(
            description = "Seconds that an execution may take.",
            defaultValue = "900",
            maximum = "86400")
        double timeout,
    @Schema(description = "MiB that an execution may use.", defaultValue = "256", minimum = "16")
        int memory,
    @Schema(description = "Cores.", defaultValue = "0.5", minimum = "0.01") double cpu,
    @Schema(
            description = "Executions at the same time.",
            defaultValue = "10",
            minimum = "1",
            maximum = "1000")
        int maxConcurrency,
    @Schema(description = "Attempts at one job.", defaultValue = "1", minimum = "1", maximum = "10")
        int maxAttempts,
    @Schema(
            description = "Seconds before the second attempt; doubled each time, with jitter.",
            defaultValue = "1")
        double retryDelay,
    @Schema(
            type = SchemaType.ARRAY,
            description =
                "Reasons after which there is no further attempt, for example deadline_exceeded.",
            examples = "[\"deadline_exceeded\"]")
        List<String> neverRetry,
    @Schema(description = "Seconds that an idle executor is kept.", defaultValue = "60")
        double keepWarm,
    @Schema(
            enumeration = {"process", "pod"},
            defaultValue = "process",
            description =
                "process: an executor runs many executions, each a fresh process; pod: only one.")
        String isolation,
    @Schema(
            nullable = true,
            description = "One of the profiles that GET /v1/runtime lists; null: the default.")
        String profile,
    @Schema(
            defaultValue = "all",
            examples = {"none", "192.0.2.7:443\\n[2001:db8::/32]:443"},
            description =
                "What scripts may connect to: all, none, or one IP address or block with its TCP"
                    + " port a line. Names can be looked up, but not with none on one machine."
                    + " What is enforced of a list: egress of GET /v1/runtime.")
        String egress) {}
