import { html, nothing, type TemplateResult } from "lit";
import { shortId } from "../../core/format";
import type { Execution } from "../../core/types";
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
    title: "Agent",
    cell: ({ agent_id }) => html`<agent-link .agentId=${agent_id}></agent-link>`,
    kind: "agent plain",
  };
  return [
    {
      key: "state",
      title: "State",
      cell: (row) => html`${selection?.box(row, shortId(row.id))}${executionLink(row)}${draftMark(row)}`,
    },
    ...(withAgent ? [agent] : []),
    {
      key: "started",
      sort: "-started",
      title: "Started",
      kind: "plain",
      cell: ({ id, started_at }) =>
        html`<a class="quiet-link" href="/executions/${id}">${timeAgo(started_at)}</a>`,
    },
    {
      key: "duration",
      sort: "-duration",
      title: "Duration",
      cell: (row) => durationBar(row, longest),
      number: true,
      kind: "duration plain",
    },
    { key: "trigger", title: "Trigger", cell: trigger, kind: "trigger plain" },
    {
      key: "revision",
      title: "Revision",
      cell: (row) => html`<span class="number">${row.agent_revision}</span>`,
      number: true,
      kind: "widest",
    },
    {
      key: "attempt",
      title: "Attempt",
      cell: ({ attempt }) => (attempt > 1 ? html`<span class="number">${attempt}</span>` : nothing),
      number: true,
    },
    { key: "payload", title: "Payload", cell: payload, kind: "payload wide" },
    { key: "reason", title: "Reason", cell: why, kind: "rest plain" },
    {
      key: "id",
      title: "ID",
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
    return html`<span class="cut" title="Schedule ${schedule_name ?? schedule_id}"
      >${schedule_name ?? "schedule"}</span
    >`;
  }
  return html`<span class="faint" title=${batch_id ?? nothing}>${batch_id ? "batch" : "on demand"}</span>`;
}

function payload({ submission }: Execution): unknown {
  const text = submission?.payload_preview ?? null;
  return text === null ? nothing : html`<code class="cut" title=${text}>${text.replace(/\s+/g, " ")}</code>`;
}

const why = ({ reason, message }: Execution): unknown =>
  reason === null ? nothing : reasonCell(executionReason(reason), reason, message);
