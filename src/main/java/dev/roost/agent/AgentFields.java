package dev.roost.agent;

import dev.roost.api.JsonText;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** The schema of an agent in requests. {@link AgentRequest} reads the request. */
@Schema(
    name = "AgentRequest",
    description =
        "Only script, or bundle_id with script_path, is required, and only at creation. In an update, "
            + "fields that are left out keep their values.")
record AgentFields(
    @Schema(description = "A unique name. If it is left out, Roost generates one.", maxLength = 100)
        String name,
    @Schema(
            description =
                "Python that defines main(), main(request) or main(request, store). Not together with "
                    + "bundle_id. Of an agent that has a bundle, it replaces the file at script_path, in a new "
                    + "bundle.")
        String script,
    @Schema(
            nullable = true,
            description =
                "A bundle with the files of a project: modules, packages and data, next to the script. "
                    + "null: the script is all of the agent's code.")
        String bundleId,
    @Schema(
            nullable = true,
            examples = "src/main.py",
            description =
                "The path of the script in the bundle, which ends in .py. Its text becomes script. Required "
                    + "when an agent gets its first bundle; null without a bundle.")
        String scriptPath,
    @Schema(
            description =
                "One package per line, name==version. Extras, environment markers and comments are "
                    + "allowed.")
        String requirements,
    @Schema(description = "One variable per line, KEY=VALUE.") String envVars,
    @Schema(description = "One of the versions that GET /v1/runtime lists.", examples = "3.13")
        String pythonVersion,
    @Schema(
            type = SchemaType.ARRAY,
            description =
                "The agent's DataStores; main receives the first as its store. If left out at creation, a "
                    + "new DataStore is created; [] for none.")
        List<String> storeIds,
    @Schema(
            description = "The execution timeout in seconds.",
            defaultValue = "" + AgentDefaults.TIMEOUT_SECONDS,
            maximum = "86400")
        double timeout,
    @Schema(
            description = "The memory limit of an execution in MiB.",
            defaultValue = "" + AgentDefaults.MEMORY_MIB,
            minimum = "16")
        int memory,
    @Schema(description = "Cores.", defaultValue = "" + AgentDefaults.CPU, minimum = "0.01")
        double cpu,
    @Schema(
            description = "The number of executions that may run at the same time.",
            defaultValue = "" + AgentDefaults.MAX_CONCURRENCY,
            minimum = "1",
            maximum = "1000")
        int maxConcurrency,
    @Schema(
            defaultValue = AgentDefaults.CONCURRENCY_KEY_SCOPE_CODE,
            description =
                "How long a job has its concurrency_key. execution: while it has an execution, so that "
                    + "another job with the key may run while it is suspended or waits to be tried again. "
                    + "job: from its first execution until it ends.")
        KeyScope concurrencyKeyScope,
    @Schema(
            description = "The number of attempts for each job.",
            defaultValue = "" + AgentDefaults.MAX_ATTEMPTS,
            minimum = "1",
            maximum = "10")
        int maxAttempts,
    @Schema(
            description =
                "The delay before the second attempt in seconds. It doubles with each attempt, with "
                    + "jitter.",
            defaultValue = "" + AgentDefaults.RETRY_DELAY_SECONDS)
        double retryDelay,
    @Schema(
            type = SchemaType.ARRAY,
            description = "Reasons that are not retried, for example deadline_exceeded.",
            examples = "[\"deadline_exceeded\"]")
        List<String> neverRetry,
    @Schema(
            description = "How long an idle executor is kept, in seconds.",
            defaultValue = "" + AgentDefaults.KEEP_WARM_SECONDS)
        double keepWarm,
    @Schema(
            enumeration = {"process", "pod"},
            defaultValue = AgentDefaults.ISOLATION,
            description =
                "process: an executor runs many executions, each in a new process. pod: an executor runs "
                    + "one execution.")
        String isolation,
    @Schema(
            description =
                "How many executions run in one process at the same time. With more than 1, main must be "
                    + "async def; the executions share the process, its memory limit and its variables. "
                    + "Requires isolation process.",
            defaultValue = "" + AgentDefaults.REQUESTS_PER_PROCESS,
            minimum = "1",
            maximum = "" + SharedProcess.MOST_REQUESTS)
        int requestsPerProcess,
    @Schema(
            nullable = true,
            description = "One of the profiles that GET /v1/runtime lists; null for the default.")
        String profile,
    @Schema(
            defaultValue = AgentDefaults.EGRESS,
            examples = {"none", "192.0.2.7:443\\n[2001:db8::/32]:443"},
            description =
                "What scripts may connect to: all, none, or a list with one IP address or CIDR block and "
                    + "TCP port per line. DNS lookups are allowed, except with none on the local runtime. "
                    + "egress of GET /v1/runtime says how a list is enforced.")
        String egress,
    @Schema(
            defaultValue = AgentDefaults.PRELOAD_CODE,
            description =
                "auto: an executor imports the modules that the script imports once, and executions "
                    + "start with them. off: each execution imports them.")
        Preload preload,
    @Schema(
            ref = "JsonText",
            nullable = true,
            examples =
                "{\"type\": \"object\", \"properties\": {\"name\": {\"type\": \"string\"}}, "
                    + "\"required\": [\"name\"]}",
            description =
                "A JSON Schema, draft 2020-12, that payloads must match; null: any payload. A payload "
                    + "that does not match is refused when it is submitted.")
        JsonText inputSchema,
    @Schema(
            ref = "JsonText",
            nullable = true,
            description =
                "A JSON Schema, draft 2020-12, of what main returns, for those who call the agent; null: "
                    + "not described. Return values are not checked.")
        JsonText outputSchema,
    @Schema(
            type = SchemaType.ARRAY,
            maxItems = AgentTags.MOST,
            examples = "[\"billing\", \"team/crawlers\"]",
            description =
                "Labels to find agents by, at most 20. A tag has 1 to 60 lower-case letters, digits and "
                    + ". _ : - , and begins with a letter or digit; / separates levels. A list replaces all "
                    + "tags. Tags do not belong to a revision.")
        List<String> tags,
    @Schema(
            nullable = true,
            minLength = 1,
            maxLength = AgentTool.MOST_NAME_CHARACTERS,
            pattern = AgentTool.NAME_PATTERN,
            examples = "weather_forecast",
            description =
                "The name under which language models are offered the agent as a tool, through the Model "
                    + "Context Protocol; null: the agent is not a tool. Unique among agents; names that "
                    + "begin with roost_ are reserved. Does not belong to a revision.")
        String toolName,
    @Schema(
            nullable = true,
            maxLength = AgentTool.MOST_DESCRIPTION_CHARACTERS,
            examples = "Returns the weather forecast of a city for up to seven days.",
            description =
                "What the tool does, for the language model that chooses among tools; null: not "
                    + "described. Does not belong to a revision.")
        String toolDescription) {}
