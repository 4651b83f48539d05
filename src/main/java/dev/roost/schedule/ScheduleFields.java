package dev.roost.schedule;

import dev.roost.api.JsonText;
import java.time.Instant;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** The schema of a schedule in requests. {@link ScheduleRequest} reads it. */
@Schema(
    name = "ScheduleRequest",
    description =
        "Only agent_id and cron are required, and only at creation. A change gives what changes.")
record ScheduleFields(
    @Schema(description = "The agent that is run. Can't be changed.") String agentId,
    @Schema(
            description = "Unique among the agent's. Without it, a readable one is made.",
            maxLength = 100)
        String name,
    @Schema(description = "Five fields, or a macro as @daily.", examples = "30 2 * * 1-5")
        String cron,
    @Schema(description = "IANA.", defaultValue = "UTC", examples = "Europe/Berlin")
        String timeZone,
    @Schema(description = "Any JSON value; without it, request.payload is None.") JsonText payload,
    @Schema(
            enumeration = {"active", "paused"},
            defaultValue = "active",
            description = "paused: it has no next time")
        String state,
    @Schema(
            enumeration = {"skip", "run_once", "run_all"},
            defaultValue = "run_once",
            description =
                "What becomes of times that passed while nobody was there to see it: nothing is made up for, the"
                    + " latest one is, or the latest missed_runs_limit are.")
        String missedRuns,
    @Schema(
            description = "How many times run_all makes up for at most",
            defaultValue = "100",
            minimum = "1",
            maximum = "1000")
        int missedRunsLimit,
    @Schema(
            enumeration = {"allow", "skip", "queue"},
            defaultValue = "allow",
            description =
                "While a run of this schedule waits or runs, another one may begin, is left out, or waits for it.")
        String overlap,
    @Schema(
            description =
                "Each run is delayed by a random time of up to that many seconds, to spread the load.",
            defaultValue = "0",
            maximum = "3600")
        double jitter,
    @Schema(description = "No time is before it; null: no bound.", nullable = true)
        Instant startsAt,
    @Schema(description = "No time is after it; null: no bound.", nullable = true)
        Instant endsAt) {}
