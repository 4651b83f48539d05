import { html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { request, type FieldMistake, type Problem } from "../../core/api";
import { ago } from "../../core/format";
import { asProblem } from "../../core/load";
import { text } from "../../text/parts/schedules";
import { mistakesOf, textField } from "../forms/fields";
import { Part } from "../page/part";

interface Upcoming {
  description: string;
  next: string[];
}

/** Milliseconds without input before a request. */
const SETTLE = 200;

const EXAMPLES = [
  ["*/15 * * * *", text.cron.quarterHourly],
  ["0 * * * *", text.cron.hourly],
  ["0 9 * * *", text.cron.daily],
  ["0 9 * * MON-FRI", text.cron.onWeekdays],
  ["0 9 * * MON", text.cron.onMondays],
  ["0 0 1 * *", text.cron.firstOfMonth],
  ["0 18 L * *", text.cron.lastOfMonth],
] as const;

/**
 * A cron expression and its time zone, with a live preview: a description and the next runs. Fires `change`
 * when `cron` or `timeZone` has changed.
 */
@customElement("cron-editor")
export class CronEditor extends Part {
  @property() cron = "";
  @property() timeZone = "UTC";
  /** What the API said about the whole form. */
  @property({ attribute: false }) problem: Problem | null = null;
  @state() private upcoming: Upcoming | null = null;
  @state() private refused: Problem | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private request: AbortController | null = null;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.timer);
    this.request?.abort();
  }

  override willUpdate(changed: Map<string, unknown>): void {
    if (changed.has("cron") || changed.has("timeZone")) {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.preview(), this.hasUpdated ? SETTLE : 0);
    }
  }

  override render() {
    return html`<div class="fields">
      <div class="column">
        ${textField({
          id: "cron",
          label: text.cron.label,
          hint: text.cron.hint,
          value: this.cron,
          mono: true,
          required: true,
          placeholder: "0 9 * * MON-FRI",
          mistakes: this.mistakes("/cron"),
          change: (cron) => this.changed({ cron }),
        })}
        <div class="field">
          <label for="cron-example">${text.cron.examples}</label>
          <select id="cron-example" @change=${this.choose}>
            <option value="">${text.cron.chooseExample}</option>
            ${EXAMPLES.map(([cron, title]) => html`<option value=${cron}>${title}</option>`)}
          </select>
        </div>
        ${textField({
          id: "time-zone",
          label: text.cron.timeZone,
          value: this.timeZone,
          required: true,
          list: "time-zones",
          mistakes: this.mistakes("/time_zone"),
          change: (timeZone) => this.changed({ timeZone }),
        })}
        <datalist id="time-zones">${ZONES.map((zone) => html`<option value=${zone}></option>`)}</datalist>
      </div>
      ${this.meaning()}
    </div>`;
  }

  private meaning(): unknown {
    return html`<div class="meaning" aria-live="polite">
      ${this.upcoming === null
        ? html`<p class="faint">${this.refused ? text.cron.fix : text.cron.preview}</p>`
        : html`<p><strong>${this.upcoming.description}</strong></p>
            ${this.upcoming.next.length
              ? html`<p class="faint small">${text.cron.nextRuns(this.timeZone)}</p>
                  <ol>
                    ${this.upcoming.next.map(
                      (time) =>
                        html`<li>
                          <time datetime=${time} class="mono">${inZone(time, this.timeZone)}</time>
                          <span class="faint small">${ago(time)}</span>
                        </li>`,
                    )}
                  </ol>`
              : nothing}`}
    </div>`;
  }

  private mistakes(pointer: string): FieldMistake[] {
    const live = mistakesOf(this.refused, pointer);
    return live.length ? live : mistakesOf(this.problem, pointer);
  }

  private choose(event: Event): void {
    const select = event.target as HTMLSelectElement;
    if (select.value) {
      this.changed({ cron: select.value });
      select.value = "";
    }
    event.stopPropagation();
  }

  private changed({ cron = this.cron, timeZone = this.timeZone }): void {
    this.cron = cron;
    this.timeZone = timeZone;
    this.dispatchEvent(new Event("change", { bubbles: true }));
  }

  private async preview(): Promise<void> {
    this.request?.abort();
    if (this.cron.trim() === "") {
      this.upcoming = null;
      this.refused = null;
      return;
    }
    const controller = new AbortController();
    this.request = controller;
    try {
      this.upcoming = await request<Upcoming>("POST", "/schedules/preview", {
        body: { cron: this.cron, time_zone: this.timeZone, count: 5 },
        signal: controller.signal,
      });
      this.refused = null;
    } catch (e) {
      if (!controller.signal.aborted) {
        this.upcoming = null;
        this.refused = asProblem(e);
      }
    }
  }
}

const ZONES = ["UTC", ...Intl.supportedValuesOf("timeZone")];

/** "Mon, 23 Nov 2026, 09:00 CET"; the zone's time, since the expression is about it. */
export function inZone(time: string, timeZone: string): string {
  try {
    return new Intl.DateTimeFormat("en-GB", {
      timeZone,
      weekday: "short",
      year: "numeric",
      month: "short",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      timeZoneName: "short",
    }).format(new Date(time));
  } catch {
    // A zone that the server knows and this browser doesn't.
    return time;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "cron-editor": CronEditor;
  }
}
