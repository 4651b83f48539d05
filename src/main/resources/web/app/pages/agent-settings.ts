import { html, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { patch, Problem } from "../core/api";
import { draft, dropDraft, keepDraft } from "../core/drafts";
import { asProblem } from "../core/load";
import { router } from "../core/router";
import { signedIn } from "../core/session";
import { RawJson, type Agent } from "../core/types";
import { text } from "../text/pages/agent-settings";
import { confinementPanel, type Confinement } from "../parts/agents/confinement";
import { deleteAgent } from "../parts/agents/delete-agent";
import { revisionText } from "../parts/agents/revision-fields";
import { tagsIn } from "../parts/agents/tags";
import { toolPanel, type Tool } from "../parts/agents/tool-panel";
import { toast } from "../parts/page/dialogs";
import { choiceField, mistakeList, mistakesOf, textField } from "../parts/forms/fields";
import { jsonField, jsonMistakes } from "../parts/forms/json-field";
import { problemNotice } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { executionReason } from "../parts/executions/reasons";
import { unplaced } from "../parts/executions/run-marks";

type Figure =
  | "timeout"
  | "memory"
  | "cpu"
  | "max_concurrency"
  | "requests_per_process"
  | "max_attempts"
  | "retry_delay"
  | "keep_warm";
type Schema = "input_schema" | "output_schema";
type Settings = Pick<
  Agent,
  | Figure
  | Schema
  | "isolation"
  | "preload"
  | "concurrency_key_scope"
  | "tags"
  | "never_retry"
  | keyof Confinement
  | keyof Tool
>;

const LIMITS: Figure[] = ["timeout", "memory", "cpu", "max_concurrency", "requests_per_process", "keep_warm"];
const SCHEMAS: Schema[] = ["input_schema", "output_schema"];
const RETRIES: Figure[] = ["max_attempts", "retry_delay"];

/** Reasons after which a retry may succeed; the others are never retried. */
const MAY_PASS = [
  "exception",
  "deadline_exceeded",
  "out_of_memory",
  "out_of_disk",
  "too_many_processes",
  "exited",
  "not_json",
  "return_value_too_large",
  "executor_lost",
];

/** Limits, retries, isolation, preloading, profile, egress, tool and deletion of an agent. Fires `changed`. */
@customElement("agent-settings")
export class AgentSettings extends Part {
  @property({ attribute: false }) agent!: Agent;
  /** Unsaved changes; numbers as text, so that the API can report mistakes in them. */
  @state() private given: Partial<Record<keyof Settings, unknown>> = {};
  @state() private problem: Problem | null = null;
  @state() private saving = false;

  override connectedCallback(): void {
    super.connectedCallback();
    this.given = draft(this.draftName) ?? {};
  }

  override render() {
    const writes = signedIn.may("write");
    const pointers = [...LIMITS, ...RETRIES, ...SCHEMAS].map((name) => `/${name}`);
    const others = [
      "/tags",
      "/isolation",
      "/preload",
      "/concurrency_key_scope",
      "/never_retry",
      "/profile",
      "/egress",
      "/tool_name",
      "/tool_description",
    ];
    const lone = unplaced(this.problem, [...pointers, ...others]);
    return html`<form class="column settings" novalidate @submit=${this.save}>
        ${writes ? nothing : html`<p class="notice">${text.readOnly}</p>`} ${problemNotice(lone)}
        <fieldset class="column" ?disabled=${!writes}>
          <legend class="unseen">${text.title}</legend>
          <section class="panel" aria-labelledby="tags-title">
            <header><h2 id="tags-title">${text.tags}</h2></header>
            <div class="content">${this.tags()}</div>
          </section>
          <section class="panel" aria-labelledby="limits-title">
            <header><h2 id="limits-title">${text.limits}</h2></header>
            <div class="content fields">
              ${LIMITS.map((name) => this.figure(name))} ${this.isolation()} ${this.preload()}
              ${this.keyScope()}
            </div>
          </section>
          <section class="panel" aria-labelledby="retries-title">
            <header><h2 id="retries-title">${text.retries}</h2></header>
            <div class="content column">
              <div class="fields">${RETRIES.map((name) => this.figure(name))}</div>
              ${this.neverRetry()}
            </div>
          </section>
          <section class="panel" aria-labelledby="schemas-title">
            <header><h2 id="schemas-title">${text.schemas}</h2></header>
            <div class="content column">${SCHEMAS.map((name) => this.schema(name, !writes))}</div>
          </section>
          ${confinementPanel(
            this.agent,
            { profile: this.value("profile"), egress: this.value("egress") },
            this.problem,
            (name, value) => this.give(name, value),
          )}
          ${toolPanel(
            this.agent,
            { tool_name: this.value("tool_name"), tool_description: this.value("tool_description") },
            this.problem,
            (name, value) => this.give(name, value),
          )}
          ${writes ? this.buttons() : nothing}
        </fieldset>
      </form>
      ${writes ? this.end() : nothing}`;
  }

  private buttons(): TemplateResult {
    const changed = Object.keys(this.given).length > 0;
    return html`<div class="row save-bar">
      <button class="primary" ?disabled=${!changed || this.saving}>
        ${this.saving ? text.saving : text.save}
      </button>
      ${changed ? html`<button type="button" @click=${this.discard}>${text.discard}</button>` : nothing}
    </div>`;
  }

  private figure(name: Figure): TemplateResult {
    return textField({
      id: name,
      ...text.figures[name],
      mono: true,
      value: String(this.value(name)),
      mistakes: mistakesOf(this.problem, `/${name}`),
      change: (value) => this.give(name, value),
    });
  }

  private tags(): TemplateResult {
    const tags = this.value("tags") as string[] | string;
    return textField({
      id: "tags",
      label: text.tags,
      hint: text.tagsHint,
      value: typeof tags === "string" ? tags : tags.join(", "),
      mistakes: mistakesOf(this.problem, "/tags"),
      change: (given) => this.give("tags", same(tagsIn(given), this.agent.tags) ? this.agent.tags : given),
    });
  }

  private isolation(): TemplateResult {
    return choiceField({
      id: "isolation",
      label: text.isolation,
      value: this.value("isolation") as string,
      choices: [
        ["process", text.sharedExecutor],
        ["pod", text.dedicatedExecutor],
      ],
      hint: text.isolationHint,
      mistakes: mistakesOf(this.problem, "/isolation"),
      change: (value) => this.give("isolation", value),
    });
  }

  private preload(): TemplateResult {
    return choiceField({
      id: "preload",
      label: text.preload,
      value: this.value("preload") as string,
      choices: [
        ["auto", text.preloadAutomatic],
        ["off", text.preloadOff],
      ],
      hint: text.preloadHint,
      mistakes: mistakesOf(this.problem, "/preload"),
      change: (value) => this.give("preload", value),
    });
  }

  private keyScope(): TemplateResult {
    return choiceField({
      id: "concurrency_key_scope",
      label: text.keyScope,
      value: this.value("concurrency_key_scope") as string,
      choices: [
        ["execution", text.keysOfExecutions],
        ["job", text.keysOfJobs],
      ],
      hint: text.keyScopeHint,
      mistakes: mistakesOf(this.problem, "/concurrency_key_scope"),
      change: (value) => this.give("concurrency_key_scope", value),
    });
  }

  /** As text, until it is saved. */
  private schema(name: Schema, readonly: boolean): TemplateResult {
    const saved = revisionText(this.agent[name]);
    const given = this.given[name] as string | undefined;
    const hinted = this.agent[`hinted_${name}`];
    const field = jsonField({
      id: name,
      label: text.schemaNames[name],
      hint: text.schemaHints[name],
      value: given ?? saved,
      readonly,
      mistakes: mistakesOf(this.problem, `/${name}`),
      change: (value) => this.give(name, value.trim() === saved ? this.agent[name] : value),
    });
    if (hinted === null || this.agent[name] !== null) {
      return field;
    }
    return html`${field}
      <details class="small">
        <summary>${text.hinted}</summary>
        <pre class="mono">${revisionText(hinted)}</pre>
      </details>`;
  }

  private neverRetry(): TemplateResult {
    const chosen = this.value("never_retry") as string[];
    const toggle = (reason: string) =>
      this.give(
        "never_retry",
        chosen.includes(reason) ? chosen.filter((other) => other !== reason) : [...chosen, reason],
      );
    return html`<div class="field" role="group" aria-labelledby="never-retry-label">
      <span class="label" id="never-retry-label">${text.neverRetry}</span>
      <div class="row checks">
        ${[...new Set([...MAY_PASS, ...chosen])].map(
          (reason) =>
            html`<label class="check"
              ><input
                type="checkbox"
                .checked=${chosen.includes(reason)}
                @change=${() => toggle(reason)}
              />${executionReason(reason).title}</label
            >`,
        )}
      </div>
      ${mistakeList("never_retry", mistakesOf(this.problem, "/never_retry"))}
    </div>`;
  }

  private end(): TemplateResult {
    const gone = async () => {
      if (await deleteAgent(this.agent.id)) {
        await router.go("/agents", { replace: true });
      }
    };
    return html`<section class="panel" aria-labelledby="delete-title">
      <header>
        <h2 id="delete-title">${text.deleteAgent}</h2>
        <button class="danger" @click=${gone}>${text.deleteAgent}</button>
      </header>
      <p class="content faint">${text.deletes}</p>
    </section>`;
  }

  private value<K extends keyof Settings>(name: K): Settings[K] {
    return (name in this.given ? this.given[name] : this.agent[name]) as Settings[K];
  }

  private give(name: keyof Settings, value: unknown): void {
    const { [name]: _, ...others } = this.given;
    this.given = same(value, this.agent[name]) ? others : { ...others, [name]: value };
    keepDraft(this.draftName, this.given);
  }

  private readonly discard = () => {
    this.given = {};
    this.problem = null;
    dropDraft(this.draftName);
  };

  private async save(event: Event): Promise<void> {
    event.preventDefault();
    const mistakes = SCHEMAS.flatMap((name) => {
      const given = this.given[name] as string | undefined;
      return given?.trim() ? jsonMistakes(`/${name}`, given) : [];
    });
    if (mistakes.length) {
      this.problem = new Problem(422, "validation_failed", "", "", mistakes);
      return;
    }
    this.saving = true;
    try {
      const body = Object.entries(this.given).map(([name, value]) => [
        name,
        name === "tags"
          ? tagsIn(String(value))
          : SCHEMAS.includes(name as Schema)
            ? new RawJson(String(value).trim() || "null")
            : typeof this.agent[name as keyof Settings] === "number"
              ? numbered(value)
              : value,
      ]);
      await patch(`/agents/${this.agent.id}`, Object.fromEntries(body));
      this.discard();
      toast(text.saved);
      this.dispatchEvent(new Event("changed"));
    } catch (e) {
      this.problem = asProblem(e);
      await this.updateComplete;
      this.querySelector<HTMLElement>("[aria-invalid=true]")?.focus();
    } finally {
      this.saving = false;
    }
  }

  private get draftName(): string {
    return `settings:${this.agent.id}`;
  }
}

/** A figure as a number, where it is one. */
const numbered = (value: unknown): unknown =>
  typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value)) ? Number(value) : value;

const same = (one: unknown, other: unknown): boolean =>
  String(one) === String(other) &&
  Array.isArray(one) === Array.isArray(other) &&
  (one === null) === (other === null);

declare global {
  interface HTMLElementTagNameMap {
    "agent-settings": AgentSettings;
  }
}
