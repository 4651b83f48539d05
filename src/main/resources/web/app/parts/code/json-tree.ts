import { html, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { toJson } from "../../core/api";
import { bytes } from "../../core/format";
import { ExactNumber, type Json } from "../../core/types";
import { text } from "../../text/parts/code";
import { copyText } from "../page/basics";
import { toast } from "../page/dialogs";
import { Part } from "../page/part";
import { symbol } from "../page/shapes";

/** How many members of one array or object are shown at once. */
const STEP = 100;
const LONGEST_TEXT = 300;
const LONGEST_RAW = 200_000;

/** A JSON value as a tree or as text, with exact numbers. */
@customElement("json-tree")
export class JsonTree extends Part {
  @property({ attribute: false }) value: Json = null;
  /** What it is, for example "Return value". */
  @property() name = text.json.value;
  @state() private raw = false;
  @state() private whole = false;

  override render() {
    const isTree = isCompound(this.value);
    return html`<div class="json-tools row">
        ${isTree
          ? html`<button class="quiet" aria-pressed=${this.raw} @click=${() => (this.raw = !this.raw)}>
              ${text.json.raw}
            </button>`
          : nothing}<button class="quiet" aria-label=${text.json.copyAsJson(this.name)} @click=${this.copy}>
          ${text.json.copy}
        </button>
      </div>
      <div class="json-value" role="group" aria-label=${this.name} tabindex="0">
        ${this.raw && isTree
          ? this.text()
          : isTree
            ? html`<json-node .value=${this.value} .open=${true}></json-node>`
            : html`<pre>${scalar(this.value, Infinity)}</pre>`}
      </div>`;
  }

  private text(): TemplateResult {
    const json = toJson(this.value, 2);
    const cut = !this.whole && json.length > LONGEST_RAW;
    return html`<pre>${cut ? json.slice(0, LONGEST_RAW) : json}</pre>
      ${cut
        ? html`<button class="quiet" @click=${() => (this.whole = true)}>
            ${text.json.showAll(bytes(json.length))}
          </button>`
        : nothing}`;
  }

  private async copy(): Promise<void> {
    await copyText(toJson(this.value, 2));
    toast(text.json.copied(this.name));
  }
}

/** One value of the tree, with its key; members are rendered when it is unfolded. */
@customElement("json-node")
export class JsonNode extends Part {
  @property({ attribute: false }) value: Json = null;
  /** The key or index; null: the whole. */
  @property({ attribute: false }) key: string | number | null = null;
  @property({ type: Boolean }) open = false;
  @state() private shown = STEP;
  @state() private whole = false;

  override render(): TemplateResult {
    const { value } = this;
    if (!isCompound(value)) {
      const isCut = typeof value === "string" && value.length > LONGEST_TEXT && !this.whole;
      return html`<div class="json-line">
        ${this.keyText()}${scalar(value, this.whole ? Infinity : LONGEST_TEXT)}${isCut
          ? html`<button class="quiet" @click=${() => (this.whole = true)}>
              ${text.json.showCharacters(value.length)}
            </button>`
          : nothing}
      </div>`;
    }
    const size = Array.isArray(value) ? value.length : Object.keys(value).length;
    const [before, after] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
    if (size === 0) {
      return html`<div class="json-line">${this.keyText()}${before}${after}</div>`;
    }
    const contents = Array.isArray(value) ? text.json.items(size) : text.json.keys(size);
    return html`<button
        class="json-line json-fold"
        aria-expanded=${this.open}
        @click=${() => (this.open = !this.open)}
      >
        <span class="json-arrow">${symbol(this.open ? "unfolded" : "folded")}</span
        >${this.keyText()}${before}${this.open ? nothing : html`…${after}`}
        <span class="faint">${contents}</span>
      </button>
      ${this.open ? this.members(value, after) : nothing}`;
  }

  private members(value: Json[] | Record<string, Json>, after: string | undefined): TemplateResult {
    const entries: [string | number, Json][] = Array.isArray(value)
      ? value.slice(0, this.shown).map((item, i) => [i, item])
      : Object.entries(value).slice(0, this.shown);
    const rest = (Array.isArray(value) ? value.length : Object.keys(value).length) - entries.length;
    return html`<ul class="json-members">
        ${entries.map(([key, item]) => html`<li><json-node .key=${key} .value=${item}></json-node></li>`)}
        ${rest > 0
          ? html`<li>
              <button class="quiet" @click=${() => (this.shown += STEP * 10)}>
                ${text.json.showMore(Math.min(rest, STEP * 10), rest)}
              </button>
            </li>`
          : nothing}
      </ul>
      <div class="json-line">${after}</div>`;
  }

  private keyText(): unknown {
    return this.key === null
      ? nothing
      : typeof this.key === "number"
        ? html`<span class="json-index">${this.key}</span>`
        : html`<span class="json-key">${JSON.stringify(this.key)}</span>: `;
  }
}

const isCompound = (value: Json): value is Json[] | Record<string, Json> =>
  value !== null && typeof value === "object" && !(value instanceof ExactNumber);

function scalar(value: Json, longest: number): TemplateResult {
  const json = toJson(value);
  const kind = typeof value === "string" ? "string" : value instanceof ExactNumber ? "number" : typeof value;
  return html`<span class="json-${value === null ? "null" : kind}"
    >${json.length > longest ? json.slice(0, longest) + "…" : json}</span
  >`;
}

declare global {
  interface HTMLElementTagNameMap {
    "json-tree": JsonTree;
    "json-node": JsonNode;
  }
}
