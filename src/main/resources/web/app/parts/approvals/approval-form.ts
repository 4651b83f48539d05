import { html, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import type { Problem } from "../../core/api";
import { asProblem } from "../../core/load";
import type { ApprovalField, ApprovalForm as Schema, Json } from "../../core/types";
import { text } from "../../text/parts/approvals";
import { memberPointer, mistakesOf, textField } from "../forms/fields";
import { fieldText, fieldValue, schemaField } from "../forms/schema-field";
import { problemNotice } from "../page/notices";
import { Part } from "../page/part";

export interface Decision {
  approved: boolean;
  value?: Record<string, Json>;
  comment?: string;
}

/** What is to be filled in, a comment, and the buttons that decide. */
@customElement("approval-form")
export class ApprovalFormElement extends Part {
  /** Null: nothing is to be filled in. */
  @property({ attribute: false }) schema: Schema | null = null;
  /** Sends the decision; its problem is shown. */
  @property({ attribute: false }) decide!: (decision: Decision) => Promise<void>;
  /** The texts of the fields; missing: the default. */
  @state() private given: Record<string, string> = {};
  @state() private comment = "";
  @state() private problem: Problem | null = null;
  @state() private busy = false;

  override render() {
    const fields = Object.entries(this.schema?.properties ?? {});
    const pointers = fields.map(([name]) => pointerOf(name));
    const placed = pointers.some((pointer) => this.problem?.of(pointer).length);
    return html`<form class="column" @submit=${(event: Event) => this.submit(event, true)}>
      ${placed ? nothing : problemNotice(this.problem)}
      ${fields.map(([name, each]) => this.field(name, each))}
      ${textField({
        id: "approval-comment",
        label: text.comment,
        value: this.comment,
        change: (value) => (this.comment = value),
        mistakes: mistakesOf(this.problem, "/comment"),
      })}
      <div class="row">
        <button class="primary" ?disabled=${this.busy}>${this.busy ? text.working : text.approve}</button>
        <button
          type="button"
          class="danger"
          ?disabled=${this.busy}
          @click=${(event: Event) => this.submit(event, false)}
        >
          ${text.reject}
        </button>
      </div>
    </form>`;
  }

  private field(name: string, schema: ApprovalField): TemplateResult {
    return schemaField({
      id: `approval-${name}`,
      name,
      schema,
      required: this.schema?.required?.includes(name) ?? false,
      value: this.textOf(name, schema),
      change: (value: string) => (this.given = { ...this.given, [name]: value }),
      mistakes: mistakesOf(this.problem, pointerOf(name)),
    });
  }

  /** What is in the field: for choices, JSON. */
  private textOf(name: string, schema: ApprovalField): string {
    const given = this.given[name];
    if (given !== undefined) {
      return given;
    }
    return fieldText(schema, schema.default);
  }

  /** Fields that are left empty are left out. */
  private value(): Record<string, Json> | undefined {
    if (!this.schema) {
      return undefined;
    }
    const value: Record<string, Json> = {};
    for (const [name, schema] of Object.entries(this.schema.properties)) {
      const given = this.textOf(name, schema);
      if (given !== "") {
        value[name] = fieldValue(schema, given);
      }
    }
    return value;
  }

  private async submit(event: Event, approved: boolean): Promise<void> {
    event.preventDefault();
    this.busy = true;
    this.problem = null;
    try {
      const comment = this.comment.trim() || undefined;
      await this.decide(approved ? { approved, value: this.value(), comment } : { approved, comment });
    } catch (e) {
      this.problem = asProblem(e);
    } finally {
      this.busy = false;
    }
  }
}

const pointerOf = (name: string): string => memberPointer("/value", name);

declare global {
  interface HTMLElementTagNameMap {
    "approval-form": ApprovalFormElement;
  }
}
