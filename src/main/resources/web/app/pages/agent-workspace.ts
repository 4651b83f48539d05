import { html, nothing, type TemplateResult } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { asProblem } from "../core/load";
import { Recovery } from "../core/recovery";
import { queried } from "../core/router";
import { signedIn } from "../core/session";
import { keysText, offer } from "../core/shortcuts";
import type { Agent, BuilderJob, ExecutorJob } from "../core/types";
import { common } from "../text/common";
import { text } from "../text/pages/agent-workspace";
import "../parts/agents/agent-code";
import "../parts/agents/project-files";
import type { AgentCode } from "../parts/agents/agent-code";
import { CODE_NAMES, codeOf, differences, type AgentEdits, type Code } from "../parts/agents/agent-edits";
import "../parts/code/code-diff";
import { open, toast } from "../parts/page/dialogs";
import type { Mark } from "../parts/code/marks";
import { problemNotice } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { failedLine } from "../parts/executions/failed-line";
import { buildMarks, failureMarks, unplaced } from "../parts/executions/run-marks";
import { draftScript } from "../parts/executions/draft-runs";
import "../parts/executions/run-panel";
import type { RunPanel } from "../parts/executions/run-panel";
import { isBehind, whenItRuns } from "../parts/agents/running";
import "../parts/agents/variables-diff";

const FIELDS = ["/script", "/requirements", "/env_vars", "/python_version"];

/** The editors of an agent beside the panel that runs it; `?execution=` marks where that one failed. */
@customElement("agent-workspace")
export class AgentWorkspace extends Part {
  @property({ attribute: false }) edits!: AgentEdits;
  /** The version of the edits; a change renders this again. */
  @property({ attribute: false }) version = 0;
  @state() private marks: readonly Mark[] = [];
  @state() private failedBuild: BuilderJob | null = null;
  @query("agent-code") private editors!: AgentCode;
  @query("run-panel") private panel!: RunPanel;
  private endOffer: (() => void) | undefined;
  /** The script of the latest draft that ran. */
  private ranDraft = "";

  constructor() {
    super();
    new Recovery(this, () => this.edits.recover());
  }

  override connectedCallback(): void {
    super.connectedCallback();
    void this.openNamed(queried("try"), queried("execution"));
    if (signedIn.may("write")) {
      this.endOffer = offer(
        { title: common.save, keys: "mod+s", group: text.thisPage, run: () => void this.save() },
        {
          title: text.runDraft,
          keys: "mod+shift+enter",
          group: text.thisPage,
          run: () => void this.runDraft(),
        },
        { title: text.reviewChanges, run: () => void this.review() },
        { title: text.formatScript, run: () => void this.editors.format() },
      );
    }
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.endOffer?.();
  }

  override render() {
    const { edits } = this;
    const writes = signedIn.may("write");
    return html`<div class="workspace">
      <div class="column">
        ${edits.theirs ? this.conflict(edits.theirs) : edits.restored ? this.restored() : nothing}
        ${problemNotice(unplaced(edits.problem, FIELDS))}
        ${edits.saved.bundle_id
          ? html`<project-files
              .bundleId=${edits.saved.bundle_id}
              .scriptPath=${edits.saved.script_path ?? ""}
            ></project-files>`
          : nothing}
        <agent-code
          .scriptPath=${edits.saved.script_path ?? ""}
          .code=${edits.code}
          .readonly=${!writes}
          .problem=${edits.problem}
          .marks=${this.marks}
          .buildId=${edits.saved.build_id ?? ""}
          .requirementMarks=${buildMarks(this.failedBuild, edits.saved, edits.code.requirements)}
          .actions=${writes ? this.actions() : html`<span class="faint small">${text.readOnly}</span>`}
          @change=${(event: CustomEvent<Partial<Code>>) => this.change(event.detail)}
        ></agent-code>
      </div>
      <run-panel
        .agentId=${edits.saved.id}
        .builderJobId=${edits.saved.latest_builder_job_id ?? ""}
        .revision=${edits.saved.revision}
        .schema=${edits.saved.input_schema ?? edits.saved.hinted_input_schema}
        .action=${this.action()}
        .other=${writes ? this.draftButton() : nothing}
        .prepare=${() => this.prepare()}
        @ended=${(event: CustomEvent<ExecutorJob>) => this.ended(event.detail)}
        @build-failed=${(event: CustomEvent<BuilderJob>) => (this.failedBuild = event.detail)}
      ></run-panel>
    </div>`;
  }

  /** The action of the panel's button. */
  private action(): string {
    const { dirty, saved } = this.edits;
    return dirty ? text.saveAndRun : isBehind(saved) ? text.runRevision(saved.running_revision!) : text.run;
  }

  private actions(): TemplateResult {
    const { dirty, saving, theirs } = this.edits;
    return html`<span class="unseen" role="status">${dirty ? text.unsavedChanges : ""}</span>
      ${dirty && !theirs
        ? html`<button
            class="quiet"
            title=${text.unsavedChanges}
            aria-label=${text.reviewChanges}
            @click=${() => void this.review()}
          >
            ${text.review}
          </button>`
        : nothing}
      <button ?disabled=${!dirty || saving || !!theirs} @click=${() => void this.save()}>
        ${saving ? text.saving : common.save} <kbd aria-hidden="true">${keysText("mod+s")}</kbd>
      </button>`;
  }

  private draftButton(): unknown {
    const { dirty, saving, theirs, isDraft } = this.edits;
    return dirty && !theirs
      ? html`<button
          ?disabled=${!isDraft || saving}
          title=${isDraft ? text.runsUnsaved(keysText("mod+shift+enter")) : text.saveFirst}
          @click=${() => void this.runDraft()}
        >
          ${text.runDraft}
        </button>`
      : nothing;
  }

  private restored(): TemplateResult {
    return html`<div class="notice waiting">
      <p>${text.restored(this.edits.from)}</p>
      <div class="row"><button @click=${() => this.edits.takeTheirs()}>${text.discard}</button></div>
    </div>`;
  }

  /** Both versions, and a choice between them. */
  private conflict(theirs: Agent): TemplateResult {
    const [their, mine] = [codeOf(theirs), this.edits.code];
    return html`<section class="notice waiting" aria-labelledby="conflict-title" role="alert">
      <h2 id="conflict-title">${text.savedElsewhere(theirs.revision)}</h2>
      <p>${text.conflict(this.edits.from, theirs.revision)}</p>
      <div class="row">
        <button @click=${() => this.edits.takeTheirs()}>${text.useTheirs}</button>
        <button @click=${() => this.edits.keepMine()}>${text.keepMine}</button>
      </div>
      ${diffs(their, mine)}
    </section>`;
  }

  private change(part: Partial<Code>): void {
    this.edits.change(part);
  }

  private async save(): Promise<Agent | null> {
    const before = this.edits.saved;
    if (!this.edits.dirty || this.edits.saving) {
      return null;
    }
    const saved = await this.edits.save();
    if (saved) {
      this.marks = [];
      const builds = saved.latest_builder_job_id !== before.latest_builder_job_id;
      toast(builds ? text.savedAndInstalling(saved.revision) : text.savedAs(saved.revision));
    }
    return saved;
  }

  /** Shows what saving would change in the revision that the edits are based on. */
  private async review(): Promise<void> {
    const { before, code, from, dirty } = this.edits;
    if (!dirty) {
      toast(text.nothingUnsaved);
      return;
    }
    const save = await open<boolean>(
      (close) =>
        html`<div class="body review">
          <h2 id="dialog-title">${text.changesSince(from)}</h2>
          <div class="text">${diffs(before, code)}</div>
          <div class="actions">
            <button @click=${() => close(false)}>${common.close}</button>
            <button class="primary" @click=${() => close(true)}>${common.save}</button>
          </div>
        </div>`,
      () => false,
      { wide: true },
    );
    if (save) {
      await this.save();
    }
  }

  private async runDraft(): Promise<void> {
    if (this.edits.isDraft) {
      this.marks = [];
      this.ranDraft = this.edits.code.script;
      await this.panel.runDraft(this.ranDraft);
    }
  }

  /**
   * Opens what an address names.
   *
   * @param tried a job whose payload, and script if it is a draft, are to be tried; or ""
   * @param failed an execution whose failing line is to be shown; or ""
   */
  private async openNamed(tried: string, failed: string): Promise<void> {
    await this.updateComplete;
    try {
      const job = tried ? await this.panel.usePayloadOf(tried) : null;
      const script = job?.draft ? await draftScript(job.id) : null;
      if (script !== null && this.edits.dirty && this.edits.code.script !== script) {
        toast(text.draftNotOpened);
      } else if (script !== null) {
        this.edits.change({ script });
      }
    } catch (e) {
      toast(asProblem(e).message, { failed: true });
    }
    if (failed) {
      await this.showFailure(failed);
    }
  }

  /** The agent to run, saved from the editors and built. */
  private async prepare(): Promise<Agent | null> {
    this.marks = [];
    if (this.edits.theirs) {
      this.querySelector(".notice")?.scrollIntoView({ block: "center" });
    }
    if (!this.edits.dirty) {
      return this.edits.saved;
    }
    const saved = await this.edits.save();
    return saved && whenItRuns(saved);
  }

  private async showFailure(executionId: string): Promise<void> {
    const { saved, code } = this.edits;
    try {
      const marks = await failedLine(executionId, saved.id, code.script);
      if (marks[0] && this.edits.code.script === code.script) {
        this.marks = marks;
        await this.updateComplete;
        this.editors.goTo(marks[0].line, marks[0].column);
      } else if (!marks.length) {
        toast(text.lineChanged);
      }
    } catch (e) {
      toast(asProblem(e).message, { failed: true });
    }
  }

  private ended({ execution }: ExecutorJob): void {
    if (execution?.draft) {
      this.marks = this.edits.code.script === this.ranDraft ? failureMarks(execution) : [];
    } else if (!this.edits.dirty && execution?.agent_revision === this.edits.saved.revision) {
      this.marks = failureMarks(execution);
    }
  }
}

/** The differences between two versions of an agent's code, by field. */
const diffs = (before: Code, after: Code): TemplateResult[] =>
  differences(before, after).map(
    (field) =>
      html`<h3>${CODE_NAMES[field]}</h3>
        ${field === "env_vars"
          ? html`<variables-diff .from=${before[field]} .to=${after[field]}></variables-diff>`
          : html`<code-diff
              .from=${before[field]}
              .to=${after[field]}
              .label=${CODE_NAMES[field]}
            ></code-diff>`}`,
  );

declare global {
  interface HTMLElementTagNameMap {
    "agent-workspace": AgentWorkspace;
  }
}
