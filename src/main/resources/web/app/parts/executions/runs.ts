import { requestExactly, once, post, Problem, toJson } from "../../core/api";
import { asProblem } from "../../core/load";
import { router } from "../../core/router";
import { RawJson, type ExecutorJob, type Json } from "../../core/types";
import { text } from "../../text/parts/executions";
import { mistakesOf } from "../forms/fields";
import { jsonField, jsonMistakes } from "../forms/json-field";
import { openForm } from "../forms/small-form";
import { confirmAction, toast } from "../page/dialogs";
import { inputsOf } from "./payloads";

/** Actions on jobs, for more than one page. */

/** Submits a job with the same payload and files, and opens its page. */
export async function runAgain(job: ExecutorJob): Promise<void> {
  try {
    await opened(await submitted(job, job.payload));
  } catch (e) {
    toast(asProblem(e).message, { failed: true });
  }
}

/** Submits a job with the same files and a payload that a person changes first, and opens its page. */
export async function runEdited(job: ExecutorJob): Promise<void> {
  const again = await openForm({
    title: text.runs.runEdited,
    draft: { payload: job.payload === null ? "" : toJson(job.payload, 2) },
    fields: ({ payload }, take, problem) =>
      jsonField({
        id: "payload",
        label: text.payloads.title,
        hint: text.payloads.hint,
        value: payload,
        change: (changed) => take({ payload: changed }),
        mistakes: mistakesOf(problem, "/payload"),
      }),
    pointers: ["/payload"],
    confirm: text.runs.run,
    wide: true,
    save: ({ payload }) => {
      const mistakes = payload.trim() ? jsonMistakes("/payload", payload) : [];
      if (mistakes.length) {
        throw new Problem(422, "malformed_json", text.runs.notJson, "", mistakes);
      }
      return submitted(job, payload.trim() ? new RawJson(payload) : null);
    },
  });
  if (again) {
    await opened(again);
  }
}

const submitted = async (
  { id, agent_id }: Pick<ExecutorJob, "id" | "agent_id">,
  payload: Json | RawJson,
): Promise<ExecutorJob> => {
  const files = Object.fromEntries((await inputsOf(id)).map(({ name, file }) => [name, file.id]));
  const options = { body: { payload, ...(Object.keys(files).length ? { files } : {}) }, headers: once() };
  return (await requestExactly<ExecutorJob>("POST", `/agents/${agent_id}/execute`, options)).value;
};

const opened = (job: ExecutorJob): Promise<void> => router.go(`/executor-jobs/${job.id}`);

/** Cancels a job, after a confirmation if a script is running. */
export async function cancelRun(job: Pick<ExecutorJob, "id" | "state">): Promise<void> {
  const sure =
    job.state !== "running" ||
    (await confirmAction({
      title: text.runs.cancelExecution,
      body: text.runs.receives,
      confirm: text.runs.confirmCancel,
      cancel: text.runs.keepRunning,
      danger: true,
    }));
  if (sure) {
    await post(`/executor-jobs/${job.id}/cancel`).catch((e: unknown) =>
      toast(asProblem(e).message, { failed: true }),
    );
  }
}
