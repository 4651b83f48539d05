import { html, nothing, type TemplateResult } from "lit";
import { customElement, query, state } from "lit/decorators.js";
import { get, requestTagged, Problem, toJson } from "../core/api";
import { draft, dropDraft, keepDraft } from "../core/drafts";
import { asProblem } from "../core/load";
import { isOutage, Recovery } from "../core/recovery";
import { queried, router } from "../core/router";
import { signedIn } from "../core/session";
import type { Agent, AgentTemplate, BuilderJob, ExecutorJob } from "../core/types";
import { common } from "../text/common";
import { text } from "../text/pages/create";
import "../parts/agents/agent-code";
import { AgentEdits, type Code } from "../parts/agents/agent-edits";
import { needs, variablesText } from "../parts/agents/agent-templates";
import { tagsIn } from "../parts/agents/tags";
import { stateBadge } from "../parts/page/basics";
import { confirmAction } from "../parts/page/dialogs";
import { mistakesOf, textField } from "../parts/forms/fields";
import type { Mark } from "../parts/code/marks";
import { emptyState, problemNotice } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { keepPayload } from "../parts/executions/payloads";
import "../parts/executions/run-panel";
import type { RunPanel } from "../parts/executions/run-panel";
import { buildMarks, failureMarks, unplaced } from "../parts/executions/run-marks";
import { whenItRuns } from "../parts/agents/running";
import "../parts/stores/store-choice";
import type { StoreChoice } from "../parts/stores/store-choice";
import { templates } from "./create-templates";

const DRAFT = "create";

interface NewAgent {
  name: string;
  /** As typed; drafts of earlier versions have none. */
  tags?: string;
  code: Code;
  /** Null: a new one. */
  store_ids: string[] | null;
  payload: string;
  /** The name of the template that it began with, if that is one of the gallery. */
  template?: string;
}

const FIELDS = ["/name", "/tags", "/script", "/requirements", "/env_vars", "/python_version", "/store_ids"];

/** Creates, builds and runs an agent on one page, and edits it until it works. */
@customElement("create-page")
export class CreatePage extends Part {
  @state() private draft: NewAgent = fromDraft() ?? fromTemplate("hello");
  @state() private problem: Problem | null = null;
  /** The edits of the agent, once it is created. */
  @state() private edits: AgentEdits | null = null;
  @state() private agent: Agent | null = null;
  @state() private last: ExecutorJob | null = null;
  @state() private marks: readonly Mark[] = [];
  @state() private failedBuild: BuilderJob | null = null;
  /** What the draft began with. */
  @state() private template: AgentTemplate | null = null;
  @query("run-panel") private panel!: RunPanel;

  constructor() {
    super();
    new Recovery(this, () => {
      this.edits?.recover();
      this.problem = isOutage(this.problem) ? null : this.problem;
    });
  }

  override connectedCallback(): void {
    super.connectedCallback();
    const template = queried("template");
    const created = queried("agent");
    if (created) {
      void this.resume(created);
    } else if (template in templates) {
      void this.choose(template);
    } else if (template) {
      void this.chooseFromGallery(template);
    } else if (this.draft.template) {
      void this.readTemplate(this.draft.template);
    }
  }

  override render() {
    const writes = signedIn.may("write");
    return html`<div class="page-head">
        <h1>${this.agent ? this.agent.name : text.title}</h1>
        ${this.agent ? this.ways(this.agent) : nothing}
      </div>
      ${writes ? this.form() : this.refusal()}`;
  }

  private refusal(): TemplateResult {
    const { name, role } = signedIn.session!.key;
    return emptyState(
      text.mayNotCreate,
      text.signedInWith(name, role),
      html`<a class="button" href="/agents">${text.viewAgents}</a>`,
    );
  }

  private form(): TemplateResult {
    const problem = this.edits?.problem ?? this.problem;
    return html`<div class="workspace">
      <div class="column">
        ${this.agent ? nothing : this.head(problem)} ${this.needs()}
        ${problemNotice(unplaced(problem, FIELDS))}
        <agent-code
          .code=${this.edits?.code ?? this.draft.code}
          .problem=${problem}
          .marks=${this.marks}
          .buildId=${this.edits?.saved.build_id ?? ""}
          .requirementMarks=${this.edits
            ? buildMarks(this.failedBuild, this.edits.saved, this.edits.code.requirements)
            : []}
          @change=${(event: CustomEvent<Partial<Code>>) => this.changeCode(event.detail)}
        ></agent-code>
        ${this.agent ? nothing : this.stores(problem)}
      </div>
      <run-panel
        .agentId=${this.agent?.id ?? ""}
        .builderJobId=${this.agent?.latest_builder_job_id ?? ""}
        .revision=${this.edits?.saved.revision ?? 0}
        .action=${this.action()}
        .payload=${this.draft.payload}
        .prepare=${() => this.prepare()}
        .steps=${this.steps()}
        @payload=${() => this.change({ payload: this.panel.payload })}
        @ended=${(event: CustomEvent<ExecutorJob>) => this.ended(event.detail)}
        @build-failed=${(event: CustomEvent<BuilderJob>) => (this.failedBuild = event.detail)}
      ></run-panel>
    </div>`;
  }

  /** The steps that the button runs, and those already done. */
  private steps(): TemplateResult {
    if (this.agent) {
      return html`<p>${stateBadge("succeeded", text.created)}</p>`;
    }
    const { requirements } = this.draft.code;
    return html`<ol class="run-steps" aria-label=${text.steps}>
      ${[
        text.createStep,
        requirements.trim() ? text.installStep : text.prepareStep,
        text.runStep,
        text.resultStep,
      ].map((step) => html`<li>${stateBadge("queued", step)}</li>`)}
    </ol>`;
  }

  private action(): string {
    return !this.agent ? text.createAndRun : this.edits?.dirty ? text.saveAndRun : text.runAgain;
  }

  private head(problem: Problem | null): TemplateResult {
    return html`<div class="create-head">
      ${textField({
        id: "name",
        label: common.name,
        value: this.draft.name,
        placeholder: text.optional,
        mistakes: mistakesOf(problem, "/name"),
        change: (name) => this.change({ name }),
      })}
      ${textField({
        id: "tags",
        label: text.tags,
        value: this.draft.tags ?? "",
        placeholder: text.tagsPlaceholder,
        mistakes: mistakesOf(problem, "/tags"),
        change: (tags) => this.change({ tags }),
      })}
      <div class="field" role="group" aria-labelledby="template-label">
        <span class="label" id="template-label">${text.template}</span>
        <div class="row">
          ${Object.entries(templates).map(
            ([name, { title, script }]) =>
              html`<button
                aria-pressed=${this.draft.code.script === script}
                @click=${() => void this.choose(name)}
              >
                ${title}
              </button>`,
          )}
          <a class="button" href="/templates">${text.moreTemplates}</a>
        </div>
      </div>
    </div>`;
  }

  /** What the chosen template needs, until the agent has run. */
  private needs(): unknown {
    return this.template && this.last?.state !== "succeeded"
      ? html`<details class="panel template-needs" open>
          <summary>
            <strong>${this.template.title}</strong>
            <span class="faint">${text.templateNeeds}</span>
          </summary>
          <div class="content">${needs(this.template)}</div>
        </details>`
      : nothing;
  }

  private stores(problem: Problem | null): TemplateResult {
    return html`<store-choice
      .storeIds=${this.draft.store_ids}
      .mistakes=${mistakesOf(problem, "/store_ids")}
      @change=${(event: Event) => this.change({ store_ids: (event.currentTarget as StoreChoice).storeIds })}
    ></store-choice>`;
  }

  /** Links to the next steps, once the agent exists. */
  private ways({ id }: Agent): TemplateResult {
    const works = this.last?.state === "succeeded";
    return html`<div class="actions">
      ${works
        ? html`<a class="button" href="/agents/${id}/schedules">${text.schedule}</a
            ><a class="button" href="/agents/${id}/call-it">${text.callFromCode}</a>`
        : nothing}
      <a class="button" href="/agents/${id}">${text.openAgent}</a>
    </div>`;
  }

  private change(part: Partial<NewAgent>): void {
    this.draft = { ...this.draft, ...part };
    if (!this.agent) {
      keepDraft(DRAFT, this.draft);
    }
  }

  private changeCode(part: Partial<Code>): void {
    if (this.edits) {
      this.edits.change(part);
    } else {
      this.change({ code: { ...this.draft.code, ...part } });
    }
  }

  /** Applies a template, after a confirmation if it would replace a script. */
  private async choose(name: string): Promise<void> {
    if (await this.mayReplace(templates[name]!.title)) {
      const { code, payload } = fromTemplate(name);
      this.template = null;
      this.change({ code: { ...this.draft.code, ...code }, payload, template: "" });
      this.problem = null;
    }
    router.query({ template: null });
  }

  private async chooseFromGallery(name: string): Promise<void> {
    const template = await this.readTemplate(name);
    if (template && (await this.mayReplace(template.title))) {
      const { script, requirements, payload } = template;
      const env_vars = variablesText(template);
      this.change({
        name: this.draft.name || name,
        tags: this.draft.tags || template.tags.join(", "),
        code: { ...this.draft.code, script, requirements, env_vars },
        payload: payload === null ? "" : toJson(payload, 2),
        template: name,
      });
      this.problem = null;
    } else {
      this.template = null;
    }
    router.query({ template: null });
  }

  private async readTemplate(name: string): Promise<AgentTemplate | null> {
    try {
      this.template = await get<AgentTemplate>(`/templates/${encodeURIComponent(name)}`);
    } catch (e) {
      this.problem = asProblem(e);
    }
    return this.template;
  }

  /** Asks whether a template may replace the script, unless that is a template's. */
  private async mayReplace(title: string): Promise<boolean> {
    const { script } = this.draft.code;
    const written =
      script.trim() !== "" && !Object.values(templates).some((known) => known.script === script);
    return (
      !written ||
      confirmAction({
        title: text.mayReplace,
        body: html`<p>${text.replaces(title)}</p>`,
        confirm: text.replace,
      })
    );
  }

  /** Creates the agent, or saves its changes, for the run panel. */
  private async prepare(): Promise<Agent | null> {
    this.marks = [];
    if (this.edits) {
      const saved = await this.edits.save();
      this.agent = saved ?? this.agent;
      return saved && whenItRuns(saved);
    }
    const { name, tags, code, store_ids } = this.draft;
    try {
      const body = {
        ...code,
        ...(name.trim() ? { name: name.trim() } : {}),
        ...(tags?.trim() ? { tags: tagsIn(tags) } : {}),
        ...(store_ids ? { store_ids } : {}),
      };
      const { value, tag } = await requestTagged<Agent>("POST", "/agents", { body });
      this.problem = null;
      dropDraft(DRAFT);
      keepPayload(value.id, this.draft.payload);
      this.created(value, tag);
      return value;
    } catch (e) {
      this.problem = placed(asProblem(e));
      return null;
    }
  }

  private created(agent: Agent, tag: string | null): void {
    this.agent = agent;
    this.edits = new AgentEdits(agent, tag, () => this.requestUpdate());
    // A reload continues with this agent.
    router.query({ agent: agent.id, template: null });
  }

  private async resume(id: string): Promise<void> {
    try {
      const { value, tag } = await requestTagged<Agent>("GET", `/agents/${id}`);
      this.created(value, tag);
    } catch (e) {
      this.problem = asProblem(e);
      router.query({ agent: null });
    }
  }

  private ended(job: ExecutorJob): void {
    this.last = job;
    this.marks = this.edits?.dirty ? [] : failureMarks(job.execution);
  }
}

/** The only conflict that a new agent can have is about its name. */
function placed(problem: Problem): Problem {
  const { status, code, title, detail, mistakes, requestId } = problem;
  return status === 409 && !mistakes.length
    ? new Problem(status, code, title, detail, [{ pointer: "/name", code, detail }], requestId)
    : problem;
}

/** Variables are in no draft. */
function fromDraft(): NewAgent | null {
  const kept = draft<NewAgent>(DRAFT);
  return kept && { ...kept, code: { ...kept.code, env_vars: "" } };
}

function fromTemplate(name: string): NewAgent {
  const { script, requirements, payload } = templates[name]!;
  const python_version = signedIn.runtime?.default ?? "3.13";
  return {
    name: "",
    tags: "",
    code: { script, requirements, env_vars: "", python_version },
    store_ids: null,
    payload,
  };
}
