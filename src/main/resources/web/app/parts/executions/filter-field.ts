import { html, nothing } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { get } from "../../core/api";
import type { Agent, AgentTags, Page } from "../../core/types";
import { text } from "../../text/parts/executions";
import { Part } from "../page/part";
import { completions, parse, type Completion } from "./execution-filter";

/** Milliseconds without input before the filter applies. */
const SETTLE = 200;
const MOST = 10;

/** The filter of executions as text, with completion. Fires `filter` with the text as its detail. */
@customElement("filter-field")
export class FilterField extends Part {
  /** The text that applies. */
  @property() value = "";
  @state() private text = "";
  @state() private open = false;
  /** -1: none, so that Enter applies the filter. */
  @state() private chosen = -1;
  @state() private agents: string[] = [];
  @state() private tags: string[] = [];
  @query("input") private input!: HTMLInputElement;
  private timer: ReturnType<typeof setTimeout> | undefined;

  override willUpdate(changed: Map<string, unknown>): void {
    if (changed.has("value") && this.value !== this.text.trim()) {
      this.text = this.value;
    }
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.timer);
  }

  override render() {
    const offers = this.open ? completions(this.text, this.agents, this.tags).slice(0, MOST) : [];
    const { mistakes } = parse(this.text);
    return html`<input
        type="search"
        role="combobox"
        class="search mono"
        aria-label=${text.filterField.label}
        aria-expanded=${offers.length > 0}
        aria-controls="filter-offers"
        aria-autocomplete="list"
        aria-activedescendant=${offers[this.chosen] ? `filter-offer-${this.chosen}` : nothing}
        aria-describedby="filter-mistakes"
        placeholder=${text.filterField.placeholder}
        autocomplete="off"
        spellcheck="false"
        .value=${this.text}
        @input=${() => this.typed(this.input.value)}
        @focus=${() => (this.open = true)}
        @blur=${() => (this.open = false)}
        @keydown=${(event: KeyboardEvent) => this.key(event, offers)}
      />
      <ul
        id="filter-offers"
        role="listbox"
        aria-label=${text.filterField.completions}
        ?hidden=${offers.length === 0}
      >
        ${offers.map(
          (offer, i) =>
            html`<li
              role="option"
              id="filter-offer-${i}"
              aria-selected=${i === this.chosen}
              @pointerdown=${(event: Event) => event.preventDefault()}
              @click=${() => this.take(offer)}
            >
              <span class="mono grow cut">${offer.title}</span><span class="faint small">${offer.hint}</span>
            </li>`,
        )}
      </ul>
      <p id="filter-mistakes" class="mistake small" role="status">${mistakes[0] ?? nothing}</p>`;
  }

  private typed(text: string): void {
    this.text = text;
    this.open = true;
    this.chosen = -1;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.settled(), SETTLE);
  }

  private async settled(): Promise<void> {
    this.apply();
    const name = /agent:(\S*)$/.exec(this.text)?.[1];
    if (name !== undefined) {
      const page = await get<Page<Agent>>("/agents", { q: name, limit: MOST }).catch(() => null);
      this.agents = page?.data.map((agent) => agent.name) ?? [];
    }
    if (/tag:\S*$/.test(this.text)) {
      const known = await get<AgentTags>("/agents/tags").catch(() => null);
      this.tags = known?.data.map(({ tag }) => tag) ?? [];
    }
  }

  private apply(): void {
    clearTimeout(this.timer);
    const text = this.text.trim();
    if (text !== this.value && parse(text).mistakes.length === 0) {
      this.dispatchEvent(new CustomEvent("filter", { detail: text }));
    }
  }

  private take({ text }: Completion): void {
    this.typed(text);
    this.input.focus();
  }

  private key(event: KeyboardEvent, offers: Completion[]): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && offers.length) {
      event.preventDefault();
      this.chosen = (this.chosen + step + offers.length) % offers.length;
    } else if (event.key === "Enter" || (event.key === "Tab" && this.chosen >= 0)) {
      event.preventDefault();
      const offer = offers[this.chosen];
      if (offer) {
        this.take(offer);
      } else {
        this.open = false;
        this.apply();
      }
    } else if (event.key === "Escape" && this.open && offers.length) {
      event.preventDefault();
      this.open = false;
    }
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "filter-field": FilterField;
  }
}
