import { html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { requestExactly, once, post, Problem, toJson } from "../../core/api";
import { asProblem, Load } from "../../core/load";
import { isOutage, Recovery } from "../../core/recovery";
import { signedIn } from "../../core/session";
import { keysText, offer } from "../../core/shortcuts";
import type { Agent, ExecutorJob, Json } from "../../core/types";
import { text } from "../../text/parts/executions";
import { stateBadge } from "../page/basics";
import "../builds/build-progress";
import "../code/code-editor";
import "./execution-result";
import type { CodeEditor } from "../code/code-editor";
import { FileDrop } from "../files/file-drop";
import "../files/file-inputs";
import type { FileInputs } from "../files/file-inputs";
import { mistakeList } from "../forms/fields";
import { marksOf, type Mark } from "../code/marks";
import { problemNotice } from "../page/notices";
import { Part } from "../page/part";
import { WAITING } from "./reasons";
import { inputsOf, keepPayload, keptPayload, lastPayload } from "./payloads";
import "./payload-form";
import "./recent-executions";
import "./saved-payloads";

/** Whether a job has not ended. */
const isGoing = (job: ExecutorJob | null | undefined): boolean =>
  job?.state === "queued" || job?.state === "running" || job?.state === "suspended";

/**
 * Runs an agent with a payload and shows the progress, from the build to the return value. Fires
 * `ended` with the ExecutorJob as its detail.
 */
@customElement("run-panel")
export class RunPanel extends Part {
  /** "": `prepare` creates the agent. */
  @property() agentId = "";
  /** The agent's latest builder job, shown until it has succeeded. */
  @property() builderJobId = "";
  /** The agent's newest revision. A later one makes what was said about a run before obsolete. */
  @property({ type: Number }) revision = 0;
  /** What the button does, for example "Save and run". */
  @property() action = text.panel.run;
  /** Another button, before the one that runs the agent. */
  @property({ attribute: false }) other: unknown = nothing;
  /** Creates or saves the agent first. Null: that failed, and the page shows why. */
  @property({ attribute: false }) prepare: () => Promise<Agent | null> = async () => null;
  @property() payload = "";
  /** The agent's input_schema; null: none. */
  @property({ attribute: false }) schema: Json = null;
  /** Earlier steps, for example that the agent was created. */
  @property({ attribute: false }) steps: unknown = nothing;
  @state() private busy = false;
  @state() private problem: Problem | null = null;
  @state() private jobId = "";
  @state() private mistakes: readonly Mark[] = [];
  @query("code-editor") private editor!: CodeEditor;
  @query("file-inputs") private files!: FileInputs;
  private endOffer: (() => void) | undefined;
  private reported = "";
  private readonly load = new Load<ExecutorJob | null>(
    this,
    (signal) => this.read(signal),
    (change) =>
      this.jobId !== "" && (change.subject === this.jobId || this.isOfThis(change.type, change.agent_id)),
  );

  constructor() {
    super();
    new FileDrop(
      this,
      () => signedIn.may("execute"),
      (files) => this.files.add(files),
    );
    new Recovery(this, () => (this.problem = isOutage(this.problem) ? null : this.problem));
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.endOffer = offer({
      title: text.panel.run,
      keys: "mod+enter",
      run: () => void this.run(),
    });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.endOffer?.();
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("revision") && !this.busy) {
      this.problem = null;
    }
    if (changed.has("agentId") && this.agentId && !this.busy) {
      void this.takePayload();
      if (changed.get("agentId")) {
        this.files.clear();
      }
      this.jobId = "";
      this.load.value = null;
    }
  }

  override render() {
    const job = this.load.value;
    return html`<section class="panel run" aria-labelledby="run-title">
      <header>
        <h2 id="run-title">${text.panel.run}</h2>
        <div class="row run-actions">
          ${isGoing(job)
            ? html`<button @click=${() => void this.cancel()}>${text.panel.cancelRun}</button>`
            : nothing}
          ${this.other}
          ${signedIn.may("execute")
            ? html`<button class="primary" ?disabled=${this.busy} @click=${() => void this.run()}>
                ${this.action} <kbd aria-hidden="true">${keysText("mod+enter")}</kbd>
              </button>`
            : nothing}
        </div>
      </header>
      ${signedIn.may("execute")
        ? this.payloadEditor()
        : html`<p class="content faint">${text.panel.readOnly}</p>`}
      <div class="outcome" aria-live="polite">
        ${this.steps}
        <build-progress .jobId=${this.builderJobId}></build-progress>
        ${problemNotice(this.problem)} ${job ? this.outcome(job) : nothing}
      </div>
      ${this.agentId
        ? html`<recent-executions
            .agentId=${this.agentId}
            .shown=${job?.execution?.id ?? ""}
          ></recent-executions>`
        : nothing}
    </section>`;
  }

  private payloadEditor(): TemplateResult {
    const remarks = this.editor?.remarks ?? [];
    return html`<div class="payload">
      <div class="row">
        <h3>${text.payloads.title}</h3>
        ${this.agentId
          ? html`<saved-payloads
              .agentId=${this.agentId}
              .payload=${this.payload}
              @choose=${(event: CustomEvent<string>) => this.typed(event.detail)}
            ></saved-payloads>`
          : nothing}
      </div>
      <payload-form
        .schema=${this.schema}
        .payload=${this.payload}
        .problem=${this.problem}
        @filled=${(event: CustomEvent<string>) => this.typed(event.detail)}
      ></payload-form>
      <code-editor
        language="json"
        label=${text.panel.payloadLabel}
        placeholder='{"name": "Ada"}'
        auto-height
        .value=${this.payload}
        .marks=${this.mistakes}
        @change=${(event: Event) => this.typed((event.target as CodeEditor).value)}
        @check=${() => this.requestUpdate()}
      ></code-editor>
      ${mistakeList(
        "payload",
        [...this.mistakes, ...remarks].map(({ line, message }) => ({
          pointer: "/payload",
          code: "",
          line,
          detail: message,
        })),
      )}
      <p class="hint faint small">${text.payloads.hint}</p>
      <file-inputs></file-inputs>
    </div>`;
  }

  private outcome(job: ExecutorJob): TemplateResult {
    if (job.execution) {
      return html`<execution-result .executionId=${job.execution.id} .compact=${true}></execution-result>`;
    }
    if (isGoing(job)) {
      return html`<p>${stateBadge(job.state, WAITING[job.waiting_on ?? "executor"])}</p>`;
    }
    return job.reason === "build_failed" && this.builderJobId
      ? html`<p>${stateBadge(job.state, text.panel.notRun)}</p>`
      : html`<p>${stateBadge(job.state)}</p>
          <p>${job.message}</p>`;
  }

  /** Starts with the payload of the latest run, unless the user has typed one. */
  private async takePayload(): Promise<void> {
    const id = this.agentId;
    this.payload = keptPayload(id) ?? "";
    const payload = await lastPayload(id).catch(() => "");
    if (id === this.agentId && !this.payload) {
      this.payload = payload;
    }
  }

  private typed(payload: string): void {
    this.payload = payload;
    this.mistakes = [];
    if (this.agentId) {
      keepPayload(this.agentId, payload);
    }
    this.dispatchEvent(new Event("payload"));
  }

  /** Runs the agent as it is saved. */
  run(): Promise<void> {
    return this.submit(() => this.prepare(), "execute", "");
  }

  /** Runs a script without saving it. */
  runDraft(script: string): Promise<void> {
    const fields = `"script": ${JSON.stringify(script)}`;
    return this.submit(async () => ({ id: this.agentId }), "execute-draft", fields);
  }

  /** Replaces the payload and the files by those of a job. */
  async usePayloadOf(jobId: string): Promise<ExecutorJob> {
    const [{ value }, inputs] = await Promise.all([
      requestExactly<ExecutorJob>("GET", `/executor-jobs/${jobId}`),
      inputsOf(jobId),
    ]);
    this.files.use(inputs);
    this.typed(value.payload === null ? "" : toJson(value.payload, 2));
    return value;
  }

  /** @param fields of the request beside the payload, as JSON without braces */
  private async submit(
    prepare: () => Promise<{ id: string } | null>,
    action: "execute" | "execute-draft",
    fields: string,
  ): Promise<void> {
    if (this.busy || !signedIn.may("execute")) {
      return;
    }
    const checks = await import("../code/json-checks").catch((e: unknown) => asProblem(e));
    if (checks instanceof Problem) {
      this.problem = checks;
      return;
    }
    const [mistake] = checks.checkJson(this.payload);
    if (mistake) {
      this.editor.goTo(mistake.line, mistake.column);
      return;
    }
    this.busy = true;
    this.problem = null;
    this.jobId = "";
    this.load.value = null;
    const payload = this.payload.trim() ? `"payload": ${this.payload}` : "";
    try {
      const files = await this.files.ids();
      const agent = files && (await prepare());
      if (agent && this.isConnected) {
        const inputs = Object.keys(files).length ? `"files": ${toJson(files)}` : "";
        const body = `{${[fields, payload, inputs].filter(Boolean).join(", ")}}`;
        keepPayload(agent.id, this.payload);
        const { value } = await requestExactly<ExecutorJob>("POST", `/agents/${agent.id}/${action}`, {
          text: body,
          headers: once(),
        });
        this.jobId = value.id;
        this.load.value = value;
        await this.load.again();
        this.querySelector(".outcome")?.scrollIntoView({ block: "nearest" });
      }
    } catch (e) {
      this.refused(asProblem(e));
    } finally {
      this.busy = false;
    }
  }

  private refused(problem: Problem): void {
    const mistakes = problem.of("/payload");
    this.mistakes = marksOf(mistakes);
    this.problem = problem;
  }

  private async cancel(): Promise<void> {
    try {
      await post(`/executor-jobs/${this.jobId}/cancel`);
      await this.load.again();
    } catch (e) {
      this.problem = asProblem(e);
    }
  }

  private async read(signal: AbortSignal): Promise<ExecutorJob | null> {
    const id = this.jobId;
    if (!id) {
      return null;
    }
    const { value } = await requestExactly<ExecutorJob>("GET", `/executor-jobs/${id}`, { signal });
    if (!isGoing(value) && this.reported !== id) {
      this.reported = id;
      this.dispatchEvent(new CustomEvent("ended", { detail: value }));
    }
    return value;
  }

  private isOfThis(type: string, agentId: string | null): boolean {
    return agentId === this.agentId && type.startsWith("execution.") && isGoing(this.load.value);
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "run-panel": RunPanel;
  }
}
