import { html, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { parseExactly, Problem, requestExactly, toJson } from "../../core/api";
import { asProblem } from "../../core/load";
import { follow } from "../../core/stream";
import type { Json, Page, Progress } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/executions";
import { problemNotice } from "../page/notices";
import { Part } from "../page/part";

/** How many values are shown; of a stream that goes on, the latest. */
const MOST = 1_000;
const PAGE = 200;
/** For how long values of a stream are gathered before they are shown, in milliseconds. */
const GATHER = 50;

/** The values that a script emits and its progress, live; nothing while there are none. */
@customElement("emitted-values")
export class EmittedValues extends Part {
  @property() executionId = "";
  /** Whether further values may follow. */
  @property({ type: Boolean }) live = false;
  @state() private values: Json[] = [];
  /** How many values before the first shown one are left out. */
  @state() private skipped = 0;
  @state() private more: string | null = null;
  @state() private progress: Progress | null = null;
  @state() private joined = false;
  @state() private loading = false;
  @state() private problem: Problem | null = null;
  private reading = new AbortController();

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.reading.abort();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.hasUpdated) {
      this.begin();
    }
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.has("executionId")) {
      this.begin();
    }
  }

  private begin(): void {
    this.reading.abort();
    this.reading = new AbortController();
    [this.values, this.skipped, this.more, this.progress, this.problem] = [[], 0, null, null, null];
    const { signal } = this.reading;
    void (this.live ? this.follow(signal) : this.read(signal)).catch((e: unknown) => {
      if (!signal.aborted) {
        this.problem = asProblem(e);
      }
    });
  }

  private async read(signal: AbortSignal): Promise<void> {
    this.loading = true;
    try {
      const query = { limit: PAGE, cursor: this.more };
      const path = `/executions/${this.executionId}/stream`;
      const page = (await requestExactly<Page<{ value: Json }>>("GET", path, { query, signal })).value;
      this.values = [...this.values, ...page.data.map(({ value }) => value)];
      this.more = page.next_cursor;
    } finally {
      this.loading = false;
    }
  }

  private async follow(signal: AbortSignal): Promise<void> {
    const gathered: Json[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      clearTimeout(timer);
      timer = undefined;
      if (gathered.length && !signal.aborted) {
        const all = [...this.values, ...gathered.splice(0)];
        this.skipped += Math.max(0, all.length - MOST);
        this.values = all.slice(-MOST);
      }
    };
    try {
      await follow(`/executions/${this.executionId}/stream`, {
        signal,
        onEvent: ({ type, data }) => {
          if (type === "value") {
            gathered.push(parseExactly(data));
            timer ??= setTimeout(flush, GATHER);
          } else if (type === "progress") {
            this.progress = JSON.parse(data) as Progress;
          } else if (type === "end") {
            this.progress = null;
          }
        },
      });
    } finally {
      flush();
    }
  }

  override render() {
    if (this.problem) {
      return problemNotice(this.problem);
    }
    return html`${this.progress ? this.bar(this.progress) : nothing}
    ${this.values.length ? this.panel() : nothing}`;
  }

  private bar({ fraction, message }: Progress): TemplateResult {
    return html`<div class="row script-progress">
      <progress max="1" .value=${fraction ?? nothing} aria-label=${text.values.progress}></progress>
      ${fraction === null ? nothing : html`<span class="number">${text.values.percent(fraction)}</span>`}
      <span>${message}</span>
    </div>`;
  }

  private panel(): TemplateResult {
    const areTexts = this.values.every((value) => typeof value === "string");
    return html`<section class="panel" aria-labelledby="values-title">
      <header>
        <h2 id="values-title">${text.values.title}</h2>
        ${areTexts
          ? html`<button
              class="quiet"
              aria-pressed=${this.joined}
              title=${text.values.joinTitle}
              @click=${() => (this.joined = !this.joined)}
            >
              ${text.values.join}
            </button>`
          : nothing}
      </header>
      ${this.skipped
        ? html`<p class="content faint small">${text.values.skipped(this.skipped)}</p>`
        : nothing}
      <pre class="content emitted" tabindex="0" role="group" aria-label=${text.values.title}>
${areTexts && this.joined ? this.values.join("") : this.values.map((value) => toJson(value)).join("\n")}</pre
      >
      ${this.more
        ? html`<p class="content">
            <button ?disabled=${this.loading} @click=${() => void this.read(this.reading.signal)}>
              ${this.loading ? common.loading : common.showMore}
            </button>
          </p>`
        : nothing}
    </section>`;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "emitted-values": EmittedValues;
  }
}
