import { html, nothing } from "lit";
import { customElement, query, state } from "lit/decorators.js";
import { get, type Problem } from "../core/api";
import { at, plural } from "../core/format";
import { asProblem } from "../core/load";
import { isOutage, Recovery } from "../core/recovery";
import { queried, router } from "../core/router";
import { offer } from "../core/shortcuts";
import type { SearchMatch, SearchPage } from "../core/types";
import { emptyState, problemNotice } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { grouped, resultGroup } from "../parts/search/search-results";

const PERIODS = [
  ["", "Any time"],
  ["3600", "Last hour"],
  ["86400", "Last day"],
  ["604800", "Last 7 days"],
  ["2592000", "Last 30 days"],
] as const;

const KINDS = [
  ["", "Everything"],
  ["logs", "Logs"],
  ["errors", "Errors"],
  ["payloads", "Payloads"],
  ["results", "Return values"],
] as const;

const LEVELS = [
  ["", "Any level"],
  ["DEBUG", "Debug"],
  ["INFO", "Info"],
  ["WARNING", "Warning"],
  ["ERROR,CRITICAL", "Error"],
] as const;

const STREAMS = [
  ["", "Any stream"],
  ["stdout", "stdout"],
  ["stderr", "stderr"],
  ["logging", "logging"],
  ["system", "Roost"],
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
      offer({ title: "Edit the search", keys: "/", group: "Search", run: () => this.input.select() }),
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
    return html`<div class="page-head"><h1>Search</h1></div>
      <form class="search-form" role="search" @submit=${this.submit}>
        <input
          type="search"
          name="q"
          aria-label="Words in logs, errors, payloads and return values"
          placeholder='connection "reset by peer" order_id=42 time*'
          autocomplete="off"
          spellcheck="false"
          maxlength="200"
          .value=${queried("q")}
        /><button class="primary">Search</button>
      </form>
      <div class="filters" role="group" aria-label="Filters">
        ${this.choice("in", "Where", KINDS)} ${this.choice("level", "Level", LEVELS)}
        ${this.choice("stream", "Stream", STREAMS)} ${this.choice("period", "Time", PERIODS)}
        <input
          aria-label="Agent"
          placeholder="Any agent"
          .value=${queried("agent")}
          @change=${(event: Event) =>
            router.query({ agent: (event.target as HTMLInputElement).value.trim() })}
        />
        ${FILTERS.some(queried)
          ? html`<button
              class="quiet"
              @click=${() => router.query(Object.fromEntries(FILTERS.map((name) => [name, null])))}
            >
              Clear
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
          <span
            >The index is being filled after an upgrade: executions that ended before ${at(from)} are not
            found yet.</span
          >
        </p>`
      : nothing;
  }

  private outcome() {
    if (this.problem) {
      return nothing;
    }
    if (this.searching) {
      return html`<p class="skeleton" role="status">Searching…</p>`;
    }
    if (!queried("q").trim()) {
      return emptyState(
        "Search all executions",
        html`Results have all words, in any order. <code>"Quoted words"</code> follow each other; the last
          word and <code>word*</code> also find longer words.
          <a href="/help/guides/search-logs/" target="_blank" rel="noopener">Help</a>`,
      );
    }
    const more = this.last?.next_cursor;
    if (this.last?.timed_out) {
      return html`<p class="notice waiting" role="status">
        <span
          >The search took too long and ended early. Add a rarer word, an agent or a time, or continue.</span
        >
        <button @click=${() => void this.read(more ?? null)}>Continue</button>
      </p>`;
    }
    if (this.last && !this.found.length) {
      return emptyState("No results", "Use fewer or shorter words, or change the filters.");
    }
    return html`<div class="row" role="status">
      <span class="faint small"
        >${plural(this.found.length, "match", "matches")}${more ? ", newest first" : ""}</span
      >
      ${more ? html`<button @click=${() => void this.read(more)}>Show more</button>` : nothing}
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
