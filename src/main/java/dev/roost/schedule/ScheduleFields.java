package dev.roost.schedule;

import dev.roost.api.JsonText;
import java.time.Instant;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/** The schema of a schedule in requests. {@link ScheduleRequest} reads it. */
@Schema(
    name = "ScheduleRequest",
    description =
        "Only agent_id and cron are required, and only at creation. In an update, fields that are "
            + "left out keep their values.")
record ScheduleFields(
    @Schema(description = "The agent to run. It cannot be changed.") String agentId,
    @Schema(
            description =
                "A name, unique among the agent's schedules. If it is left out, Roost generates one.",
            maxLength = 100)
        String name,
    @Schema(description = "Five fields, or a macro such as @daily.", examples = "30 2 * * 1-5")
        String cron,
    @Schema(
            description = "IANA.",
            defaultValue = ScheduleDefaults.TIME_ZONE,
            examples = "Europe/Berlin")
        String timeZone,
    @Schema(description = "Any JSON value; without it, request.payload is None.") JsonText payload,
    @Schema(
            defaultValue = ScheduleState.DEFAULT,
            description = "paused: the schedule has no next run")
        ScheduleState state,
    @Schema(
            enumeration = {"skip", "run_once", "run_all"},
            defaultValue = ScheduleDefaults.MISSED_RUNS,
            description =
                "What to do about runs that were missed while Roost was not running: skip all of them, "
                    + "run the latest one, or run the latest missed_runs_limit.")
        String missedRuns,
    @Schema(
            description = "The maximum number of missed runs that run_all runs",
            defaultValue = "" + ScheduleDefaults.MISSED_RUNS_LIMIT,
            minimum = "1",
            maximum = "1000")
        int missedRunsLimit,
    @Schema(
            enumeration = {"allow", "skip", "queue"},
            defaultValue = ScheduleDefaults.OVERLAP,
            description =
                "What to do if an earlier run is queued or running: allow the new run, skip it, or queue "
                    + "it.")
        String overlap,
    @Schema(
            description =
                "Each run is delayed by a random time of up to this number of seconds, to spread load.",
            defaultValue = "0",
            maximum = "3600")
        double jitter,
    @Schema(
            description = "No runs are scheduled before this time; null for no limit.",
            nullable = true)
        Instant startsAt,
    @Schema(
            description = "No runs are scheduled after this time; null for no limit.",
            nullable = true)
        Instant endsAt) {}
