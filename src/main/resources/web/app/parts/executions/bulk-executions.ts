import { html } from "lit";
import { get, once, post, requestExactly, toJson } from "../../core/api";
import { count, plural, shortId } from "../../core/format";
import { signedIn } from "../../core/session";
import type { Agent, Execution, ExecutorJob } from "../../core/types";
import { confirmAction, toast } from "../page/dialogs";
import { each } from "../page/each";
import type { BulkAction } from "../page/selection";
import { payloadText, submitPayload } from "./payloads";

/** What can be done with several executions; each asks first and shows what it will do. */
export const executionActions = (): BulkAction<Execution>[] =>
  signedIn.may("execute")
    ? [
        { title: "Run again", applies: ({ state }) => state !== "running", run: runAgain },
        { title: "Cancel", applies: ({ state }) => state === "running", run: cancel },
      ]
    : [];

/** Submits the jobs of executions again, with their payloads and the agents' current revisions. */
async function runAgain(executions: Execution[]): Promise<boolean> {
  const names = await agentNames(executions);
  const sure = await confirmAction({
    title: `Run ${plural(executions.length, "job")} again?`,
    body: html`<p>Each runs with its payload and the current revision of its agent.</p>
      <ul class="preview">
        ${executions.map(
          ({ agent_id, submission }) =>
            html`<li>
              ${names.get(agent_id) ?? shortId(agent_id)}
              <span class="faint">${payloadText(submission?.payload_preview ?? "")}</span>
            </li>`,
        )}
      </ul>`,
    confirm: `Run ${count(executions.length)} again`,
  });
  if (sure) {
    const failed = await each(executions, async ({ executor_job_id, agent_id }) => {
      const job = await requestExactly<ExecutorJob>("GET", `/executor-jobs/${executor_job_id}`);
      await submitPayload(agent_id, toJson(job.value.payload));
    });
    report(executions.length, "queued", failed);
  }
  return sure;
}

async function cancel(executions: Execution[]): Promise<boolean> {
  const names = await agentNames(executions);
  const sure = await confirmAction({
    title: `Cancel ${plural(executions.length, "running execution")}?`,
    body: html`<p>Each script receives SIGTERM, and SIGKILL ten seconds later. The runs are not retried.</p>
      <ul class="preview">
        ${executions.map(({ agent_id }) => html`<li>${names.get(agent_id) ?? shortId(agent_id)}</li>`)}
      </ul>`,
    confirm: "Cancel executions",
    cancel: "Keep running",
    danger: true,
  });
  if (sure) {
    const failed = await each(executions, ({ executor_job_id }) =>
      post(`/executor-jobs/${executor_job_id}/cancel`, undefined, once()),
    );
    report(executions.length, "cancelled", failed);
  }
  return sure;
}

function report(all: number, done: string, failed: readonly string[]): void {
  const text = failed.length
    ? `${count(failed.length)} of ${plural(all, "run")} not ${done}: ${failed[0]}`
    : `${plural(all, "run")} ${done}.`;
  toast(text, { failed: failed.length > 0 });
}

async function agentNames(executions: readonly Execution[]): Promise<Map<string, string>> {
  const ids = [...new Set(executions.map(({ agent_id }) => agent_id))];
  const names = new Map<string, string>();
  await each(ids, async (id) => names.set(id, (await get<Agent>(`/agents/${id}`)).name));
  return names;
}
