import { html, nothing, type TemplateResult } from "lit";
import { parseExactly, toJson } from "../../core/api";
import type { ApprovalField, Json } from "../../core/types";
import { text } from "../../text/parts/forms";
import { choiceField, field, textField, type Field } from "./fields";

const MULTILINE = "multiline";

export interface SchemaField extends Omit<Field, "label" | "hint"> {
  name: string;
  schema: ApprovalField;
  required: boolean;
  /** From `fieldText`. */
  value: string;
  change: (value: string) => void;
}

/** The control for one property of a JSON Schema. */
export function schemaField(given: SchemaField): TemplateResult {
  const { schema, required } = given;
  const label = schema.title ?? given.name;
  const common = {
    ...given,
    mistakes: given.mistakes ?? [],
    label: required ? label : text.optional(label),
    hint: schema.description,
  };
  if (schema.enum || schema.type === "boolean") {
    const choices: [string, string][] = schema.enum
      ? schema.enum.map((each) => [JSON.stringify(each), String(each)])
      : [
          ["true", text.yes],
          ["false", text.no],
        ];
    return choiceField({ ...common, choices: [["", text.choose], ...choices] });
  }
  if (schema.type === "string" && schema.format === MULTILINE) {
    return field(
      common,
      html`<textarea
        id=${common.id}
        rows="4"
        .value=${common.value}
        ?required=${required}
        aria-invalid=${common.mistakes.length ? "true" : nothing}
        aria-describedby="${common.hint ? `${common.id}-hint ` : ""}${common.id}-mistakes"
        @input=${(event: Event) => common.change((event.target as HTMLTextAreaElement).value)}
      ></textarea>`,
    );
  }
  const isNumber = schema.type !== "string";
  return textField({ ...common, type: isNumber ? "number" : "text", step: isNumber ? "any" : undefined });
}

const isText = (schema: ApprovalField): boolean => schema.type === "string" && !schema.enum;

/** What the control shows of a value: for texts, themselves; for others, JSON; "" for none. */
export const fieldText = (schema: ApprovalField, value: Json | undefined): string =>
  value === undefined || value === null
    ? ""
    : isText(schema) && typeof value === "string"
      ? value
      : toJson(value);

/** The value of what a person has entered, which is not "". */
export const fieldValue = (schema: ApprovalField, entered: string): Json =>
  isText(schema) ? entered : parseExactly(entered);
