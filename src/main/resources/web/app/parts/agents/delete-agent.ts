import { html } from "lit";
import { all, get, remove } from "../../core/api";
import { asProblem } from "../../core/load";
import type { Agent, Schedule } from "../../core/types";
import { text } from "../../text/parts/agents";
import { confirmAction, toast } from "../page/dialogs";

/** Deletes an agent after a confirmation that lists what is deleted and kept; returns whether it was. */
export async function deleteAgent(id: string): Promise<boolean> {
  try {
    const [agent, schedules] = await Promise.all([
      get<Agent>(`/agents/${id}`, { include: "activity" }),
      all<Schedule>("/schedules", { agent_id: id }),
    ]);
    const sure = await confirmAction({
      title: text.deletion.title(agent.name),
      body: html`<p>${whatEnds(agent, schedules.length)}</p>
        <p>${whatStays(agent)}</p>`,
      confirm: text.deletion.confirm,
      danger: true,
    });
    if (sure) {
      await remove(`/agents/${id}`);
      toast(text.deletion.deleted(agent.name));
    }
    return sure;
  } catch (e) {
    toast(asProblem(e).message, { failed: true });
    return false;
  }
}

function whatEnds({ activity }: Agent, schedules: number): string {
  const { running, queued } = activity ?? { running: 0, queued: 0 };
  const sentences = [
    running || queued ? text.deletion.cancels(running, queued) : "",
    schedules ? text.deletion.deletes(schedules) : "",
  ].filter(Boolean);
  return sentences.join(" ") || text.deletion.endsNothing;
}

const whatStays = ({ store_ids }: Agent): string =>
  store_ids.length ? text.deletion.keepsStores(store_ids.length) : text.deletion.keepsHistory;
