import { html } from "lit";
import { router } from "../../core/router";
import { signedIn } from "../../core/session";
import type { ActionResults, Execution } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/executions";
import { act, preview, report, tried } from "../page/actions";
import { confirmAction, toast } from "../page/dialogs";
import type { BulkAction } from "../page/selection";
import { comparisonOf } from "./comparison-address";
import { payloadText } from "./payloads";

/** What can be done with several executions; each asks first and shows what it will do. */
export const executionActions = (): BulkAction<Execution>[] => [
  ...(signedIn.may("execute")
    ? [
        { title: text.bulk.runAgain, applies: ({ state }: Execution) => state !== "running", run: runAgain },
        { title: common.cancel, applies: ({ state }: Execution) => state === "running", run: cancel },
      ]
    : []),
  { title: text.bulk.compare, applies: () => true, run: compare },
];

/** Opens the page that compares two, the earlier one first. Returns false: the selection stays. */
async function compare(executions: Execution[]): Promise<boolean> {
  if (executions.length !== 2) {
    toast(text.bulk.selectTwo);
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
      toast(text.bulk.nothingToRun);
      return false;
    }
    const sure = await confirmAction({
      title: text.bulk.runJobsAgain(expected.changed),
      body: html`<p>${text.bulk.eachRuns}</p>
        ${preview(expected.results, ({ id, changed }) =>
          changed ? payloadText(payloads.get(id) ?? "") : text.bulk.notEnded,
        )}`,
      confirm: text.bulk.confirmRunAgain(expected.changed),
    });
    if (sure) {
      const found = await actOn(executions, { action: "run_again" });
      const jobs = found.results.flatMap(({ executor_job_id }) => executor_job_id ?? []);
      await report(found, text.bulk.queued, () =>
        tried(async () => {
          const ended = await act("/executor-jobs/actions", "executor_job_ids", jobs, { action: "cancel" });
          toast(text.bulk.runsCancelled(ended.changed));
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
      toast(text.bulk.nothingToCancel);
      return false;
    }
    const sure = await confirmAction({
      title: text.bulk.cancelExecutions(expected.changed),
      body: html`<p>${text.bulk.eachReceives}</p>
        ${preview(expected.results, ({ changed }) => (changed ? "" : text.bulk.ended))}`,
      confirm: text.bulk.confirmCancel,
      cancel: text.runs.keepRunning,
      danger: true,
    });
    if (sure) {
      await report(await actOn(executions, { action: "cancel" }), text.bulk.cancelled);
    }
    return sure;
  });
}
