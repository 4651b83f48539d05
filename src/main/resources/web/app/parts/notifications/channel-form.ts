import { html, nothing, type TemplateResult } from "lit";
import { patch, post, type Problem } from "../../core/api";
import type { NotificationChannel, QuietTime } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/notifications";
import { choiceField, field, mistakeList, mistakesOf, textField } from "../forms/fields";
import { openForm } from "../forms/small-form";

interface Draft {
  name: string;
  kind: NotificationChannel["kind"];
  /** One address per line. */
  recipients: string;
  url: string;
  agents: string;
  event_types: string[];
  minutes: string;
  time_zone: string;
  quiet_times: QuietTime[];
}

const TYPES: (keyof typeof text.eventTypes)[] = [
  "issue.opened",
  "issue.regressed",
  "issue.reopened",
  "issue.growing",
  "builder_job.failed",
];

const DAYS: QuietTime["days"] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

const POINTERS = [
  "/name",
  "/kind",
  "/recipients",
  "/url",
  "/agents",
  "/event_types",
  "/min_interval_seconds",
  "/time_zone",
  "/quiet_times",
];

const zone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

/** Creates a channel; null if it is cancelled. */
export const createChannel = (): Promise<NotificationChannel | null> =>
  openForm({
    title: text.create,
    draft: {
      name: "",
      kind: "slack",
      recipients: "",
      url: "",
      agents: "",
      event_types: TYPES,
      minutes: "5",
      time_zone: zone(),
      quiet_times: [],
    } as Draft,
    pointers: POINTERS,
    confirm: text.confirmCreate,
    wide: true,
    fields: (draft, take, problem) => fields(draft, take, problem, true),
    save: (draft) =>
      post<NotificationChannel>("/notification-channels", { kind: draft.kind, ...bodyOf(draft) }),
  });

export const changeChannel = (channel: NotificationChannel): Promise<NotificationChannel | null> =>
  openForm({
    title: text.edit,
    draft: {
      name: channel.name,
      kind: channel.kind,
      recipients: channel.recipients.join("\n"),
      url: "",
      agents: channel.agents.join("\n"),
      event_types: channel.event_types,
      minutes: String(channel.min_interval_seconds / 60),
      time_zone: channel.time_zone,
      quiet_times: channel.quiet_times,
    } as Draft,
    pointers: POINTERS,
    confirm: common.save,
    wide: true,
    fields: (draft, take, problem) => fields(draft, take, problem, false),
    save: (draft) => patch<NotificationChannel>(`/notification-channels/${channel.id}`, bodyOf(draft)),
  });

const listed = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

const bodyOf = (draft: Draft) => ({
  name: draft.name,
  ...(draft.kind === "email" ? { recipients: listed(draft.recipients) } : {}),
  ...(draft.kind === "slack" && draft.url ? { url: draft.url } : {}),
  agents: listed(draft.agents),
  event_types: draft.event_types,
  min_interval_seconds: Math.round(Number(draft.minutes) * 60),
  time_zone: draft.time_zone,
  quiet_times: draft.quiet_times,
});

type Take = (changes: Partial<Draft>) => void;

function fields(draft: Draft, take: Take, problem: Problem | null, isNew: boolean): TemplateResult {
  return html`${textField({
    id: "channel-name",
    label: common.name,
    value: draft.name,
    required: true,
    placeholder: text.namePlaceholder,
    change: (name) => take({ name }),
    mistakes: mistakesOf(problem, "/name"),
  })}
  ${isNew
    ? choiceField({
        id: "channel-kind",
        label: text.sendBy,
        value: draft.kind,
        choices: [
          ["slack", text.slack],
          ["email", text.email],
        ],
        change: (kind) => take({ kind: kind as Draft["kind"] }),
        mistakes: mistakesOf(problem, "/kind"),
      })
    : nothing}
  ${draft.kind === "slack"
    ? textField({
        id: "channel-url",
        label: text.url,
        hint: isNew ? text.urlHint : text.keepUrl,
        value: draft.url,
        required: isNew,
        mono: true,
        placeholder: "https://hooks.slack.com/services/…",
        change: (url) => take({ url }),
        mistakes: mistakesOf(problem, "/url"),
      })
    : lines("channel-recipients", text.recipients, text.recipientsHint, draft.recipients, true, {
        change: (recipients) => take({ recipients }),
        mistakes: mistakesOf(problem, "/recipients"),
      })}
  ${checks(draft, take, problem)}
  ${lines("channel-agents", text.agents, text.agentsHint, draft.agents, false, {
    change: (agents) => take({ agents }),
    mistakes: mistakesOf(problem, "/agents"),
  })}
  ${textField({
    id: "channel-minutes",
    label: text.minutes,
    hint: text.minutesHint,
    type: "number",
    min: 0,
    step: "any",
    value: draft.minutes,
    required: true,
    change: (minutes) => take({ minutes }),
    mistakes: mistakesOf(problem, "/min_interval_seconds"),
  })}
  ${quiet(draft, take, problem)}`;
}

function lines(
  id: string,
  label: string,
  hint: unknown,
  value: string,
  required: boolean,
  { change, mistakes }: { change: (value: string) => void; mistakes: ReturnType<typeof mistakesOf> },
): TemplateResult {
  return field(
    { id, label, hint, mistakes },
    html`<textarea
      id=${id}
      class="mono"
      rows="2"
      spellcheck="false"
      ?required=${required}
      aria-describedby="${id}-hint ${id}-mistakes"
      .value=${value}
      @input=${(event: Event) => change((event.target as HTMLTextAreaElement).value)}
    ></textarea>`,
  );
}

function checks(draft: Draft, take: Take, problem: Problem | null): TemplateResult {
  const turn = (type: string): string[] =>
    draft.event_types.includes(type)
      ? draft.event_types.filter((one) => one !== type)
      : [...draft.event_types, type];
  return html`<fieldset class="field" aria-describedby="channel-events-mistakes">
    <legend>${text.events}</legend>
    ${TYPES.map(
      (type) =>
        html`<label class="check">
          <input
            type="checkbox"
            .checked=${draft.event_types.includes(type)}
            @change=${() => take({ event_types: turn(type) })}
          />
          ${text.eventTypes[type]}
        </label>`,
    )}
    ${mistakeList("channel-events", mistakesOf(problem, "/event_types"))}
  </fieldset>`;
}

function quiet(draft: Draft, take: Take, problem: Problem | null): TemplateResult {
  const change = (index: number, changes: Partial<QuietTime>) =>
    take({
      quiet_times: draft.quiet_times.map((time, i) => (i === index ? { ...time, ...changes } : time)),
    });
  const added: QuietTime = { days: DAYS, from: "22:00", to: "07:00" };
  return html`<fieldset class="field" aria-describedby="channel-quiet-hint channel-quiet-mistakes">
      <legend>${text.quietTimes}</legend>
      <span class="hint" id="channel-quiet-hint">${text.quietTimesHint}</span>
      ${draft.quiet_times.map((time, index) =>
        quietTime(time, index, change, () =>
          take({ quiet_times: draft.quiet_times.filter((_, i) => i !== index) }),
        ),
      )}
      <div class="row">
        <button
          type="button"
          class="quiet"
          @click=${() => take({ quiet_times: [...draft.quiet_times, added] })}
        >
          ${text.addQuietTime}
        </button>
      </div>
      ${mistakeList("channel-quiet", mistakesOf(problem, "/quiet_times"))}
    </fieldset>
    ${draft.quiet_times.length
      ? textField({
          id: "channel-zone",
          label: text.timeZone,
          value: draft.time_zone,
          required: true,
          change: (time_zone) => take({ time_zone }),
          mistakes: mistakesOf(problem, "/time_zone"),
        })
      : nothing}`;
}

function quietTime(
  time: QuietTime,
  index: number,
  change: (index: number, changes: Partial<QuietTime>) => void,
  drop: () => void,
): TemplateResult {
  const number = index + 1;
  const turn = (day: QuietTime["days"][number]) =>
    time.days.includes(day)
      ? time.days.filter((one) => one !== day)
      : DAYS.filter((one) => one === day || time.days.includes(one));
  return html`<div class="quiet-time" role="group" aria-label=${text.quietTime(number)}>
    <span class="days">
      ${DAYS.map(
        (day) =>
          html`<label class="check" title=${text.days[day].long}>
            <input
              type="checkbox"
              aria-label=${text.days[day].long}
              .checked=${time.days.includes(day)}
              @change=${() => change(index, { days: turn(day) })}
            />
            <span aria-hidden="true">${text.days[day].short}</span>
          </label>`,
      )}
    </span>
    <span class="hours">
      <input
        type="time"
        required
        aria-label=${text.quietFrom(number)}
        .value=${time.from}
        @input=${(event: Event) => change(index, { from: (event.target as HTMLInputElement).value })}
      />
      ${text.to}
      <input
        type="time"
        required
        aria-label=${text.quietTo(number)}
        .value=${time.to}
        @input=${(event: Event) => change(index, { to: (event.target as HTMLInputElement).value })}
      />
      <button type="button" class="quiet" aria-label=${text.removeQuietTime(number)} @click=${drop}>
        ${common.remove}
      </button>
    </span>
  </div>`;
}

/** For example "Mo Tu We 22:00–07:00". */
export const quietText = ({ days, from, to }: QuietTime): string => {
  const named = DAYS.filter((day) => days.includes(day)).map((day) => text.days[day].short);
  return named.length === DAYS.length ? text.quietDaily(from, to) : text.quietOn(named, from, to);
};

export const eventText = (type: string): string => (text.eventTypes as Record<string, string>)[type] ?? type;
