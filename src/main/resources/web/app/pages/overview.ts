import { html, nothing, type TemplateResult } from "lit";
import { customElement } from "lit/decorators.js";
import { get } from "../core/api";
import { count } from "../core/format";
import { Load, typed } from "../core/load";
import { signedIn } from "../core/session";
import type { Agent, Execution, Issue, Page, Statistics } from "../core/types";
import "../parts/agents/agent-link";
import "../parts/charts/bar-chart";
import { OUTCOMES } from "../parts/charts/outcomes";
import { issueState } from "../parts/issues/issues";
import { stateBadge, timeAgo } from "../parts/page/basics";
import { loaded } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { buildReason } from "../parts/executions/reasons";
import "../parts/page/ticking";
import { common } from "../text/common";
import { text } from "../text/pages/overview";
import { firstSteps } from "./first-steps";

const HOUR = 3_600_000;
const RUNNING_SHOWN = 12;
const ISSUES_SHOWN = 8;

/** What ran in the last day, what is running, and what needs a fix. */
@customElement("overview-page")
export class OverviewPage extends Part {
  private readonly statistics = new Load<Statistics>(
    this,
    (signal) => get<Statistics>("/statistics", { hours: 24 }, signal),
    typed("execution", "executor_job", "builder_job", "agent"),
  );
  private readonly running = new Load<Execution[]>(
    this,
    async (signal) => {
      const query = { state: "running", limit: RUNNING_SHOWN };
      return (await get<Page<Execution>>("/executions", query, signal)).data;
    },
    typed("execution"),
  );
  private readonly agents = new Load<Agent[]>(
    this,
    async (signal) => (await get<Page<Agent>>("/agents", { limit: 2 }, signal)).data,
    typed("agent"),
  );
  private readonly issues = new Load<Issue[]>(
    this,
    async (signal) => {
      const query = { state: "open", limit: ISSUES_SHOWN };
      return (await get<Page<Issue>>("/issues", query, signal)).data;
    },
    typed("issue"),
  );
  private timer: ReturnType<typeof setInterval> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    // The hours move on without an event.
    this.timer = setInterval(() => {
      void this.statistics.again();
      void this.issues.again(); // For their counts, which raise no events.
    }, 60_000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.timer);
  }

  override render() {
    const agents = this.agents.value;
    return html`<div class="page-head">
        <h1>${text.title}</h1>
        <div class="actions">
          ${signedIn.may("write")
            ? html`<a class="button primary" href="/create">${text.createAgent}</a>`
            : nothing}
        </div>
      </div>
      ${agents && agents.length < 2 ? firstSteps(agents) : nothing}
      ${loaded(this.statistics, (statistics) =>
        agents?.length === 0 && this.isEmpty(statistics) ? nothing : this.show(statistics),
      )}`;
  }

  private isEmpty({ hours, running, queued }: Statistics): boolean {
    return running + queued === 0 && hours.every((hour) => OUTCOMES.every(([name]) => hour[name] === 0));
  }

  private show(statistics: Statistics): TemplateResult {
    const full = statistics.storage.full;
    return html`${full ? html`<p class="notice failed" role="alert">${text.storageFull(full)}</p>` : nothing}
      ${this.figures(statistics)}
      <div class="overview-columns">
        <div class="column">${this.chart(statistics)} ${this.openIssues()}</div>
        <div class="column">${this.runningNow(statistics)} ${this.failedBuilds(statistics)}</div>
      </div>`;
  }

  private figures({ hours, running, queued, suspended, executors }: Statistics): TemplateResult {
    const sum = (...names: (typeof OUTCOMES)[number][0][]) =>
      hours.reduce((all, hour) => all + names.reduce((of, name) => of + hour[name], 0), 0);
    const failed = sum("failed", "timed_out", "lost");
    const busy = executors.starting + executors.idle + executors.working;
    const figure = (name: string, value: unknown, note: unknown, href: string, kind = "") =>
      html`<div class="figure ${kind}">
        <dt><a href=${href}>${name}</a></dt>
        <dd><span class="number">${value}</span> <span class="faint small">${note}</span></dd>
      </div>`;
    return html`<dl class="panel figures">
      ${figure(text.running, count(running), nothing, "/executions?state=running")}
      ${figure(text.queued, count(queued), nothing, "/executions?state=queued")}
      ${suspended
        ? figure(text.suspended, count(suspended), nothing, "/executions?state=suspended")
        : nothing}
      ${figure(
        text.executors,
        count(busy),
        executors.pooled > 0
          ? text.executorsWithPools(executors.limit, executors.working, executors.pooled)
          : text.executorsOf(executors.limit, executors.working),
        "/settings",
      )}
      ${figure(text.succeeded, count(sum("succeeded")), text.lastDay, "/executions?state=succeeded&hours=24")}
      ${figure(
        text.failed,
        count(failed),
        text.lastDay,
        "/executions?state=failed,timed_out,lost&hours=24",
        failed ? "bad" : "",
      )}
    </dl>`;
  }

  private chart({ hours }: Statistics): TemplateResult {
    const clock = (time: string | number) =>
      new Date(time).toLocaleTimeString(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    const end = (hour: string) => new Date(Date.parse(hour) + HOUR).toISOString();
    const href = (bar: number) => {
      const { hour } = hours[bar]!;
      return `/executions?after=${encodeURIComponent(hour)}&before=${encodeURIComponent(end(hour))}`;
    };
    const labels = hours.map(({ hour }) => clock(hour));
    const titles = hours.map(({ hour }) => `${clock(hour)} – ${clock(end(hour))}`);
    const series = OUTCOMES.map(([key, name, colour]) => ({
      name,
      colour,
      values: hours.map((h) => h[key]),
    }));
    return html`<section class="panel" aria-labelledby="chart-title">
      <header><h2 id="chart-title">${text.executionsPerHour}</h2></header>
      <bar-chart
        label=${text.executionsByState}
        .bars=${{ labels, titles, series }}
        .href=${href}
      ></bar-chart>
    </section>`;
  }

  private openIssues(): TemplateResult {
    const shown = this.issues.value ?? [];
    return html`<section class="panel" aria-labelledby="issues-title">
      <header>
        <h2 id="issues-title">${text.openIssues} <span class="faint">${text.newestFirst}</span></h2>
        <a href="/issues">${common.viewAll}</a>
      </header>
      ${shown.length === 0
        ? html`<p class="content faint">${this.issues.value ? text.noIssues : common.loading}</p>`
        : html`<ul class="lines">
            ${shown.map(
              (issue) =>
                html`<li>
                  <span class="row">
                    <a class="cut grow" href="/issues/${issue.id}" title=${issue.title}
                      ><strong>${issue.title}</strong></a
                    >
                    ${issue.regressed ? issueState(issue) : nothing}
                    <span class="faint small"><span class="number">${count(issue.count)}×</span></span>
                  </span>
                  <span class="row latest">
                    <agent-link class="cut grow" .agentId=${issue.agent_id}></agent-link>
                    <span class="faint">${text.firstSeen}</span> ${timeAgo(issue.first_seen_at)}
                  </span>
                </li>`,
            )}
          </ul>`}
    </section>`;
  }

  private runningNow({ running }: Statistics): TemplateResult {
    const shown = this.running.value ?? [];
    return html`<section class="panel" aria-labelledby="running-title">
      <header><h2 id="running-title">${text.runningNow}</h2></header>
      ${shown.length === 0
        ? html`<p class="content faint">${text.nothingRunning}</p>`
        : html`<ul class="lines">
            ${shown.map(
              (execution) =>
                html`<li class="row">
                  <a href="/executions/${execution.id}" title=${execution.id}>${stateBadge("running")}</a>
                  <agent-link class="grow cut" .agentId=${execution.agent_id}></agent-link>
                  <ticking-duration .from=${execution.started_at}></ticking-duration>
                </li>`,
            )}
            ${running > shown.length
              ? html`<li><a href="/executions?state=running">${text.viewAllRunning(running)}</a></li>`
              : nothing}
          </ul>`}
    </section>`;
  }

  private failedBuilds({ failed_builds }: Statistics): unknown {
    return failed_builds.length === 0
      ? nothing
      : html`<section class="panel" aria-labelledby="builds-title">
          <header><h2 id="builds-title">${text.failedBuilds}</h2></header>
          <ul class="lines">
            ${failed_builds.map(
              (build) =>
                html`<li>
                  <span class="row"
                    ><a class="grow cut" href="/agents/${build.agent_id}">${build.agent_name}</a
                    ><span class="faint small">${timeAgo(build.finished_at)}</span></span
                  >
                  <a class="small" href="/builds/${build.builder_job_id}" title=${build.message ?? ""}
                    >${build.reason ? buildReason(build.reason).title : text.viewBuild}</a
                  >
                </li>`,
            )}
          </ul>
        </section>`;
  }
}
