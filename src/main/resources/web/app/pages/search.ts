import { html, nothing } from "lit";
import { customElement, query, state } from "lit/decorators.js";
import { get, type Problem } from "../core/api";
import { at } from "../core/format";
import { asProblem } from "../core/load";
import { isOutage, Recovery } from "../core/recovery";
import { queried, router } from "../core/router";
import { offer } from "../core/shortcuts";
import type { SearchMatch, SearchPage } from "../core/types";
import { emptyState, problemNotice } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { grouped, resultGroup } from "../parts/search/search-results";
import { common } from "../text/common";
import { text } from "../text/pages/search";

const PERIODS = [
  ["", text.times.any],
  ["3600", text.times.lastHour],
  ["86400", text.times.lastDay],
  ["604800", text.times.lastWeek],
  ["2592000", text.times.lastMonth],
] as const;

const KINDS = [
  ["", text.kinds.any],
  ["logs", text.kinds.logs],
  ["errors", text.kinds.errors],
  ["payloads", text.kinds.payloads],
  ["results", text.kinds.results],
] as const;

const LEVELS = [
  ["", text.levels.any],
  ["DEBUG", text.levels.debug],
  ["INFO", text.levels.info],
  ["WARNING", text.levels.warning],
  ["ERROR,CRITICAL", text.levels.error],
] as const;

const STREAMS = [
  ["", text.streams.any],
  ["stdout", text.streams.stdout],
  ["stderr", text.streams.stderr],
  ["logging", text.streams.logging],
  ["system", text.streams.system],
] as const;

const FILTERS = ["in", "level", "stream", "agent", "period"] as const;

/** The search over logs, errors, payloads and return values, with the query and filters in the address. */
@customElement("search-page")
export class SearchPageElement extends Part {
  @state() private found: SearchMatch[] = [];
  @state() private last: SearchPage | null = null;
  @state() private problem: Problem | null = null;
  @state() private searching = false;
  @query("input[type=search]") private input!: HTMLInputElement;
  private searched = "";
  private reading: AbortController | null = null;
  private readonly ends: (() => void)[] = [];

  constructor() {
    super();
    new Recovery(this, () => isOutage(this.problem) && this.again());
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.ends.push(
      router.onMove(() => this.searched !== location.search && this.again()),
      offer({
        title: text.shortcuts.edit,
        keys: "/",
        group: text.shortcuts.group,
        run: () => this.input.select(),
      }),
    );
    this.again();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.ends.splice(0).forEach((end) => end());
    this.reading?.abort();
  }

  override firstUpdated(): void {
    if (!queried("q")) {
      this.input.focus();
    }
  }

  private again(): void {
    this.searched = location.search;
    this.found = [];
    this.last = null;
    void this.read(null);
  }

  private async read(cursor: string | null): Promise<void> {
    this.reading?.abort();
    const reading = new AbortController();
    this.reading = reading;
    this.problem = null;
    this.searching = queried("q").trim() !== "";
    if (!this.searching) {
      return;
    }
    const period = Number(queried("period"));
    const since = period ? new Date(Date.now() - 1000 * period).toISOString() : null;
    const filters = Object.fromEntries(
      ["q", "in", "level", "stream", "agent"].map((name) => [name, queried(name) || null]),
    );
    try {
      const page = await get<SearchPage>("/search", { ...filters, since, cursor }, reading.signal);
      this.found = [...this.found, ...page.data];
      this.last = page;
    } catch (e) {
      if (reading.signal.aborted) {
        return;
      }
      this.problem = asProblem(e);
    }
    this.searching = false;
  }

  override render() {
    return html`<div class="page-head"><h1>${text.title}</h1></div>
      <form class="search-form" role="search" @submit=${this.submit}>
        <input
          type="search"
          name="q"
          aria-label=${text.words}
          placeholder=${text.example}
          autocomplete="off"
          spellcheck="false"
          maxlength="200"
          .value=${queried("q")}
        /><button class="primary">${text.search}</button>
      </form>
      <div class="filters" role="group" aria-label=${text.filters}>
        ${this.choice("in", text.where, KINDS)} ${this.choice("level", text.level, LEVELS)}
        ${this.choice("stream", text.stream, STREAMS)} ${this.choice("period", text.time, PERIODS)}
        <input
          aria-label=${common.agent}
          placeholder=${text.anyAgent}
          .value=${queried("agent")}
          @change=${(event: Event) =>
            router.query({ agent: (event.target as HTMLInputElement).value.trim() })}
        />
        ${FILTERS.some(queried)
          ? html`<button
              class="quiet"
              @click=${() => router.query(Object.fromEntries(FILTERS.map((name) => [name, null])))}
            >
              ${text.clear}
            </button>`
          : nothing}
      </div>
      ${this.incomplete()} ${problemNotice(this.problem, () => this.again())}
      <div class="column" aria-busy=${this.searching}>
        ${grouped(this.found).map(resultGroup)} ${this.outcome()}
      </div>`;
  }

  private choice(name: string, label: string, choices: readonly (readonly [string, string])[]) {
    return html`<select
      aria-label=${label}
      @change=${(event: Event) => router.query({ [name]: (event.target as HTMLSelectElement).value })}
    >
      ${choices.map(
        ([value, title]) =>
          html`<option value=${value} .selected=${queried(name) === value}>${title}</option>`,
      )}
    </select>`;
  }

  private incomplete() {
    const from = this.last?.indexed_from;
    return from
      ? html`<p class="notice waiting">
          <span>${text.filling(at(from))}</span>
        </p>`
      : nothing;
  }

  private outcome() {
    if (this.problem) {
      return nothing;
    }
    if (this.searching) {
      return html`<p class="skeleton" role="status">${text.searching}</p>`;
    }
    if (!queried("q").trim()) {
      return emptyState(
        text.searchAll,
        html`${text.howTo}
          <a href="/help/guides/search-logs/" target="_blank" rel="noopener">${text.help}</a>`,
      );
    }
    const more = this.last?.next_cursor;
    if (this.last?.timed_out) {
      return html`<p class="notice waiting" role="status">
        <span>${text.endedEarly}</span>
        <button @click=${() => void this.read(more ?? null)}>${text.goOn}</button>
      </p>`;
    }
    if (this.last && !this.found.length) {
      return emptyState(text.noResults, text.fewerWords);
    }
    return html`<div class="row" role="status">
      <span class="faint small"
        >${more ? text.newestMatches(this.found.length) : text.matches(this.found.length)}</span
      >
      ${more ? html`<button @click=${() => void this.read(more)}>${common.showMore}</button>` : nothing}
    </div>`;
  }

  private submit(event: SubmitEvent): void {
    event.preventDefault();
    const q = this.input.value.trim();
    if (q === queried("q")) {
      this.again();
    } else {
      const target = new URL(location.href);
      target.searchParams.set("q", q);
      void router.go(target.href);
    }
  }
}
