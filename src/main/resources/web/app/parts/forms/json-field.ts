import { html, type TemplateResult } from "lit";
import { jsonMistake } from "../../core/json-text";
import "../code/code-editor";
import { mistakeList, type Field } from "./fields";

export interface JsonField extends Field {
  value: string;
  readonly?: boolean;
  change: (value: string) => void;
}

/** An editor for a JSON value, kept as the text that it is. */
export function jsonField({
  id,
  label,
  hint,
  mistakes = [],
  value,
  readonly,
  change,
}: JsonField): TemplateResult {
  return html`<div class="field json-field">
    <span class="label" aria-hidden="true">${label}</span>
    <code-editor
      id=${id}
      language="json"
      label=${label}
      auto-height
      ?readonly=${readonly}
      .value=${value}
      @change=${(event: Event) => change((event.currentTarget as HTMLElement & { value: string }).value)}
    ></code-editor>
    ${hint ? html`<span class="hint">${hint}</span>` : ""} ${mistakeList(id, mistakes)}
  </div>`;
}

/** Checks the text before anything is sent. */
export const jsonMistakes = (pointer: string, text: string) => {
  const detail = jsonMistake(text);
  return detail === null ? [] : [{ pointer, code: "malformed_json", detail }];
};
