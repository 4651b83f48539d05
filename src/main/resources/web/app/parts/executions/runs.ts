import { html } from "lit";
import { requestExactly, once, post } from "../../core/api";
import { asProblem } from "../../core/load";
import { router } from "../../core/router";
import type { ExecutorJob } from "../../core/types";
import { confirmAction, toast } from "../page/dialogs";

/** Actions on jobs, for more than one page. */

/** Submits a job with the same payload, and opens its page. */
export async function runAgain(job: ExecutorJob): Promise<void> {
  try {
    const { value } = await requestExactly<ExecutorJob>("POST", `/agents/${job.agent_id}/execute`, {
      body: { payload: job.payload },
      headers: once(),
    });
    await router.go(`/executor-jobs/${value.id}`);
  } catch (e) {
    toast(asProblem(e).message, { failed: true });
  }
}

/** Cancels a job, after a confirmation if a script is running. */
export async function cancelRun(job: Pick<ExecutorJob, "id" | "state">): Promise<void> {
  const sure =
    job.state === "queued" ||
    (await confirmAction({
      title: "Cancel this execution?",
      body: html`The script receives SIGTERM, and SIGKILL ten seconds later. The run is not retried.`,
      confirm: "Cancel execution",
      cancel: "Keep running",
      danger: true,
    }));
  if (sure) {
    await post(`/executor-jobs/${job.id}/cancel`).catch((e: unknown) =>
      toast(asProblem(e).message, { failed: true }),
    );
  }
}
