import { html } from "lit";
import { count, plural } from "../../core/format";
import { signedIn } from "../../core/session";
import type { Agent } from "../../core/types";
import { keptPayload, lastPayload, payloadText, submitPayload } from "../executions/payloads";
import { confirmAction, toast } from "../page/dialogs";
import { each } from "../page/each";
import type { BulkAction } from "../page/selection";

/** What can be done with several agents; each asks first and shows what it will do. */
export const agentActions = (): BulkAction<Agent>[] =>
  signedIn.may("execute") ? [{ title: "Run", applies: mayRun, run: runAll }] : [];

/** One whose requirements could never be installed has nothing that would run. */
const mayRun = ({ running_revision, activity }: Agent): boolean =>
  running_revision !== null || activity?.builder_job?.state !== "failed";

async function runAll(agents: Agent[]): Promise<boolean> {
  const payloads = await Promise.all(
    agents.map(({ id }) => lastPayload(id, Infinity).catch(() => keptPayload(id) ?? "")),
  );
  const sure = await confirmAction({
    title: `Run ${plural(agents.length, "agent")}?`,
    body: html`<ul class="preview">
      ${agents.map(
        ({ name }, i) => html`<li>${name} <span class="faint">${payloadText(payloads[i]!)}</span></li>`,
      )}
    </ul>`,
    confirm: `Run ${count(agents.length)}`,
  });
  if (sure) {
    const failed = await each(agents, (agent, i) => submitPayload(agent.id, payloads[i]!));
    toast(
      failed.length
        ? `${count(failed.length)} of ${plural(agents.length, "run")} not queued: ${failed[0]}`
        : `${plural(agents.length, "run")} queued.`,
      { failed: failed.length > 0, ...(failed.length ? {} : { link: ["View executions", "/executions"] }) },
    );
  }
  return sure;
}
