import { html, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { get, kept, requestExactly } from "../core/api";
import { Load, PagedLoad } from "../core/load";
import { Polling } from "../core/polling";
import { signedIn } from "../core/session";
import type { AgentRevision, Execution, ExecutorJob, Issue, LogEntry, Page } from "../core/types";
import "../parts/agents/agent-link";
import { issueChart, lastDay } from "../parts/issues/issue-chart";
import { failingLine, introduced, issueFacts, logTail, payloads } from "../parts/issues/issue-panels";
import { CHANGES, changeIssue, issueState, LOOK, replayIssue, type Change } from "../parts/issues/issues";
import { idLink, stateBadge, timeAgo } from "../parts/page/basics";
import { emptyState, loaded, roleNotice } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { pagedTable, type Column } from "../parts/page/tables";
import { common } from "../text/common";
import { text } from "../text/pages/issue";

const PAYLOADS = 3;
const LOG_ENTRIES = 20;
const FAILURES = 10;

/** An issue with what explains it; null: no longer stored. */
interface Explained {
  /** Of the issue that was read; another failure needs another explanation. */
  execution: Execution | null;
  revision: AgentRevision | null;
  before: AgentRevision | null;
  first: AgentRevision | null;
  entries: LogEntry[];
  jobs: ExecutorJob[];
  /** The agent's latest success, whenever it was. */
  success: Execution | null;
}

/** One issue: what fails, since when, and running the affected jobs again. */
@customElement("issue-page")
export class IssuePage extends Part {
  @property() issueId = "";
  @state() private chosen: ReadonlySet<string> = new Set();
  private readonly load = new Load<Issue>(
    this,
    (signal) => get<Issue>(`/issues/${this.issueId}`, {}, signal),
    (change) => change.subject === this.issueId,
  );
  private readonly explained = new Load<Explained | null>(this, (signal) => this.explain(signal));
  private readonly failures = new PagedLoad<Execution>(
    this,
    () => "/executions",
    () => ({ issue_id: this.issueId }),
    () => false,
    undefined,
    FAILURES,
  );
  /** The latest failure when the rest was read. */
  private explainedExecution = "";

  constructor() {
    super();
    new Polling(this, this.load, () => true, LOOK);
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.get("issueId")) {
      this.chosen = new Set();
      this.explainedExecution = "";
      [this.load, this.explained, this.failures].forEach((load) => void load.again(true));
    }
    const latest = this.load.value?.last_execution_id ?? "";
    if (latest !== this.explainedExecution) {
      this.explainedExecution = latest;
      void this.explained.again();
      void this.failures.again();
    }
  }

  private async explain(signal: AbortSignal): Promise<Explained | null> {
    const issue = this.load.value;
    if (!issue) {
      return null;
    }
    const { agent_id, first_revision, last_execution_id } = issue;
    const revisionOf = (number: number) =>
      number > 0
        ? kept(get<AgentRevision>(`/agents/${agent_id}/revisions/${number}`, {}, signal))
        : Promise.resolve(null);
    const execution = await kept(get<Execution>(`/executions/${last_execution_id}`, {}, signal));
    const [revision, before, first, entries, jobs, success] = await Promise.all([
      execution ? revisionOf(execution.agent_revision) : null,
      revisionOf(first_revision - 1),
      revisionOf(first_revision),
      execution ? this.lastEntries(execution, signal) : [],
      this.latestJobs(signal),
      get<Page<Execution>>("/executions", { agent_id, state: "succeeded", draft: "false", limit: 1 }, signal),
    ]);
    return { execution, revision, before, first, entries, jobs, success: success.data[0] ?? null };
  }

  private async lastEntries({ id, log_entries }: Execution, signal: AbortSignal): Promise<LogEntry[]> {
    const query = { after_seq: Math.max(0, log_entries - LOG_ENTRIES), limit: LOG_ENTRIES };
    return (await get<Page<LogEntry>>(`/executions/${id}/logs`, query, signal)).data;
  }

  private async latestJobs(signal: AbortSignal): Promise<ExecutorJob[]> {
    const query = { issue_id: this.issueId, limit: 4 * PAYLOADS };
    const { data } = await get<Page<Execution>>("/executions", query, signal);
    const ids = [...new Set(data.map((execution) => execution.executor_job_id))].slice(0, PAYLOADS);
    const jobs = await Promise.all(
      ids.map((id) => kept(requestExactly<ExecutorJob>("GET", `/executor-jobs/${id}`, { signal }))),
    );
    return jobs.flatMap((job) => (job ? [job.value] : []));
  }

  override render() {
    const issue = this.load.value;
    return html`<div class="page-head">
        <h1 class="issue-heading">${issue?.title ?? text.title}</h1>
        <div class="actions">${issue ? this.actions(issue) : nothing}</div>
      </div>
      ${loaded(this.load, (found) => this.show(found))}`;
  }

  private actions(issue: Issue): unknown {
    return html`${signedIn.may("write")
      ? CHANGES[issue.state].map(
          (change) =>
            html`<button @click=${() => void this.change(issue, change)}>${text.changes[change]}</button>`,
        )
      : nothing}
    ${signedIn.may("execute")
      ? html`<button class="primary" @click=${() => void replayIssue(issue)}>${text.runAllAgain}</button>`
      : nothing}`;
  }

  private async change(issue: Issue, change: Change): Promise<void> {
    await changeIssue(issue, change);
    void this.load.again();
  }

  private show(issue: Issue): TemplateResult {
    const hours = issue.hours ?? [];
    const found = this.explained.value;
    return html`<div class="row summary" role="status">
        <strong>${issueState(issue)}</strong>
        <agent-link .agentId=${issue.agent_id}></agent-link>
        <span>${text.failures(issue.count)}</span>
        <span class="faint">${text.firstSeen}</span> ${timeAgo(issue.first_seen_at)}
        <span class="faint">${text.lastSeen}</span> ${timeAgo(issue.last_seen_at)}
      </div>
      ${roleNotice("write", text.changing)}
      <div class="beside">
        <div class="column">
          ${found
            ? this.explanation(issue, found)
            : html`<p class="skeleton" aria-busy="true">${common.loading}</p>`}
          ${this.affected(issue)}
        </div>
        <div class="column">
          <section class="panel" aria-labelledby="days-title">
            <header>
              <h2 id="days-title">
                ${text.failuresPerDay} <span class="faint">${text.inLastDay(lastDay(hours))}</span>
              </h2>
            </header>
            <div class="content">${issueChart(hours)}</div>
          </section>
          ${issueFacts(issue)} ${found ? payloads(found.jobs, issue.last_execution_id) : nothing}
        </div>
      </div>`;
  }

  private explanation(issue: Issue, found: Explained): TemplateResult {
    return html`${found.execution
      ? html`${failingLine(found.execution, found.revision)} ${introduced(issue, found.before, found.first)}
        ${logTail(found.execution, found.entries, found.success)}`
      : html`<p class="notice">${text.notStored}</p>
          ${introduced(issue, found.before, found.first)}`}`;
  }

  private affected(issue: Issue): TemplateResult {
    const may = signedIn.may("execute");
    return html`<section class="panel tight" aria-labelledby="affected-title">
      <header>
        <h2 id="affected-title">${text.failedExecutions}</h2>
        ${may && this.chosen.size
          ? html`<button @click=${() => void this.replayChosen(issue)}>
              ${text.runChosenAgain(this.chosen.size)}
            </button>`
          : nothing}
      </header>
      ${pagedTable(text.executions, this.columns(issue, may), this.failures, () =>
        emptyState(text.noExecutions, text.retention),
      )}
    </section>`;
  }

  private columns(issue: Issue, may: boolean): Column<Execution>[] {
    const columns: Column<Execution>[] = [
      {
        title: text.execution,
        cell: ({ id, state }) =>
          html`<a class="state-link" href="/executions/${id}">${stateBadge(state)}</a>`,
      },
      { title: text.finished, cell: ({ finished_at }) => timeAgo(finished_at) },
      { title: text.revision, number: true, cell: (execution) => html`${execution.agent_revision}` },
      {
        title: text.run,
        cell: ({ executor_job_id: job }) => idLink(job, `/executor-jobs/${job}?stay=1`),
      },
      { title: text.message, kind: "rest", cell: ({ message }) => message ?? "" },
    ];
    if (may) {
      columns.unshift({ title: text.choose, cell: (execution) => this.choice(execution) });
      columns.push({
        title: "",
        cell: ({ executor_job_id: job }) =>
          html`<button class="quiet" @click=${() => void replayIssue(issue, [job])}>
            ${text.runAgain}
          </button>`,
      });
    }
    return columns;
  }

  private choice({ executor_job_id: job }: Execution): TemplateResult {
    const toggle = (event: Event) => {
      const chosen = new Set(this.chosen);
      if ((event.target as HTMLInputElement).checked) {
        chosen.add(job);
      } else {
        chosen.delete(job);
      }
      this.chosen = chosen;
    };
    return html`<input
      type="checkbox"
      aria-label=${text.chooseRun(job)}
      .checked=${this.chosen.has(job)}
      @change=${toggle}
    />`;
  }

  private async replayChosen(issue: Issue): Promise<void> {
    await replayIssue(issue, [...this.chosen]);
    this.chosen = new Set();
  }
}
