import { html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { request, requestExactly, Problem, toJson, type FieldMistake } from "../../core/api";
import { asProblem } from "../../core/load";
import { RawJson, type Schedule } from "../../core/types";
import { instantOf, knownZone, wallTime } from "../../core/zones";
import { common } from "../../text/common";
import { text } from "../../text/parts/schedules";
import "../agents/agent-choice";
import "./cron-editor";
import { open, toast } from "../page/dialogs";
import { choiceField, mistakesOf, textField } from "../forms/fields";
import { jsonField, jsonMistakes } from "../forms/json-field";
import { problemNotice } from "../page/notices";
import { Part } from "../page/part";

/** What the form holds: texts as they are typed. */
interface Draft {
  agent_id: string;
  name: string;
  cron: string;
  time_zone: string;
  payload: string;
  missed_runs: string;
  missed_runs_limit: string;
  overlap: string;
  jitter: string;
  starts_at: string;
  ends_at: string;
}

const MISSED: Schedule["missed_runs"][] = ["run_once", "skip", "run_all"];

const OVERLAP: Schedule["overlap"][] = ["allow", "skip", "queue"];

const POINTERS = ["agent_id", "name", "cron", "time_zone", "payload", "missed_runs", "missed_runs_limit"];
const TIMES = ["starts_at", "ends_at"] as const;
const OTHER_POINTERS = ["overlap", "jitter", ...TIMES];

const isTime = (name: string): boolean => TIMES.some((time) => time === name);

/** Creates or changes a schedule in a dialog; returns whether it was saved. */
export async function editSchedule(given: { id: string } | { agentId: string }): Promise<boolean> {
  try {
    const schedule =
      "id" in given ? (await requestExactly<Schedule>("GET", `/schedules/${given.id}`)).value : null;
    const agentId = "agentId" in given ? given.agentId : "";
    return await open<boolean>(
      (close) =>
        html`<schedule-form .schedule=${schedule} .agentId=${agentId} .close=${close}></schedule-form>`,
      () => false,
      { wide: true, form: true },
    );
  } catch (e) {
    toast(asProblem(e).message, { failed: true });
    return false;
  }
}

@customElement("schedule-form")
export class ScheduleForm extends Part {
  @property({ attribute: false }) schedule: Schedule | null = null;
  /** Whose schedule a new one is; "": the form asks. */
  @property() agentId = "";
  close: (saved: boolean) => void = () => undefined;
  @state() private draft!: Draft;
  @state() private problem: Problem | null = null;
  @state() private busy = false;
  private original!: Draft;

  override willUpdate(): void {
    if (!this.draft) {
      this.original = draftOf(this.schedule, this.agentId);
      this.draft = { ...this.original };
    }
  }

  override render() {
    const { draft, schedule } = this;
    return html`<form class="body" @submit=${this.submit}>
      <h2 id="dialog-title">${schedule ? text.form.edit(schedule.name) : text.form.create}</h2>
      ${this.elsewhere()}
      ${schedule || this.agentId
        ? nothing
        : html`<agent-choice
            required
            .agentId=${draft.agent_id}
            .mistakes=${this.mistakes("agent_id")}
            @change=${(event: Event) =>
              this.take({ agent_id: (event.currentTarget as HTMLElement & { agentId: string }).agentId })}
          ></agent-choice>`}
      <cron-editor
        .cron=${draft.cron}
        .timeZone=${draft.time_zone}
        .problem=${this.problem}
        @change=${(event: Event) => {
          const { cron, timeZone } = event.currentTarget as HTMLElement & { cron: string; timeZone: string };
          this.take({ cron, time_zone: timeZone });
        }}
      ></cron-editor>
      ${jsonField({
        id: "payload",
        label: text.form.payload,
        hint: text.form.payloadHint,
        value: draft.payload,
        change: (payload) => this.take({ payload }),
        mistakes: this.mistakes("payload"),
      })}
      <details ?open=${this.hasOptions()}>
        <summary>${text.form.options}</summary>
        ${this.options()}
      </details>
      <div class="actions">
        <button type="button" @click=${() => this.close(false)}>${common.cancel}</button>
        <button class="primary" ?disabled=${this.busy}>
          ${this.busy ? text.form.saving : schedule ? common.save : text.form.confirmCreate}
        </button>
      </div>
    </form>`;
  }

  private options() {
    const { draft } = this;
    return html`<div class="fields options">
      ${textField({
        id: "schedule-name",
        label: common.name,
        hint: text.form.nameHint,
        value: draft.name,
        change: (name) => this.take({ name }),
        mistakes: this.mistakes("name"),
      })}
      ${choiceField({
        id: "overlap",
        label: text.form.overlap,
        value: draft.overlap,
        choices: OVERLAP.map((value) => [value, text.form.overlaps[value]]),
        change: (overlap) => this.take({ overlap }),
        mistakes: this.mistakes("overlap"),
      })}
      ${choiceField({
        id: "missed-runs",
        label: text.form.missedRuns,
        value: draft.missed_runs,
        choices: MISSED.map((value) => [value, text.form.missed[value]]),
        change: (missed_runs) => this.take({ missed_runs }),
        mistakes: this.mistakes("missed_runs"),
      })}
      ${draft.missed_runs === "run_all"
        ? textField({
            id: "missed-runs-limit",
            label: text.form.missedRunsLimit,
            type: "number",
            min: 1,
            value: draft.missed_runs_limit,
            change: (missed_runs_limit) => this.take({ missed_runs_limit }),
            mistakes: this.mistakes("missed_runs_limit"),
          })
        : nothing}
      ${textField({
        id: "jitter",
        label: text.form.jitter,
        hint: text.form.jitterHint,
        type: "number",
        min: 0,
        step: "any",
        value: draft.jitter,
        change: (jitter) => this.take({ jitter }),
        mistakes: this.mistakes("jitter"),
      })}
      ${TIMES.map((name) =>
        textField({
          id: name.replace("_", "-"),
          label: name === "starts_at" ? text.form.notBefore : text.form.notAfter,
          hint: text.form.timeHint(knownZone(draft.time_zone)),
          mono: true,
          placeholder: "2027-01-31 09:00",
          value: draft[name],
          change: (value) => this.take({ [name]: value }),
          mistakes: this.mistakes(name),
        }),
      )}
    </div>`;
  }

  /** A mistake in a folded field must be visible. */
  private hasOptions(): boolean {
    return ["name", "missed_runs", "missed_runs_limit", ...OTHER_POINTERS].some(
      (name) => this.mistakes(name).length > 0,
    );
  }

  private mistakes(name: string): FieldMistake[] {
    return mistakesOf(this.problem, `/${name}`);
  }

  /** What is no mistake of a field that is shown. */
  private elsewhere(): unknown {
    const shown = [...POINTERS, ...OTHER_POINTERS].some((name) => this.mistakes(name).length);
    return shown ? nothing : problemNotice(this.problem);
  }

  private take(changes: Partial<Draft>): void {
    this.draft = { ...this.draft, ...changes };
  }

  private async submit(event: Event): Promise<void> {
    event.preventDefault();
    const mistakes = this.mistaken();
    if (mistakes.length) {
      this.problem = new Problem(422, "validation_failed", text.form.notValid, "", mistakes);
      return;
    }
    this.busy = true;
    try {
      const { schedule } = this;
      await request(schedule ? "PATCH" : "POST", schedule ? `/schedules/${schedule.id}` : "/schedules", {
        body: this.changes(),
      });
      toast(schedule ? text.form.saved : text.form.created);
      this.close(true);
    } catch (e) {
      this.problem = asProblem(e);
    } finally {
      this.busy = false;
    }
  }

  /** Only changed fields, so that other changes of another tab are kept. */
  private changes(): Record<string, unknown> {
    const { draft, schedule } = this;
    const body: Record<string, unknown> = {};
    for (const name of Object.keys(draft) as (keyof Draft)[]) {
      if (this.isChanged(name) || (!schedule && name in REQUIRED)) {
        body[name] = isTime(name)
          ? instantOf(draft[name], knownZone(draft.time_zone))
          : (READ[name]?.(draft[name]) ?? (draft[name] || null));
      }
    }
    return body;
  }

  /** In another zone the same time is another instant. */
  private isChanged(name: keyof Draft): boolean {
    const { draft, original } = this;
    return (
      draft[name] !== original[name] ||
      (isTime(name) && draft[name] !== "" && draft.time_zone !== original.time_zone)
    );
  }

  /** What the form refuses before anything is sent. */
  private mistaken(): FieldMistake[] {
    const { draft } = this;
    const times = TIMES.filter((name) => draft[name].trim() && !instantOf(draft[name], "UTC"));
    return [
      ...(draft.payload.trim() ? jsonMistakes("/payload", draft.payload) : []),
      ...times.map((name) => ({
        pointer: `/${name}`,
        code: "invalid_time",
        detail: text.form.noTime,
      })),
    ];
  }
}

const REQUIRED = { agent_id: true, cron: true, time_zone: true };

/** How a typed text is sent; the others as they are, null when empty. */
const READ: Partial<Record<keyof Draft, (text: string) => unknown>> = {
  cron: (text) => text,
  time_zone: (text) => text,
  payload: (text) => (text.trim() ? new RawJson(text) : null),
  missed_runs_limit: Number,
  jitter: Number,
};

function draftOf(schedule: Schedule | null, agentId: string): Draft {
  const shown = (time: string | null | undefined) =>
    time ? wallTime(time, knownZone(schedule!.time_zone)) : "";
  return {
    agent_id: schedule?.agent_id ?? agentId,
    name: schedule?.name ?? "",
    cron: schedule?.cron ?? "",
    time_zone: schedule?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
    payload: schedule && schedule.payload !== null ? toJson(schedule.payload, 2) : "",
    missed_runs: schedule?.missed_runs ?? "run_once",
    missed_runs_limit: String(schedule?.missed_runs_limit ?? 100),
    overlap: schedule?.overlap ?? "allow",
    jitter: String(schedule?.jitter ?? 0),
    starts_at: shown(schedule?.starts_at),
    ends_at: shown(schedule?.ends_at),
  };
}
