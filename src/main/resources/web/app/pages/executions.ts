import { html, nothing } from "lit";
import { customElement } from "lit/decorators.js";
import { queried, router } from "../core/router";
import {
  FILTERED_STATES,
  ofAddress,
  parse,
  queryOf,
  valuesOf,
  withValue,
  type Token,
} from "../parts/executions/execution-filter";
import { executionColumns } from "../parts/executions/execution-columns";
import "../parts/executions/execution-table";
import "../parts/executions/filter-field";
import { executionReason, executionReasons } from "../parts/executions/reasons";
import { columnChoice, sortChoice } from "../parts/page/list-tools";
import { Part } from "../parts/page/part";
import "../parts/page/saved-views";
import { stateChips } from "../parts/page/state-chips";
import { text } from "../text/pages/executions";

const RANGES = [
  ["", text.times.any],
  ["1h", text.times.lastHour],
  ["24h", text.times.lastDay],
  ["7d", text.times.lastWeek],
] as const;

const ORDERS = [
  ["", text.orders.newest],
  ["started", text.orders.oldest],
  ["-duration", text.orders.longest],
  ["duration", text.orders.shortest],
] as const;

/** The names of the columns, for the choice of what is shown. */
const COLUMNS = executionColumns([], true, null);

/** Parameters that addresses had before the filter became one text. */
const OLDER = { state: null, agent_id: null, reason: null, hours: null, after: null, before: null };

/** Executions and queued jobs; the address has the filter. */
@customElement("executions-page")
export class ExecutionsPage extends Part {
  private text = "";
  private sort = "";
  private columns = "";
  private tokens: Token[] = [];
  /** The filter as the API has it: lengths of time count from when the text was written. */
  private filters = queryOf([], 0);
  private endMoves: (() => void) | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    this.endMoves = router.onMove(() => this.look());
    this.look();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.endMoves?.();
  }

  override render() {
    const states = valuesOf(this.tokens, "state");
    const runs = states.filter((name) => name !== "queued");
    // Queued and suspended jobs have no reason, revision or start yet.
    const { agent, tag, ...others } = this.filters;
    const shows = (state: string) =>
      states.length ? states.includes(state) : !Object.values(others).some(Boolean);
    return html`<div class="page-head"><h1>${text.title}</h1></div>
      <div class="filters" role="group" aria-label=${text.filters}>
        <filter-field
          .value=${this.text}
          @filter=${(event: CustomEvent<string>) => this.filter(event.detail)}
        ></filter-field>
        ${stateChips(FILTERED_STATES, states, (state) => this.set("state", state))}
        <select aria-label=${text.reason} @change=${this.selected("reason")}>
          <option value="" .selected=${!others.reason}>${text.anyReason}</option>
          ${executionReasons.map(
            (reason) =>
              html`<option value=${reason} .selected=${others.reason === reason}>
                ${executionReason(reason).title}
              </option>`,
          )}
        </select>
        ${this.times()} ${sortChoice(ORDERS, this.sort)} ${columnChoice(COLUMNS, this.columns)}
        <saved-views
          list="executions"
          .current=${{ filter: this.text, sort: this.sort, columns: this.columns, grouped: false }}
        ></saved-views>
        ${this.text
          ? html`<button class="quiet" @click=${() => this.filter("")}>${text.clear}</button>`
          : nothing}
      </div>
      <execution-table
        .filters=${{ ...others, agent, tag, state: runs.join(",") }}
        .sort=${this.sort}
        .columns=${this.columns}
        .queued=${shows("queued")}
        .suspended=${shows("suspended")}
        .open=${states.filter((state) => state === "queued" || state === "suspended")}
        .executions=${!states.length || runs.length > 0}
      ></execution-table>`;
  }

  private times() {
    const since = valuesOf(this.tokens, "since").at(-1) ?? "";
    const before = valuesOf(this.tokens, "before").at(-1) ?? "";
    const other = before !== "" || !RANGES.some(([value]) => value === since);
    return html`<select aria-label=${text.time} @change=${this.selected("since")}>
      ${RANGES.map(
        ([value, name]) =>
          html`<option value=${value} .selected=${!other && since === value}>${name}</option>`,
      )}
      ${other ? html`<option value=${since} .selected=${true}>${text.times.other}</option>` : nothing}
    </select>`;
  }

  private look(): void {
    if (location.pathname !== "/executions") {
      return;
    }
    const filter = ofAddress(queried);
    const parsed = parse(filter);
    if (this.sort !== queried("sort") || this.columns !== queried("columns")) {
      this.sort = queried("sort");
      this.columns = queried("columns");
      this.requestUpdate();
    }
    if (filter !== this.text || !this.hasUpdated) {
      this.text = filter;
      this.tokens = parsed.tokens;
      this.filters = queryOf(parsed.tokens, Date.now());
      this.requestUpdate();
    }
  }

  private filter(q: string): void {
    router.query({ ...OLDER, q });
  }

  private set(key: string, value: string): void {
    this.filter(withValue(this.text, key, value));
  }

  private selected(key: string) {
    return (event: Event) => {
      const { value } = event.target as HTMLSelectElement;
      this.filter(withValue(key === "since" ? withValue(this.text, "before", "") : this.text, key, value));
    };
  }
}
