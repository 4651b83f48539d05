import { html, nothing } from "lit";
import { customElement, property } from "lit/decorators.js";
import { parseExactly, toJson, type Problem } from "../../core/api";
import { formFields } from "../../core/form-fields";
import type { Json } from "../../core/types";
import { text } from "../../text/parts/executions";
import { memberPointer, mistakesOf } from "../forms/fields";
import { fieldText, fieldValue, schemaField } from "../forms/schema-field";
import { Part } from "../page/part";

/**
 * A form for the simple properties of a payload, as the agent's schema has them; the text of the payload stays the
 * only state. Fires `filled` with the new text as its detail.
 */
@customElement("payload-form")
export class PayloadForm extends Part {
  /** The agent's input_schema, or null. */
  @property({ attribute: false }) schema: Json = null;
  @property() payload = "";
  /** With the mistakes of the last submission. */
  @property({ attribute: false }) problem: Problem | null = null;

  override render() {
    const fields = formFields(this.schema);
    const value = objectIn(this.payload);
    return fields.length === 0 || value === null
      ? nothing
      : html`<fieldset class="fields payload-fields">
          <legend class="unseen">${text.payloads.form}</legend>
          ${fields.map(({ name, schema, required }) =>
            schemaField({
              id: `payload-${name}`,
              name,
              schema,
              required,
              value: fieldText(schema, value[name]),
              mistakes: mistakesOf(this.problem, memberPointer("/payload", name)),
              change: (entered) => {
                const { [name]: _, ...others } = value;
                const next = entered === "" ? others : { ...value, [name]: fieldValue(schema, entered) };
                this.dispatchEvent(new CustomEvent("filled", { detail: toJson(next, 2) }));
              },
            }),
          )}
        </fieldset>`;
  }
}

/** The payload as an object; null if it is none. */
function objectIn(payload: string): { [key: string]: Json } | null {
  try {
    const value = parseExactly(payload.trim() || "{}");
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as { [key: string]: Json })
      : null;
  } catch {
    return null;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "payload-form": PayloadForm;
  }
}
