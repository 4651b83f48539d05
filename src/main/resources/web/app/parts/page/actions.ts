import { html } from "lit";
import { once, post } from "../../core/api";
import { asProblem } from "../../core/load";
import type { ActionResult, ActionResults } from "../../core/types";
import { common } from "../../text/common";
import { open, toast } from "./dialogs";

/** Actions on many: a preview, one request for up to 200, and what has become of each. */

/** The most that one request takes. */
const MOST = 200;

export async function act(
  path: string,
  name: "agent_ids" | "executor_job_ids",
  ids: readonly string[],
  body: Record<string, unknown>,
): Promise<ActionResults> {
  const whole: ActionResults = { results: [], changed: 0, failed: 0 };
  for (let i = 0; i < ids.length; i += MOST) {
    const part = await post<ActionResults>(path, { ...body, [name]: ids.slice(i, i + MOST) }, once());
    whole.results.push(...part.results);
    whole.changed += part.changed;
    whole.failed += part.failed;
  }
  return whole;
}

/** What is said of an action when it has ended. */
export interface ActionWords {
  done: (changed: number) => string;
  notDone: (failed: number, all: number) => string;
}

/** Says what has happened; failures are listed with their names until the dialog is closed. */
export async function report(
  { results, changed, failed }: ActionResults,
  words: ActionWords,
  undo?: () => Promise<unknown>,
): Promise<void> {
  if (changed || !failed) {
    toast(words.done(changed), undo && changed ? { undo } : {});
  }
  if (failed) {
    const wrong = results.filter(({ error }) => error);
    await open<void>(
      (close) =>
        html`<div class="body">
          <h2 id="dialog-title">${words.notDone(failed, results.length)}</h2>
          <ul class="preview">
            ${wrong.map(
              ({ id, name, error }) => html`<li><strong>${name ?? id}</strong> ${error!.detail}</li>`,
            )}
          </ul>
          <div class="actions"><button class="primary" @click=${() => close()}>${common.close}</button></div>
        </div>`,
      () => undefined,
    );
  }
}

/** Does something and shows its problem, if any; whether it was done. */
export async function tried(doing: () => Promise<unknown>): Promise<boolean> {
  try {
    return (await doing()) !== false;
  } catch (e) {
    toast(asProblem(e).message, { failed: true });
    return false;
  }
}

/** A list of names with what would happen to each. */
export const preview = (results: readonly ActionResult[], note: (result: ActionResult) => unknown): unknown =>
  html`<ul class="preview">
    ${results.map(
      (result) =>
        html`<li>
          ${result.name ?? result.id} <span class="faint">${result.error?.detail ?? note(result)}</span>
        </li>`,
    )}
  </ul>`;
