import { html } from "lit";
import { all, get, remove } from "../core/api";
import { plural } from "../core/format";
import { asProblem } from "../core/load";
import type { Agent, Schedule } from "../core/types";
import { ask, toast } from "./dialogs";

const list = new Intl.ListFormat("en");

/** Deletes an agent after a question that says in numbers what ends and what stays; tells whether it is gone. */
export async function deleteAgent(id: string): Promise<boolean> {
  try {
    const [agent, schedules] = await Promise.all([
      get<Agent>(`/agents/${id}`, { include: "activity" }),
      all<Schedule>("/schedules", { agent_id: id }),
    ]);
    const sure = await ask({
      title: `Delete the agent ${agent.name}?`,
      body: html`<p>${whatEnds(agent, schedules.length)}</p>
        <p>${whatStays(agent)}</p>`,
      confirm: "Delete the agent",
      danger: true,
    });
    if (sure) {
      await remove(`/agents/${id}`);
      toast(`The agent ${agent.name} is deleted.`);
    }
    return sure;
  } catch (e) {
    toast(asProblem(e).message, { failed: true });
    return false;
  }
}

function whatEnds({ activity }: Agent, schedules: number): string {
  const ended = [
    activity?.running ? plural(activity.running, "running execution") : "",
    activity?.queued ? plural(activity.queued, "order that waits", "orders that wait") : "",
    schedules ? plural(schedules, "schedule") : "",
  ].filter(Boolean);
  return ended.length
    ? `Ends ${list.format(ended)}.`
    : "Nothing of it runs or waits, and it has no schedules.";
}

const whatStays = ({ store_ids }: Agent): string =>
  store_ids.length
    ? `Keeps ${plural(store_ids.length, "DataStore")} with all entries, and the history of its executions.`
    : "Keeps the history of its executions.";
