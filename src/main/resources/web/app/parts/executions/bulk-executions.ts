import { html } from "lit";
import { count, plural } from "../../core/format";
import { router } from "../../core/router";
import { signedIn } from "../../core/session";
import type { ActionResults, Execution } from "../../core/types";
import { act, preview, report, tried } from "../page/actions";
import { confirmAction, toast } from "../page/dialogs";
import type { BulkAction } from "../page/selection";
import { comparisonOf } from "./comparison-address";
import { payloadText } from "./payloads";

/** What can be done with several executions; each asks first and shows what it will do. */
export const executionActions = (): BulkAction<Execution>[] => [
  ...(signedIn.may("execute")
    ? [
        { title: "Run again", applies: ({ state }: Execution) => state !== "running", run: runAgain },
        { title: "Cancel", applies: ({ state }: Execution) => state === "running", run: cancel },
      ]
    : []),
  { title: "Compare", applies: () => true, run: compare },
];

/** Opens the page that compares two, the earlier one first. Returns false: the selection stays. */
async function compare(executions: Execution[]): Promise<boolean> {
  if (executions.length !== 2) {
    toast("Select two executions to compare them.");
    return false;
  }
  const [one, other] = executions.map(({ id }) => id).sort();
  await router.go(comparisonOf(one!, other!));
  return true;
}

/** Acts on the jobs of executions; several attempts have one job. */
const actOn = (executions: readonly Execution[], body: Record<string, unknown>): Promise<ActionResults> =>
  act(
    "/executor-jobs/actions",
    "executor_job_ids",
    [...new Set(executions.map(({ executor_job_id }) => executor_job_id))],
    body,
  );

/** Submits the jobs of executions again, with their payloads and the agents' running revisions. */
function runAgain(executions: Execution[]): Promise<boolean> {
  const payloads = new Map(
    executions.map(({ executor_job_id, submission }) => [executor_job_id, submission?.payload_preview ?? ""]),
  );
  return tried(async () => {
    const expected = await actOn(executions, { action: "run_again", dry_run: true });
    if (expected.changed === 0) {
      toast("Nothing to run again: the jobs have not ended.");
      return false;
    }
    const sure = await confirmAction({
      title: `Run ${plural(expected.changed, "job")} again?`,
      body: html`<p>Each runs with its payload and the current revision of its agent.</p>
        ${preview(expected.results, ({ id, changed }) =>
          changed ? payloadText(payloads.get(id) ?? "") : "has not ended",
        )}`,
      confirm: `Run ${count(expected.changed)} again`,
    });
    if (sure) {
      const found = await actOn(executions, { action: "run_again" });
      const jobs = found.results.flatMap(({ executor_job_id }) => executor_job_id ?? []);
      await report(found, "run", "queued", () =>
        tried(async () => {
          const ended = await act("/executor-jobs/actions", "executor_job_ids", jobs, { action: "cancel" });
          toast(`${plural(ended.changed, "run")} cancelled.`);
        }),
      );
    }
    return sure;
  });
}

function cancel(executions: Execution[]): Promise<boolean> {
  return tried(async () => {
    const expected = await actOn(executions, { action: "cancel", dry_run: true });
    if (expected.changed === 0) {
      toast("Nothing to cancel: the executions have ended.");
      return false;
    }
    const sure = await confirmAction({
      title: `Cancel ${plural(expected.changed, "running execution")}?`,
      body: html`<p>Each script receives SIGTERM, and SIGKILL ten seconds later. The runs are not retried.</p>
        ${preview(expected.results, ({ changed }) => (changed ? "" : "has ended"))}`,
      confirm: "Cancel executions",
      cancel: "Keep running",
      danger: true,
    });
    if (sure) {
      await report(await actOn(executions, { action: "cancel" }), "run", "cancelled");
    }
    return sure;
  });
}
