import { html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { get } from "../core/api";
import { bytes, count, duration } from "../core/format";
import { Load, typed } from "../core/load";
import { queried, router } from "../core/router";
import type { Agent, AgentPerformance, Issue, Page, PerformanceFigures } from "../core/types";
import { common } from "../text/common";
import { text } from "../text/pages/agent-performance";
import { type Mark } from "../parts/charts/bar-chart";
import "../parts/charts/line-chart";
import { OUTCOMES } from "../parts/charts/outcomes";
import { issueState } from "../parts/issues/issues";
import { timeAgo } from "../parts/page/basics";
import { emptyState, loaded } from "../parts/page/notices";
import { Part } from "../parts/page/part";

const PERIODS: Record<string, string> = { 24: text.lastDay, 168: text.lastWeek, 720: text.lastMonth };
const DEFAULT_PERIOD = "24";
/** Milliseconds; the intervals move on without an event. */
const REREAD = 60_000;
const ISSUES_SHOWN = 5;
const DAY = 86_400;

const failedOf = ({ failed, timed_out, lost }: PerformanceFigures): number => failed + timed_out + lost;

/** Whether an agent is well: its outcomes, durations, waits and memory over time, and its open issues. */
@customElement("agent-performance")
export class AgentPerformanceView extends Part {
  @property({ attribute: false }) agent!: Agent;
  @state() private period = DEFAULT_PERIOD;
  private timer: ReturnType<typeof setInterval> | undefined;
  private readonly load = new Load<AgentPerformance>(
    this,
    (signal) => get<AgentPerformance>(`/agents/${this.agent.id}/performance`, { hours: this.period }, signal),
    (change) => change.agent_id === this.agent.id && typed("execution")(change),
  );
  private readonly issues = new Load<Issue[]>(
    this,
    async (signal) => {
      const query = { state: "open", agent_id: this.agent.id, limit: ISSUES_SHOWN };
      return (await get<Page<Issue>>("/issues", query, signal)).data;
    },
    typed("issue"),
  );

  override connectedCallback(): void {
    this.period = queried("hours") in PERIODS ? queried("hours") : DEFAULT_PERIOD;
    super.connectedCallback();
    this.timer = setInterval(() => void this.load.again(), REREAD);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.timer);
  }

  override updated(changed: PropertyValues<this>): void {
    const before = changed.get("agent");
    if (before && before.id !== this.agent.id) {
      void this.load.again(true);
      void this.issues.again(true);
    }
  }

  override render() {
    return html`<div class="row">
        <select class="narrow" aria-label=${text.period} @change=${this.choose}>
          ${Object.entries(PERIODS).map(
            ([hours, title]) =>
              html`<option value=${hours} ?selected=${hours === this.period}>${title}</option>`,
          )}
        </select>
        <a class="small" href=${this.executions(this.load.value?.from)}>${text.viewExecutions}</a>
      </div>
      ${loaded(this.load, (performance) => this.show(performance))}`;
  }

  private readonly choose = (event: Event): void => {
    this.period = (event.target as HTMLSelectElement).value;
    router.query({ hours: this.period === DEFAULT_PERIOD ? null : this.period });
    void this.load.again();
  };

  /** The address of the agent's executions from then on. */
  private executions(after?: string, before?: string): string {
    const query = new URLSearchParams({ ...(after && { after }), ...(before && { before }) });
    return `/agents/${this.agent.id}/executions?${query}`;
  }

  private show(performance: AgentPerformance): TemplateResult {
    if (OUTCOMES.every(([state]) => performance.total[state] === 0)) {
      return emptyState(text.noExecutions, text.afterRun);
    }
    const { intervals, revisions } = performance;
    const { labels, titles } = namesOf(performance);
    const first = Date.parse(performance.from) / 1000;
    const marks: Mark[] = revisions.map(({ revision, started_at }) => ({
      place: Math.max(0, (Date.parse(started_at) / 1000 - first) / performance.interval_seconds),
      title: text.revision(revision),
    }));
    const href = (bar: number) => this.executions(intervals[bar]!.start, intervals[bar + 1]?.start);
    const outcomes = OUTCOMES.map(([key, name, colour]) => ({
      name,
      colour,
      values: intervals.map(({ figures }) => figures[key]),
    }));
    const line = (
      name: string,
      colour: string,
      value: (figures: PerformanceFigures) => number | undefined,
    ) => ({
      name,
      colour,
      values: intervals.map(({ figures }) => value(figures) ?? null),
    });
    const durations = [
      line(text.median, "--accent", ({ duration: spent }) => spent?.p50),
      line(text.percentile95, "--waiting", ({ duration: spent }) => spent?.p95),
    ];
    const waits = [
      line(text.median, "--accent", ({ queued }) => queued?.p50),
      line(text.percentile95, "--waiting", ({ queued }) => queued?.p95),
    ];
    return html`${performance.complete ? nothing : html`<p class="notice waiting">${text.incomplete}</p>`}
      ${this.figures(performance.total)} ${this.openIssues()}
      <section class="panel" aria-labelledby="outcomes-title">
        <header>
          <h2 id="outcomes-title">
            ${text.outcomes} ${marks.length ? html`<span class="faint">${text.firstRuns}</span>` : nothing}
          </h2>
        </header>
        <bar-chart
          label=${text.byOutcome}
          .bars=${{ labels, titles, series: outcomes }}
          .marks=${marks}
          .href=${href}
        ></bar-chart>
      </section>
      <section class="panel" aria-labelledby="durations-title">
        <header>
          <h2 id="durations-title">${text.durations}</h2>
        </header>
        <line-chart
          label=${text.durationsLabel}
          .bars=${{ labels, titles, series: durations }}
          .marks=${marks}
          .href=${href}
        ></line-chart>
      </section>
      <section class="panel" aria-labelledby="waits-title">
        <header><h2 id="waits-title">${text.waits}</h2></header>
        <line-chart
          label=${text.waits}
          .bars=${{ labels, titles, series: waits }}
          .marks=${marks}
          .href=${href}
        ></line-chart>
      </section>`;
  }

  private figures(total: PerformanceFigures): TemplateResult {
    const failed = failedOf(total);
    const ended = total.succeeded + failed;
    const memory = total.max_memory_bytes;
    const limit = this.agent.memory * 1024 * 1024;
    const figure = (name: string, value: unknown, note: unknown = nothing, kind = "") =>
      html`<div class="figure ${kind}">
        <dt>${name}</dt>
        <dd><span class="number">${value}</span> <span class="faint small">${note}</span></dd>
      </div>`;
    return html`<dl class="panel figures">
      ${figure(
        text.successRate,
        // Rounded down: 100 % means that none failed.
        ended ? text.percent(Math.floor((1000 * total.succeeded) / ended) / 10) : "–",
        text.succeeded(total.succeeded, ended),
        failed ? "bad" : "",
      )}
      ${figure(text.medianDuration, total.duration ? duration(total.duration.p50) : "–")}
      ${figure(
        text.percentile95,
        total.duration ? duration(total.duration.p95) : "–",
        total.duration ? text.short99(total.duration.p99) : nothing,
      )}
      ${figure(
        text.waits,
        total.queued ? duration(total.queued.p50) : "–",
        total.queued ? text.short95(total.queued.p95) : nothing,
      )}
      ${figure(text.coldStarts, count(total.cold_starts), text.ofExecutions(ended + total.cancelled))}
      ${figure(
        text.peakMemory,
        memory === null ? "–" : bytes(memory),
        text.ofMemory(limit),
        memory !== null && memory > 0.9 * limit ? "bad" : "",
      )}
    </dl>`;
  }

  private openIssues(): unknown {
    const open = this.issues.value ?? [];
    return open.length === 0
      ? nothing
      : html`<section class="panel" aria-labelledby="agent-issues-title">
          <header>
            <h2 id="agent-issues-title">${text.openIssues}</h2>
            <a href="/issues?agent_id=${this.agent.id}">${common.viewAll}</a>
          </header>
          <ul class="lines">
            ${open.map(
              (issue) =>
                html`<li class="row">
                  <a class="cut grow" href="/issues/${issue.id}" title=${issue.title}
                    ><strong>${issue.title}</strong></a
                  >
                  ${issue.regressed ? issueState(issue) : nothing}
                  <span class="faint small number">${count(issue.count)}×</span>
                  <span class="faint small">${timeAgo(issue.last_seen_at)}</span>
                </li>`,
            )}
          </ul>
        </section>`;
  }
}

/** Labels and titles of the intervals: hours, or days. */
function namesOf({ intervals, interval_seconds }: AgentPerformance): { labels: string[]; titles: string[] } {
  const time = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
  const day = new Intl.DateTimeFormat("en", { month: "short", day: "numeric" });
  const full = new Intl.DateTimeFormat("en", {
    month: "short",
    day: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  const ends = interval_seconds < DAY ? time : full;
  const shown = interval_seconds === 3600 ? time : day;
  return {
    labels: intervals.map(({ start }) => shown.format(new Date(start))),
    titles: intervals.map(({ start }) => {
      const end = new Date(Date.parse(start) + interval_seconds * 1000);
      return `${full.format(new Date(start))} – ${ends.format(end)}`;
    }),
  };
}

declare global {
  interface HTMLElementTagNameMap {
    "agent-performance": AgentPerformanceView;
  }
}
