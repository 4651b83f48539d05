import { html } from "lit";
import { all, get, remove } from "../../core/api";
import { plural } from "../../core/format";
import { asProblem } from "../../core/load";
import type { Agent, Schedule } from "../../core/types";
import { confirmAction, toast } from "../page/dialogs";

const list = new Intl.ListFormat("en");

/** Deletes an agent after a confirmation that lists what is deleted and kept; returns whether it was. */
export async function deleteAgent(id: string): Promise<boolean> {
  try {
    const [agent, schedules] = await Promise.all([
      get<Agent>(`/agents/${id}`, { include: "activity" }),
      all<Schedule>("/schedules", { agent_id: id }),
    ]);
    const sure = await confirmAction({
      title: `Delete agent ${agent.name}?`,
      body: html`<p>${whatEnds(agent, schedules.length)}</p>
        <p>${whatStays(agent)}</p>`,
      confirm: "Delete agent",
      danger: true,
    });
    if (sure) {
      await remove(`/agents/${id}`);
      toast(`Agent ${agent.name} deleted.`);
    }
    return sure;
  } catch (e) {
    toast(asProblem(e).message, { failed: true });
    return false;
  }
}

function whatEnds({ activity }: Agent, schedules: number): string {
  const cancelled = [
    activity?.running ? plural(activity.running, "running execution") : "",
    activity?.queued ? plural(activity.queued, "queued run") : "",
  ].filter(Boolean);
  const sentences = [
    cancelled.length ? `Cancels ${list.format(cancelled)}.` : "",
    schedules ? `Deletes ${plural(schedules, "schedule")}.` : "",
  ].filter(Boolean);
  return sentences.join(" ") || "It has no running or queued executions, and no schedules.";
}

const whatStays = ({ store_ids }: Agent): string =>
  store_ids.length
    ? `Keeps ${plural(store_ids.length, "DataStore")} with all entries, and the execution history.`
    : "Keeps the execution history.";
