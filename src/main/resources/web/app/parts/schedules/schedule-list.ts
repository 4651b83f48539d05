import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { once, patch, post, remove } from "../../core/api";
import { at } from "../../core/format";
import { asProblem, PagedLoad, type Concerns } from "../../core/load";
import { signedIn } from "../../core/session";
import type { ExecutorJob, Schedule } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/schedules";
import "../agents/agent-link";
import { stateBadge, timeAgo } from "../page/basics";
import { inZone } from "./cron-editor";
import { confirmAction, toast } from "../page/dialogs";
import { emptyState } from "../page/notices";
import { Part } from "../page/part";
import { editSchedule } from "./schedule-form";
import { pagedTable, type Column } from "../page/tables";

const ofSchedules: Concerns = ({ type, data }) =>
  type.startsWith("schedule.") || (type.startsWith("executor_job.") && data.schedule_id !== null);

/** The schedules of one agent, or all of them, with what can be done with each. */
@customElement("schedule-list")
export class ScheduleList extends Part {
  /** "": of all agents. */
  @property() agentId = "";
  /** "": in any state. */
  @property() stateFilter = "";
  private readonly load = new PagedLoad<Schedule>(
    this,
    () => "/schedules",
    () => ({ agent_id: this.agentId, state: this.stateFilter }),
    ofSchedules,
  );

  override updated(changed: Map<string, unknown>): void {
    if ((changed.get("agentId") ?? changed.get("stateFilter")) !== undefined) {
      void this.load.again(true);
    }
  }

  override render() {
    return html`<div class="panel">
      ${this.agentId
        ? html`<header>
            <h2>${text.list.title}</h2>
            ${signedIn.may("write")
              ? html`<button @click=${() => editSchedule({ agentId: this.agentId })}>
                  ${text.list.create}
                </button>`
              : nothing}
          </header>`
        : nothing}
      ${pagedTable(text.list.title, this.columns(), this.load, () => this.empty())}
    </div>`;
  }

  private columns(): Column<Schedule>[] {
    return [
      {
        title: text.list.schedule,
        cell: (schedule) =>
          html`<div class="two-lines">
            <strong>${schedule.name}</strong>
            ${this.agentId ? nothing : html`<agent-link .agentId=${schedule.agent_id}></agent-link>`}
          </div>`,
      },
      {
        title: text.list.when,
        cell: (schedule) =>
          html`<div class="two-lines">
            <span>${schedule.description}</span>
            <span class="faint"><code>${schedule.cron}</code> · ${schedule.time_zone}</span>
          </div>`,
      },
      { title: text.list.nextRun, cell: nextRun },
      { title: text.list.lastRun, cell: lastRun },
      { title: common.state, cell: (schedule) => stateBadge(schedule.state) },
      { title: "", cell: actions },
    ];
  }

  private empty(): TemplateResult {
    if (this.stateFilter) {
      return emptyState(text.list.noneIn(this.stateFilter), text.list.othersNotShown);
    }
    return emptyState(
      text.list.none,
      text.list.about,
      signedIn.may("write") && !this.agentId
        ? html`<button class="primary" @click=${() => editSchedule({ agentId: "" })}>
            ${text.list.create}
          </button>`
        : nothing,
    );
  }
}

function nextRun({ next_run_at, time_zone }: Schedule): unknown {
  return next_run_at
    ? html`<span title=${inZone(next_run_at, time_zone)}>${timeAgo(next_run_at)}</span>`
    : html`<span class="faint">–</span>`;
}

function lastRun({ last_run }: Schedule): unknown {
  return last_run
    ? html`<a
          href="/executor-jobs/${last_run.executor_job_id}"
          title=${text.list.scheduledFor(at(last_run.scheduled_time))}
          >${last_run.state ? stateBadge(last_run.state) : text.list.notKept}</a
        >
        <span class="faint">${timeAgo(last_run.scheduled_time)}</span>`
    : html`<span class="faint">${text.list.never}</span>`;
}

function actions(schedule: Schedule): unknown {
  const { name } = schedule;
  const button = (title: unknown, act: () => unknown) =>
    html`<button class="quiet" @click=${act}>${title}</button>`;
  return html`<span class="row-actions">
    ${signedIn.may("execute") ? button(text.list.runNow(name), () => trigger(schedule)) : nothing}
    ${signedIn.may("write")
      ? html`${schedule.state === "active"
          ? button(text.list.pause(name), () => turn(schedule, "paused"))
          : button(text.list.resume(name), () => turn(schedule, "active"))}
        ${button(text.list.edit(name), () => editSchedule({ id: schedule.id }))}
        ${button(text.list.delete(name), () => deleteSchedule(schedule))}`
      : nothing}
  </span>`;
}

const trigger = (schedule: Schedule): Promise<void> =>
  telling(async () => {
    const job = await post<ExecutorJob>(`/schedules/${schedule.id}/trigger`, undefined, once());
    toast(text.list.queued(schedule.name), { link: [text.list.viewRun, `/executor-jobs/${job.id}`] });
  });

const turn = (schedule: Schedule, state: Schedule["state"]): Promise<void> =>
  telling(async () => {
    await patch(`/schedules/${schedule.id}`, { state });
    toast(state === "paused" ? text.list.paused(schedule.name) : text.list.resumed(schedule.name));
  });

const deleteSchedule = (schedule: Schedule): Promise<void> =>
  telling(async () => {
    const sure = await confirmAction({
      title: text.deletion.title(schedule.name),
      body: text.deletion.body,
      confirm: text.deletion.confirm,
      danger: true,
    });
    if (sure) {
      await remove(`/schedules/${schedule.id}`);
      toast(text.deletion.done(schedule.name));
    }
  });

/** Runs an action and reports its failure. */
async function telling(act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (e) {
    toast(asProblem(e).message, { failed: true });
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "schedule-list": ScheduleList;
  }
}
