import { css, html, LitElement, nothing, type PropertyValues } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { masked } from "../../core/variables";
import { text } from "../../text/parts/code";
import type { CodeView } from "./code-view";
import type { Fix, Mark } from "./marks";
import { NO_CONTEXT, type PythonContext } from "./python-context";

/** Pages create equal marks on each render. */
const differ = (one: unknown, other: unknown): boolean => JSON.stringify(one) !== JSON.stringify(other);

/** What can change while an editor is shown. */
const SETTINGS = ["readonly", "label", "placeholder", "masked"] as const;

export type Language = "python" | "json" | "text";

/**
 * A text editor for code, with line numbers and remarks at lines. It fires `change` when a person has
 * changed `value`, `check` when `remarks` (its own, about Python and JSON) are new, `fix` with the chosen Fix as its
 * detail when that isn't a change of its text, and `run`, `save` and `format` for their shortcuts; a page that takes
 * those prevents their default.
 *
 * It has a shadow root, so that the editor's styles can be adopted under the dashboard's content
 * security policy. Its code is loaded when the first editor is shown; the text is readable before.
 */
@customElement("code-editor")
export class CodeEditor extends LitElement {
  static override styles = css`
    :host {
      display: flex;
      flex-direction: column;
      position: relative;
      min-width: 0;
      min-height: 0;
      overflow: hidden;
      font-family: var(--mono);
      font-size: var(--size-table);
      font-variant-ligatures: none;
      line-height: 1.55;
      background: var(--surface);
    }
    :host(:focus-within)::after {
      content: "";
      position: absolute;
      inset: 0;
      z-index: 300;
      border: 2px solid var(--accent);
      pointer-events: none;
    }
    .view,
    pre {
      flex: 1;
      min-width: 0;
      min-height: 0;
      margin: 0;
    }
    .view {
      display: flex;
      flex-direction: column;
    }
    .view:empty {
      display: none;
    }
    pre {
      padding: 6px 8px 6px 44px;
      overflow: auto;
      font: inherit;
    }
    .help {
      padding: 0 8px;
      border-top: 1px solid var(--line);
      color: var(--faint);
      font: var(--size-small) / var(--line-height) var(--sans);
    }
    .unseen {
      position: absolute;
      width: 1px;
      height: 1px;
      overflow: hidden;
      clip-path: inset(50%);
    }
  `;

  @property() value = "";
  @property() language: Language = "text";
  @property() label = text.editor.label;
  @property() placeholder = "";
  @property({ type: Boolean }) readonly = false;
  /** The values of lines KEY=VALUE are hidden. */
  @property({ type: Boolean }) masked = false;
  /** The height follows the text. */
  @property({ type: Boolean, attribute: "auto-height" }) autoHeight = false;
  @property({ attribute: false, hasChanged: differ }) marks: readonly Mark[] = [];
  /** A line that is scrolled to the middle of the editor when it is out of sight; 0: none. */
  @property({ type: Number }) line = 0;
  /** Of Python: what is known of the environment that the script will run in. */
  @property({ attribute: false }) python: PythonContext = NO_CONTEXT;
  /** The editor's own checks of the text. */
  remarks: readonly Mark[] = [];

  /** Tab was pressed and has indented, which a person who wants to leave did not expect. */
  @state() private indented = false;
  @state() private failed = false;
  @query(".view") private holder!: HTMLElement;
  private view: CodeView | null = null;
  /** Where to go as soon as the editor is loaded. */
  private place: [line: number, column: number] | null = null;

  override async firstUpdated(): Promise<void> {
    try {
      const { CodeView } = await import("./code-view");
      if (this.isConnected) {
        this.mount(CodeView);
      }
    } catch {
      this.failed = true;
    }
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.hasUpdated && !this.view) {
      void this.firstUpdated();
    }
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.view?.destroy();
    this.view = null;
  }

  override focus(): void {
    this.view?.focus();
  }

  /** Scrolls to a position and puts the cursor there. */
  goTo(line: number, column = 1): void {
    if (this.view) {
      this.view.goTo(line, column);
    } else {
      this.place = [line, column];
    }
  }

  /** Makes a change that one of the remarks offers. */
  fix(fix: Fix): void {
    this.view?.fix(fix);
  }

  /** Formats the script; rejected when it is no Python, or when the formatter can't be loaded. */
  async format(): Promise<void> {
    await this.view?.format();
  }

  override render() {
    return html`${this.view ? nothing : html`<pre>${this.failed ? text.editor.notLoaded : this.text()}</pre>`}
      <div class="view"></div>
      <span id="help" class=${this.indented ? "help" : "unseen"}>${this.help()}</span>`;
  }

  private text(): string {
    return this.masked ? masked(this.value) : this.value;
  }

  private help(): string {
    if (this.readonly) {
      return "";
    }
    return this.indented ? text.editor.tabHasIndented : text.editor.tabIndents;
  }

  override updated(changed: PropertyValues<this>): void {
    if (!this.view) {
      return;
    }
    if (changed.has("value")) {
      this.view.show(this.value);
    }
    // A page that has found the same lines in an edited text gives equal marks.
    if (changed.has("marks") || (changed.has("value") && this.marks.length)) {
      this.view.mark(this.marks);
    }
    if (changed.has("line") && this.line) {
      this.view.centre(this.line);
    }
    if (SETTINGS.some((name) => changed.has(name))) {
      this.view.configure(this);
    }
    if (changed.has("python")) {
      this.view.recheck();
    }
  }

  private mount(View: typeof CodeView): void {
    this.view = new View(this.holder, this.renderRoot as ShadowRoot, this, {
      changed: (value) => {
        this.value = value;
        this.dispatchEvent(new Event("change"));
      },
      remarked: (remarks) => {
        if (differ(remarks, this.remarks)) {
          this.remarks = remarks;
          this.dispatchEvent(new Event("check"));
        }
      },
      pressed: (name) => !this.dispatchEvent(new Event(name, { bubbles: true, cancelable: true })),
      fixed: (fix) => this.dispatchEvent(new CustomEvent("fix", { detail: fix })),
      indented: (indented) => (this.indented = indented),
    });
    this.view.mark(this.marks);
    if (this.place) {
      this.view.goTo(...this.place);
      this.place = null;
    } else if (this.line) {
      this.view.centre(this.line);
    }
    this.requestUpdate();
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "code-editor": CodeEditor;
  }
}
