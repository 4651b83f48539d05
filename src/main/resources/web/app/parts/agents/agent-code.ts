import { html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, queryAll, state } from "lit/decorators.js";
import type { Problem } from "../../core/api";
import { signedIn } from "../../core/session";
import { CODE_NAMES, type Code } from "./agent-edits";
import "../code/code-editor";
import type { CodeEditor } from "../code/code-editor";
import { mistakeList, mistakesOf } from "../forms/fields";
import { marksOf, type Mark } from "../code/marks";
import { Part } from "../page/part";
import { showValues } from "./variables-diff";

type Text = "script" | "requirements" | "env_vars";

const HINTS: Record<Text, unknown> = {
  script: "",
  requirements: html`One package per line, <code>name==version</code>. Installed before the first run.`,
  env_vars: html`One per line, <code>KEY=VALUE</code>; the script reads <code>os.environ["KEY"]</code>.`,
};

const EXAMPLES: Record<Text, string> = {
  script: "def main(request, store):\n    return request.payload",
  requirements: "requests==2.32.5",
  env_vars: "API_TOKEN=…",
};

/** The editors of an agent's code. Fires `change` with the changed fields as its detail. */
@customElement("agent-code")
export class AgentCode extends Part {
  @property({ attribute: false }) code!: Code;
  @property({ type: Boolean }) readonly = false;
  /** Why saving failed; its mistakes are shown at their fields until those are edited. */
  @property({ attribute: false }) problem: Problem | null = null;
  /** Where the latest run failed. */
  @property({ attribute: false }) marks: readonly Mark[] = [];
  /** The requirements that couldn't be installed, in the text as it is now. */
  @property({ attribute: false }) requirementMarks: readonly Mark[] = [];
  /** Buttons at the end of the header. */
  @property({ attribute: false }) actions: unknown = nothing;
  @state() private edited = new Set<keyof Code>();
  @state() private valuesShown = false;
  @queryAll("code-editor") private editors!: NodeListOf<CodeEditor>;

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("problem") || changed.has("marks")) {
      this.edited = new Set();
    }
  }

  override updated(changed: PropertyValues<this>): void {
    if (changed.has("problem") && this.problem) {
      this.showFirstMistake(this.problem);
    }
  }

  /** Shows a line of the script. */
  goTo(line: number, column?: number): void {
    this.editor("script").goTo(line, column);
  }

  override render() {
    return html`<section class="panel script" aria-labelledby="script-title">
        <header>
          <h2 id="script-title">Script</h2>
          ${this.versions()} ${this.actions}
        </header>
        ${this.text("script")} ${this.failures()} ${this.warnings()}
      </section>
      <div class="texts">${this.side("requirements")} ${this.side("env_vars")}</div>`;
  }

  private side(name: Text): TemplateResult {
    return html`<section class="panel" aria-labelledby="${name}-title">
      <header>
        <h2 id="${name}-title">${CODE_NAMES[name]}</h2>
        ${name === "env_vars" && !this.readonly
          ? showValues(this.valuesShown, () => (this.valuesShown = !this.valuesShown))
          : nothing}
      </header>
      ${this.text(name)}
      <p class="hint faint small">${HINTS[name]}</p>
    </section>`;
  }

  private text(name: Text): TemplateResult {
    const mistakes = this.edited.has(name) ? [] : mistakesOf(this.problem, `/${name}`);
    const runs = {
      script: this.edited.has(name) ? [] : this.marks,
      requirements: this.requirementMarks,
      env_vars: [],
    };
    return html`<code-editor
        class=${name}
        .label=${CODE_NAMES[name]}
        .language=${name === "script" ? "python" : "text"}
        .autoHeight=${name !== "script"}
        .masked=${name === "env_vars" && !this.valuesShown}
        .placeholder=${this.readonly ? "" : EXAMPLES[name]}
        .readonly=${this.readonly}
        .value=${this.code[name]}
        .marks=${[...marksOf(mistakes), ...runs[name]]}
        .line=${name === "script" ? (this.marks[0]?.line ?? 0) : 0}
        @change=${(event: Event) => this.change({ [name]: (event.target as CodeEditor).value })}
        @check=${() => this.requestUpdate()}
      ></code-editor>
      ${mistakeList(name, mistakes)}`;
  }

  private versions(): TemplateResult {
    const { python_version: chosen } = this.code;
    const offered = signedIn.runtime?.python_versions ?? [];
    const mistakes = this.edited.has("python_version") ? [] : mistakesOf(this.problem, "/python_version");
    return html`<label class="row small"
        ><span class="faint">Python</span
        ><select
          aria-label="Python version"
          aria-describedby="python_version-mistakes"
          ?disabled=${this.readonly}
          @change=${this.choose}
        >
          ${[...new Set([...offered, chosen])].map(
            (version) => html`<option .selected=${version === chosen} value=${version}>${version}</option>`,
          )}
        </select></label
      >${mistakeList("python_version", mistakes)}`;
  }

  /** Where and why the latest run failed, until the script is edited. */
  private failures(): TemplateResult {
    const failures = this.edited.has("script") ? [] : this.marks;
    return html`<ul class="mistakes failures" aria-label="Failure">
      ${failures.map((mark) => html`<li>${this.remark(mark)}</li>`)}
    </ul>`;
  }

  /** Warnings of the editor; they block nothing. */
  private warnings(): TemplateResult {
    const remarks = [...this.editors].find((editor) => editor.classList.contains("script"))?.remarks ?? [];
    return html`<ul class="warnings" aria-live="polite">
      ${remarks.map((mark) => html`<li>${this.remark(mark)}</li>`)}
    </ul>`;
  }

  /** A remark about the script, with a button that goes to its line. */
  private remark({ line, column, message }: Mark): TemplateResult {
    return html`<button class="quiet" @click=${() => this.goTo(line, column)}>
        line ${line}${column ? `, column ${column}` : ""}
      </button>
      <span>${message}</span>`;
  }

  private readonly choose = (event: Event) => {
    event.stopPropagation(); // The part fires its own change event.
    this.change({ python_version: (event.target as HTMLSelectElement).value });
  };

  private change(part: Partial<Code>): void {
    this.edited = new Set([...this.edited, ...(Object.keys(part) as (keyof Code)[])]);
    this.dispatchEvent(new CustomEvent("change", { detail: part }));
  }

  private showFirstMistake(problem: Problem): void {
    for (const name of ["script", "requirements", "env_vars"] as const) {
      const [mistake] = mistakesOf(problem, `/${name}`);
      if (mistake) {
        this.editor(name).goTo(mistake.line ?? 1, mistake.column ?? undefined);
        return;
      }
    }
  }

  private editor(name: Text): CodeEditor {
    return this.querySelector<CodeEditor>(`code-editor.${name}`)!;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "agent-code": AgentCode;
  }
}
