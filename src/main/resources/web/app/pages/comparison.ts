import { html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { get, kept, requestExactly, toJson } from "../core/api";
import { bytes, duration } from "../core/format";
import { Load } from "../core/load";
import type { AgentRevision, Build, Execution, ExecutorJob, Json } from "../core/types";
import { common } from "../text/common";
import { text } from "../text/pages/comparison";
import "../parts/agents/agent-link";
import { revisionChanges } from "../parts/agents/revision-changes";
import "../parts/code/code-diff";
import { comparisonOf } from "../parts/executions/comparison-address";
import { secondsOf } from "../parts/executions/execution-result";
import { draftMark, ranRevision } from "../parts/executions/draft-runs";
import { executionReason } from "../parts/executions/reasons";
import { idLink, stateBadge, timeAgo } from "../parts/page/basics";
import { emptyState, loaded } from "../parts/page/notices";
import { Part } from "../parts/page/part";

/** An execution with what it ran; null: no longer kept. */
interface Side {
  execution: Execution;
  job: ExecutorJob | null;
  revision: AgentRevision | null;
  build: Build | null;
}

/** Two executions beside each other, and everything in which they differ. */
@customElement("execution-comparison")
export class ExecutionComparison extends Part {
  /** The identifiers of the two executions. */
  @property() one = "";
  @property() other = "";
  private readonly load = new Load<[Side, Side]>(
    this,
    (signal) => Promise.all([side(this.one, signal), side(this.other, signal)]),
    ({ subject }) => subject === this.one || subject === this.other,
    () => !!this.one && !!this.other,
  );

  override updated(changed: PropertyValues<this>): void {
    if ((changed.get("one") || changed.get("other")) && this.one && this.other) {
      void this.load.again(true);
    }
  }

  override render() {
    return html`<nav class="small" aria-label=${text.breadcrumb}>
        <a href="/executions">${text.executions}</a>
      </nav>
      <div class="page-head">
        <h1>${text.title}</h1>
        <div class="actions">
          ${this.one && this.other
            ? html`<a class="button" href=${comparisonOf(this.other, this.one)}>${text.swap}</a>`
            : nothing}
        </div>
      </div>
      ${this.one && this.other
        ? loaded(this.load, ([one, other]) => show(one, other))
        : emptyState(
            text.chooseTwo,
            text.howToChoose,
            html`<a class="button" href="/executions">${text.viewExecutions}</a>`,
          )}`;
  }
}

async function side(id: string, signal: AbortSignal): Promise<Side> {
  const { value: execution } = await requestExactly<Execution>("GET", `/executions/${id}`, { signal });
  const { executor_job_id, build_id } = execution;
  const [job, revision, build] = await Promise.all([
    kept(requestExactly<ExecutorJob>("GET", `/executor-jobs/${executor_job_id}`, { signal })),
    ranRevision(execution, signal),
    build_id ? kept(get<Build>(`/builds/${build_id}`, {}, signal)) : null,
  ]);
  return { execution, job: job?.value ?? null, revision, build };
}

function show(one: Side, other: Side): TemplateResult {
  return html`${facts(one, other)}
  ${panel(
    "payload",
    text.payload,
    values(one.job, other.job, ({ payload }) => payload),
  )}
  ${panel(
    "return-value",
    text.returnValue,
    values(one.execution, other.execution, ({ return_value }) => return_value),
  )}
  ${panel(
    "error",
    text.error,
    differences(one.execution, other.execution, ({ error, message }) => error?.traceback ?? message ?? ""),
  )}
  ${panel(
    "script-and-settings",
    text.code,
    !one.revision || !other.revision
      ? unknown
      : one.execution.agent_id === other.execution.agent_id &&
          one.revision.revision === other.revision.revision &&
          one.revision.script === other.revision.script
        ? html`<p class="faint">${text.sameRevision(one.revision.revision)}</p>`
        : revisionChanges(one.revision, other.revision),
  )}
  ${panel("packages", text.packages, packages(one.build, other.build))}`;
}

const unknown = html`<p class="faint">${text.notKept}</p>`;

function panel(name: string, title: string, content: unknown): TemplateResult {
  const id = `compare-${name}`;
  return html`<section class="panel" aria-labelledby=${id}>
    <header><h2 id=${id}>${title}</h2></header>
    <div class="content">${content}</div>
  </section>`;
}

function facts(one: Side, other: Side): TemplateResult {
  const rows: [string, (side: Side) => unknown][] = [
    [text.execution, ({ execution: { id } }) => idLink(id, `/executions/${id}`)],
    [common.agent, ({ execution }) => html`<agent-link .agentId=${execution.agent_id}></agent-link>`],
    [text.revision, ({ execution }) => html`${execution.agent_revision} ${draftMark(execution)}`],
    [text.build, ({ execution: { build_id } }) => build_id && idLink(build_id, `/builds/${build_id}`)],
    [text.python, ({ build }) => build?.python_version],
    [common.state, ({ execution }) => stateBadge(execution.state)],
    [text.reason, ({ execution: { reason } }) => reason && executionReason(reason).title],
    [text.started, ({ execution }) => timeAgo(execution.started_at)],
    [text.trigger, ({ job }) => job && triggerOf(job)],
    [text.attempt, ({ execution }) => execution.attempt],
    [text.duration, ({ execution }) => execution.finished_at && duration(secondsOf(execution))],
    [text.wait, ({ execution }) => secondsShown(execution.timings?.queued)],
    [text.executorStart, ({ execution }) => (execution.cold_start ? text.cold : text.warm)],
    [text.cpuTime, ({ execution }) => secondsShown(execution.usage?.cpu_seconds)],
    [
      text.peakMemory,
      ({ execution: { usage } }) => (usage?.max_memory_bytes == null ? null : bytes(usage.max_memory_bytes)),
    ],
  ];
  return html`<div class="panel table-wrap" role="region" aria-label=${text.facts} tabindex="0">
    <table class="comparison">
      <thead>
        <tr>
          <td></td>
          <th scope="col">${text.one}</th>
          <th scope="col">${text.other}</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          ([name, value]) =>
            html`<tr>
              <th scope="row">${name}</th>
              <td>${value(one) ?? "–"}</td>
              <td>${value(other) ?? "–"}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

const triggerOf = ({ schedule_id, batch_id }: ExecutorJob): string =>
  schedule_id ? text.triggers.schedule : batch_id ? text.triggers.batch : text.triggers.request;

const secondsShown = (seconds: number | null | undefined): string | null =>
  seconds == null ? null : duration(seconds);

/** The differences of two values, as formatted JSON. */
function values<T>(one: T | null, other: T | null, value: (of: T) => Json): unknown {
  return one && other ? differences(one, other, (of) => toJson(value(of), 2)) : unknown;
}

function differences<T>(one: T, other: T, written: (of: T) => string): TemplateResult {
  const [from, to] = [written(one), written(other)];
  return from === to
    ? html`<p class="faint">${text.noDifferences}</p>`
    : html`<code-diff .from=${from} .to=${to}></code-diff>`;
}

function packages(one: Build | null, other: Build | null): unknown {
  if (!one || !other) {
    return unknown;
  }
  const list = ({ packages }: Build) => packages.map(({ name, version }) => `${name} ${version}`).join("\n");
  return one.id === other.id ? html`<p class="faint">${text.sameBuild}</p>` : differences(one, other, list);
}
