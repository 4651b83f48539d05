import { html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, queryAll, state } from "lit/decorators.js";
import type { Problem } from "../../core/api";
import { signedIn } from "../../core/session";
import { text } from "../../text/parts/agents";
import { Environment } from "../builds/environment";
import { CODE_NAMES, type Code } from "./agent-edits";
import "../code/code-editor";
import type { CodeEditor } from "../code/code-editor";
import { mistakeList, mistakesOf } from "../forms/fields";
import { pinMarks } from "../code/import-checks";
import { marksOf, type Fix, type Mark } from "../code/marks";
import type { PythonContext } from "../code/python-context";
import { withRequirement } from "../code/requirement-lines";
import { toast } from "../page/dialogs";
import { Part } from "../page/part";
import { showValues } from "./variables-diff";

type Text = "script" | "requirements" | "env_vars";

/** Milliseconds after which a requirement without a version is one, and not one that is being typed. */
const TYPED = 1_000;
/** Remarks that are listed below the script; the editor shows all. */
const LISTED = 6;

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
  /** Where the script is among the files of its project; "": it is alone. */
  @property() scriptPath = "";
  /** The agent's Build, whose packages the script is checked against. */
  @property() buildId = "";
  /** Buttons at the end of the header. */
  @property({ attribute: false }) actions: unknown = nothing;
  @state() private edited = new Set<keyof Code>();
  @state() private valuesShown = false;
  /** The requirements as they were when a person had typed them. */
  @state() private typedRequirements: string | null = null;
  @state() private formatting = false;
  @queryAll("code-editor") private editors!: NodeListOf<CodeEditor>;

  private readonly environment = new Environment(this, () => this.buildId);
  private context: PythonContext | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    // Most visits only look: what checks need is read when a person begins to edit.
    this.addEventListener("focusin", () => this.readonly || this.environment.begin());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.timer);
  }

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
          <h2 id="script-title">${CODE_NAMES.script}</h2>
          ${this.scriptPath ? html`<code class="faint small">${this.scriptPath}</code>` : nothing}
          ${this.versions()} ${this.readonly ? nothing : this.formatButton()} ${this.actions}
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
      ${this.text(name)} ${name === "requirements" ? this.pins() : nothing}
      <p class="hint faint small">${text.code.hints[name]}</p>
    </section>`;
  }

  private text(name: Text): TemplateResult {
    const mistakes = this.edited.has(name) ? [] : mistakesOf(this.problem, `/${name}`);
    const runs = {
      script: this.edited.has(name) ? [] : this.marks,
      requirements: [...this.requirementMarks, ...this.unpinned()],
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
        .python=${this.known()}
        .line=${name === "script" ? (this.marks[0]?.line ?? 0) : 0}
        @change=${(event: Event) => this.change({ [name]: (event.target as CodeEditor).value })}
        @check=${() => this.requestUpdate()}
        @fix=${(event: CustomEvent<Fix>) => this.fix("script", event.detail)}
        @format=${this.format}
      ></code-editor>
      ${mistakeList(name, mistakes)}`;
  }

  private versions(): TemplateResult {
    const { python_version: chosen } = this.code;
    const offered = signedIn.runtime?.python_versions ?? [];
    const mistakes = this.edited.has("python_version") ? [] : mistakesOf(this.problem, "/python_version");
    return html`<label class="row small"
        ><span class="faint">${text.code.python}</span
        ><select
          aria-label=${CODE_NAMES.python_version}
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
    return html`<ul class="mistakes failures" aria-label=${text.code.failure}>
      ${failures.map((mark) => html`<li>${this.remark(mark)}</li>`)}
    </ul>`;
  }

  /** Warnings of the editor; they block nothing. */
  private warnings(): TemplateResult {
    const remarks = this.shown("script")?.remarks ?? [];
    const more = remarks.length - LISTED;
    return html`<ul class="warnings" aria-label=${text.code.warnings} aria-live="polite">
      ${remarks
        .slice(0, LISTED)
        .map((mark) => html`<li>${this.remark(mark)} ${this.fixes("script", mark)}</li>`)}
      ${more > 0 ? html`<li class="faint">${text.code.moreWarnings(more)}</li>` : nothing}
    </ul>`;
  }

  /** Requirements that need a version. */
  private pins(): TemplateResult {
    return html`<ul class="warnings" aria-label=${text.code.requirementWarnings} aria-live="polite">
      ${this.unpinned().map(
        (mark) => html`<li><span>${mark.message}</span> ${this.fixes("requirements", mark)}</li>`,
      )}
    </ul>`;
  }

  private unpinned(): Mark[] {
    const { requirements } = this.code;
    const typing = this.typedRequirements !== null && this.typedRequirements !== requirements;
    const mistaken = new Set(
      (this.edited.has("requirements") ? [] : mistakesOf(this.problem, "/requirements")).map(
        ({ line }) => line,
      ),
    );
    return this.readonly || typing
      ? []
      : pinMarks(this.known()).filter((mark) => mark.fixes || !mistaken.has(mark.line));
  }

  /** A remark about the script, with a button that goes to its line. */
  private remark({ line, column, message }: Mark): TemplateResult {
    return html`<button class="quiet" @click=${() => this.goTo(line, column)}>
        ${text.code.place(line, column)}
      </button>
      <span>${message}</span>`;
  }

  private fixes(name: Text, { fixes = [] }: Mark): TemplateResult[] {
    return fixes.map((fix) => html`<button @click=${() => this.fix(name, fix)}>${fix.title}</button>`);
  }

  private fix(name: Text, fix: Fix): void {
    if ("edits" in fix) {
      this.editor(name).fix(fix);
    } else {
      void this.addRequirement(fix.requirement);
    }
  }

  /** Adds a package; one whose version isn't known is left to be completed. */
  private async addRequirement(requirement: string): Promise<void> {
    const requirements = withRequirement(this.code.requirements, requirement);
    this.change({ requirements });
    this.typedRequirements = null;
    if (requirement.endsWith("==")) {
      toast(text.code.writeVersion(requirement.slice(0, -2)));
      await this.updateComplete;
      const line = requirements.trimEnd().split("\n").length;
      this.editor("requirements").goTo(line, requirement.length + 1);
    } else {
      toast(text.code.added(requirement));
    }
  }

  private formatButton(): TemplateResult {
    return html`<button
      class="quiet"
      title=${text.code.formatTitle}
      ?disabled=${this.formatting || !this.code.script.trim()}
      @click=${this.format}
    >
      ${this.formatting ? text.code.formatting : text.code.format}
    </button>`;
  }

  /** Formats the script; a problem is reported. */
  readonly format = async (event?: Event): Promise<void> => {
    event?.preventDefault();
    if (this.readonly || this.formatting) {
      return;
    }
    this.formatting = true;
    try {
      await this.editor("script").format();
    } catch (e) {
      const reason = (e as Error).message.replace(/ at byte range.*/, "").replace(/\.?$/, ".");
      toast(text.code.notFormatted(reason), { failed: true });
    } finally {
      this.formatting = false;
    }
  };

  /** What is known of the environment; the same object while nothing has changed. */
  private known(): PythonContext {
    const { python_version: python, requirements } = this.code;
    if (
      this.context?.python !== python ||
      this.context.requirements !== requirements ||
      !this.environment.isCurrent(this.context)
    ) {
      this.context = this.environment.context(python, requirements);
    }
    return this.context;
  }

  private readonly choose = (event: Event) => {
    event.stopPropagation(); // The part fires its own change event.
    this.change({ python_version: (event.target as HTMLSelectElement).value });
  };

  private change(part: Partial<Code>): void {
    this.edited = new Set([...this.edited, ...(Object.keys(part) as (keyof Code)[])]);
    const { requirements } = part;
    if (requirements !== undefined) {
      this.typedRequirements ??= this.code.requirements;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => (this.typedRequirements = requirements), TYPED);
    }
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

  private shown(name: Text): CodeEditor | undefined {
    return [...this.editors].find((editor) => editor.classList.contains(name));
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
