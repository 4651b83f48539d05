import { html, nothing, type TemplateResult } from "lit";
import { shortId } from "../../core/format";
import type { Execution } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/executions";
import "../agents/agent-link";
import { stateBadge, timeAgo } from "../page/basics";
import type { Selection } from "../page/selection";
import type { Column } from "../page/tables";
import { draftMark } from "./draft-runs";
import { executionReason, reasonCell } from "./reasons";
import { runDuration, secondsOf } from "./execution-result";

/**
 * The columns of a list of executions.
 *
 * @param rows for the bars, whose lengths are relative to the longest duration of these
 */
export function executionColumns(
  rows: readonly Execution[],
  withAgent: boolean,
  selection: Selection<Execution> | null,
): Column<Execution>[] {
  const longest = Math.max(0, ...rows.filter((row) => row.finished_at !== null).map(secondsOf));
  const agent: Column<Execution> = {
    key: "agent",
    title: common.agent,
    cell: ({ agent_id }) => html`<agent-link .agentId=${agent_id}></agent-link>`,
    kind: "agent plain",
  };
  return [
    {
      key: "state",
      title: common.state,
      cell: (row) => html`${selection?.box(row, shortId(row.id))}${executionLink(row)}${draftMark(row)}`,
    },
    ...(withAgent ? [agent] : []),
    {
      key: "started",
      sort: "-started",
      title: text.columns.started,
      kind: "plain",
      cell: ({ id, started_at }) =>
        html`<a class="quiet-link" href="/executions/${id}">${timeAgo(started_at)}</a>`,
    },
    {
      key: "duration",
      sort: "-duration",
      title: text.columns.duration,
      cell: (row) => durationBar(row, longest),
      number: true,
      kind: "duration plain",
    },
    { key: "trigger", title: text.columns.trigger, cell: trigger, kind: "trigger plain" },
    {
      key: "revision",
      title: text.columns.revision,
      cell: (row) => html`<span class="number">${row.agent_revision}</span>`,
      number: true,
      kind: "widest",
    },
    {
      key: "attempt",
      title: text.columns.attempt,
      cell: ({ attempt }) => (attempt > 1 ? html`<span class="number">${attempt}</span>` : nothing),
      number: true,
    },
    { key: "payload", title: text.payloads.title, cell: payload, kind: "payload wide" },
    { key: "reason", title: text.columns.reason, cell: why, kind: "rest plain" },
    {
      key: "id",
      title: text.columns.id,
      cell: ({ id }) => html`<span class="mono faint" title=${id}>${shortId(id)}</span>`,
      kind: "widest",
    },
  ];
}

const executionLink = (execution: Execution): TemplateResult =>
  html`<a class="state-link" href="/executions/${execution.id}" title=${execution.id}
    >${stateBadge(execution.state)}</a
  >`;

function durationBar(execution: Execution, longest: number): TemplateResult {
  const share = execution.finished_at === null || longest === 0 ? 0 : secondsOf(execution) / longest;
  return html`${runDuration(execution)}<span
      class="bar"
      aria-hidden="true"
      .style=${`--share: ${share}`}
    ></span>`;
}

function trigger({ submission }: Execution): unknown {
  if (!submission) {
    return nothing;
  }
  const { schedule_id, schedule_name, batch_id } = submission;
  if (schedule_id) {
    return html`<span class="cut" title=${text.triggers.scheduleTitle(schedule_name ?? schedule_id)}
      >${schedule_name ?? text.triggers.schedule}</span
    >`;
  }
  return html`<span class="faint" title=${batch_id ?? nothing}
    >${batch_id ? text.triggers.batch : text.triggers.onDemand}</span
  >`;
}

function payload({ submission }: Execution): unknown {
  const preview = submission?.payload_preview ?? null;
  return preview === null
    ? nothing
    : html`<code class="cut" title=${preview}>${preview.replace(/\s+/g, " ")}</code>`;
}

const why = ({ reason, message }: Execution): unknown =>
  reason === null ? nothing : reasonCell(executionReason(reason), reason, message);
