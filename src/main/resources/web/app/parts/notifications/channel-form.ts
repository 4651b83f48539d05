import { html, nothing, type TemplateResult } from "lit";
import { patch, post, type Problem } from "../../core/api";
import type { NotificationChannel, QuietTime } from "../../core/types";
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

const TYPES: [type: string, label: string][] = [
  ["issue.opened", "New issue"],
  ["issue.regressed", "Resolved issue is back"],
  ["issue.reopened", "Issue reopened by a person"],
  ["issue.growing", "Issue grows fast"],
  ["builder_job.failed", "Build failed"],
];

const DAYS: [day: QuietTime["days"][number], short: string, long: string][] = [
  ["mon", "Mo", "Monday"],
  ["tue", "Tu", "Tuesday"],
  ["wed", "We", "Wednesday"],
  ["thu", "Th", "Thursday"],
  ["fri", "Fr", "Friday"],
  ["sat", "Sa", "Saturday"],
  ["sun", "Su", "Sunday"],
];

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
    title: "New notification channel",
    draft: {
      name: "",
      kind: "slack",
      recipients: "",
      url: "",
      agents: "",
      event_types: TYPES.map(([type]) => type),
      minutes: "5",
      time_zone: zone(),
      quiet_times: [],
    } as Draft,
    pointers: POINTERS,
    confirm: "Create channel",
    wide: true,
    fields: (draft, take, problem) => fields(draft, take, problem, true),
    save: (draft) =>
      post<NotificationChannel>("/notification-channels", { kind: draft.kind, ...bodyOf(draft) }),
  });

export const changeChannel = (channel: NotificationChannel): Promise<NotificationChannel | null> =>
  openForm({
    title: "Edit notification channel",
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
    confirm: "Save",
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
    label: "Name",
    value: draft.name,
    required: true,
    placeholder: "On-call",
    change: (name) => take({ name }),
    mistakes: mistakesOf(problem, "/name"),
  })}
  ${isNew
    ? choiceField({
        id: "channel-kind",
        label: "Send by",
        value: draft.kind,
        choices: [
          ["slack", "Slack (incoming webhook)"],
          ["email", "E-mail"],
        ],
        change: (kind) => take({ kind: kind as Draft["kind"] }),
        mistakes: mistakesOf(problem, "/kind"),
      })
    : nothing}
  ${draft.kind === "slack"
    ? textField({
        id: "channel-url",
        label: "Webhook URL",
        hint: isNew
          ? "Of Slack, or of a program that understands its format. It is a secret and not shown again."
          : "Leave it empty to keep the current one.",
        value: draft.url,
        required: isNew,
        mono: true,
        placeholder: "https://hooks.slack.com/services/…",
        change: (url) => take({ url }),
        mistakes: mistakesOf(problem, "/url"),
      })
    : lines("channel-recipients", "Recipients", "One address per line.", draft.recipients, true, {
        change: (recipients) => take({ recipients }),
        mistakes: mistakesOf(problem, "/recipients"),
      })}
  ${checks(draft, take, problem)}
  ${lines(
    "channel-agents",
    "Agents",
    html`One name per line; <code>orders-*</code> matches all names that begin so. Empty: all agents.`,
    draft.agents,
    false,
    { change: (agents) => take({ agents }), mistakes: mistakesOf(problem, "/agents") },
  )}
  ${textField({
    id: "channel-minutes",
    label: "Least minutes between two messages",
    hint: "What happens meanwhile is sent as one message.",
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
    <legend>Events</legend>
    ${TYPES.map(
      ([type, label]) =>
        html`<label class="check">
          <input
            type="checkbox"
            .checked=${draft.event_types.includes(type)}
            @change=${() => take({ event_types: turn(type) })}
          />
          ${label}
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
  const added: QuietTime = { days: DAYS.map(([day]) => day), from: "22:00", to: "07:00" };
  return html`<fieldset class="field" aria-describedby="channel-quiet-hint channel-quiet-mistakes">
      <legend>Quiet times</legend>
      <span class="hint" id="channel-quiet-hint">
        Nothing is sent then; at the end follows one message. An end that is not later than the beginning is
        on the next day.
      </span>
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
          + Add quiet time
        </button>
      </div>
      ${mistakeList("channel-quiet", mistakesOf(problem, "/quiet_times"))}
    </fieldset>
    ${draft.quiet_times.length
      ? textField({
          id: "channel-zone",
          label: "Time zone",
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
  const name = `Quiet time ${index + 1}`;
  const turn = (day: QuietTime["days"][number]) =>
    time.days.includes(day)
      ? time.days.filter((one) => one !== day)
      : DAYS.map(([one]) => one).filter((one) => one === day || time.days.includes(one));
  return html`<div class="quiet-time" role="group" aria-label=${name}>
    <span class="days">
      ${DAYS.map(
        ([day, short, long]) =>
          html`<label class="check" title=${long}>
            <input
              type="checkbox"
              aria-label=${long}
              .checked=${time.days.includes(day)}
              @change=${() => change(index, { days: turn(day) })}
            />
            <span aria-hidden="true">${short}</span>
          </label>`,
      )}
    </span>
    <span class="hours">
      <input
        type="time"
        required
        aria-label="${name}, from"
        .value=${time.from}
        @input=${(event: Event) => change(index, { from: (event.target as HTMLInputElement).value })}
      />
      to
      <input
        type="time"
        required
        aria-label="${name}, to"
        .value=${time.to}
        @input=${(event: Event) => change(index, { to: (event.target as HTMLInputElement).value })}
      />
      <button type="button" class="quiet" aria-label="Remove ${name.toLowerCase()}" @click=${drop}>
        Remove
      </button>
    </span>
  </div>`;
}

/** For example "Mo Tu We 22:00–07:00". */
export const quietText = ({ days, from, to }: QuietTime): string => {
  const named = DAYS.filter(([day]) => days.includes(day)).map(([, short]) => short);
  return `${named.length === DAYS.length ? "daily" : named.join(" ")} ${from}–${to}`;
};

export const eventText = (type: string): string => TYPES.find(([known]) => known === type)?.[1] ?? type;
