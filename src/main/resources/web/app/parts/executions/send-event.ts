import { once, Problem, request, toJson } from "../../core/api";
import type { JobEvent, Step } from "../../core/types";
import { text as texts } from "../../text/parts/executions";
import { jsonField, jsonMistakes } from "../forms/json-field";
import { mistakesOf } from "../forms/fields";
import { openForm } from "../forms/small-form";
import { toast } from "../page/dialogs";

const text = texts.events;

/** Asks for the data of the event that a script waits for, and sends it to the job; false if it is cancelled. */
export async function sendEvent(jobId: string, { event_name: name }: Step): Promise<boolean> {
  const key = once();
  const sent = await openForm({
    title: text.title(name ?? ""),
    draft: { data: "null" },
    pointers: ["/data"],
    confirm: text.send,
    wide: true,
    fields: ({ data }, take, problem) =>
      jsonField({
        id: "event-data",
        label: text.data,
        hint: text.dataHint,
        value: data,
        change: (value) => take({ data: value }),
        mistakes: mistakesOf(problem, "/data"),
      }),
    save: ({ data }) => {
      const mistakes = jsonMistakes("/data", data);
      if (mistakes.length) {
        throw new Problem(422, "validation_failed", text.notJson, "", mistakes);
      }
      // As text, since numbers may have more digits than JavaScript keeps.
      const body = `{"name":${toJson(name)},"data":${data}}`;
      return request<JobEvent>("POST", `/executor-jobs/${jobId}/events`, { text: body, headers: key });
    },
  });
  if (sent) {
    toast(sent.received_at ? text.received : text.stored);
  }
  return sent !== null;
}
