import { html, nothing, type TemplateResult } from "lit";
import { clockTime } from "../../core/format";
import type { SearchLine, SearchMatch } from "../../core/types";
import { text } from "../../text/parts/search";
import { idLink, timeAgo } from "../page/basics";
import { styled } from "../logs/log-lines";

/** The class of a line's colour, as in the log of an execution. */
function colour(stream: string | null, level: string | null): string {
  if (stream === "stderr" || level === "ERROR" || level === "CRITICAL") {
    return "error";
  }
  return level === "WARNING" ? "warning" : level === "DEBUG" || stream === "system" ? "debug" : "";
}

/** One row: the matching line, or one around it. */
interface Row {
  seq: number | null;
  time: string;
  stream: string | null;
  level: string | null;
  content: unknown;
  match: SearchMatch | null;
}

const contextRow = (line: SearchLine): Row => ({ ...line, content: styled(line.text).text, match: null });

const matchRow = (match: SearchMatch): Row => ({
  ...match,
  content: html`${match.fragments.map((fragment) =>
    fragment.match ? html`<mark>${fragment.text}</mark>` : styled(fragment.text).text,
  )}${match.truncated ? "…" : nothing}`,
  match,
});

/** The lines of an execution that were found and those around them, in order, each once. */
function rowsOf(matches: SearchMatch[]): Row[] {
  const rows = new Map<number, Row>();
  const texts: Row[] = [];
  for (const match of matches) {
    if (match.seq === null) {
      texts.push(matchRow(match));
      continue;
    }
    for (const line of [...match.before, ...match.after]) {
      if (!rows.has(line.seq)) {
        rows.set(line.seq, contextRow(line));
      }
    }
    rows.set(match.seq, matchRow(match));
  }
  return [...texts, ...[...rows.values()].sort((a, b) => a.seq! - b.seq!)];
}

function row(line: Row, previous: Row | undefined): TemplateResult {
  const gap = line.seq !== null && previous?.seq != null && line.seq > previous.seq + 1;
  const place = line.seq === null ? text.places[line.match!.in] : String(line.seq);
  const classes = [line.match ? "found" : "near", colour(line.stream, line.level), gap ? "gap" : ""];
  return html`<li class=${classes.filter(Boolean).join(" ")}>
    ${line.match
      ? html`<a
          class="number"
          href=${line.match.path}
          aria-label=${line.seq === null ? text.open[line.match.in] : text.openLine(line.seq)}
          title=${clockTime(line.time)}
          >${place}</a
        >`
      : html`<span class="number faint">${place}</span>`}
    <code>${line.content}</code>
  </li>`;
}

/** Matches that follow each other and belong to one execution. */
export function grouped(matches: SearchMatch[]): SearchMatch[][] {
  const groups = new Map<string, SearchMatch[]>();
  for (const match of matches) {
    const group = groups.get(match.execution_id);
    if (group) {
      group.push(match);
    } else {
      groups.set(match.execution_id, [match]);
    }
  }
  return [...groups.values()];
}

/** The matches of one execution. */
export function resultGroup(matches: SearchMatch[]): TemplateResult {
  const { execution_id, agent_id, agent_name, time } = matches[0]!;
  const rows = rowsOf(matches);
  return html`<section class="panel tight search-group" aria-label=${text.execution(execution_id)}>
    <header>
      <h2><a href="/agents/${agent_id}">${agent_name ?? agent_id}</a></h2>
      <span class="row">${idLink(execution_id, `/executions/${execution_id}`)} ${timeAgo(time)}</span>
    </header>
    <ol class="search-lines">
      ${rows.map((line, i) => row(line, rows[i - 1]))}
    </ol>
  </section>`;
}
