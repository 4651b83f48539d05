import { html, nothing, type TemplateResult } from "lit";
import type { FieldMistake, Problem } from "../../core/api";
import { text } from "../../text/parts/forms";

/** A labelled control with its mistakes below it. */
export interface Field {
  id: string;
  label: string;
  hint?: unknown;
  mistakes?: FieldMistake[];
}

export function field({ id, label, hint, mistakes = [] }: Field, control: unknown): TemplateResult {
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${control} ${hint ? html`<span class="hint" id="${id}-hint">${hint}</span>` : nothing}
    ${mistakeList(id, mistakes)}
  </div>`;
}

export function mistakeList(id: string, mistakes: FieldMistake[]): TemplateResult {
  return html`<ul class="mistakes" id="${id}-mistakes" aria-live="polite">
    ${mistakes.map(
      (mistake) =>
        html`<li>${mistake.line ? text.atLine(mistake.line, mistake.detail) : mistake.detail}</li>`,
    )}
  </ul>`;
}

export interface TextField extends Field {
  value: string | number;
  change: (value: string) => void;
  type?: "text" | "number" | "password" | "search";
  placeholder?: string;
  required?: boolean;
  step?: string;
  min?: number;
  mono?: boolean;
  /** The id of a datalist with proposals. */
  list?: string;
}

export function textField(given: TextField): TemplateResult {
  return field(
    given,
    html`<input
      id=${given.id}
      class=${given.mono ? "mono" : ""}
      type=${given.type ?? "text"}
      .value=${String(given.value)}
      placeholder=${given.placeholder ?? nothing}
      step=${given.step ?? nothing}
      min=${given.min ?? nothing}
      ?required=${given.required}
      list=${given.list ?? nothing}
      autocomplete="off"
      spellcheck="false"
      aria-invalid=${given.mistakes?.length ? "true" : nothing}
      aria-describedby="${given.hint ? `${given.id}-hint ` : ""}${given.id}-mistakes"
      @input=${(event: Event) => given.change((event.target as HTMLInputElement).value)}
    />`,
  );
}

export interface ChoiceField extends Field {
  value: string;
  choices: readonly (string | [value: string, label: string])[];
  change: (value: string) => void;
}

export function choiceField(given: ChoiceField): TemplateResult {
  return field(
    given,
    html`<select
      id=${given.id}
      aria-invalid=${given.mistakes?.length ? "true" : nothing}
      aria-describedby="${given.hint ? `${given.id}-hint ` : ""}${given.id}-mistakes"
      @change=${(event: Event) => given.change((event.target as HTMLSelectElement).value)}
    >
      ${given.choices.map((choice) => {
        const [value, label] = typeof choice === "string" ? [choice, choice] : choice;
        return html`<option value=${value} .selected=${value === given.value}>${label}</option>`;
      })}
    </select>`,
  );
}

/** A search field; "/" focuses it. */
export const searchField = (label: string, value: string, change: (value: string) => void): TemplateResult =>
  html`<input
    type="search"
    class="search"
    aria-label=${label}
    placeholder=${label}
    .value=${value}
    autocomplete="off"
    spellcheck="false"
    @input=${(event: Event) => change((event.target as HTMLInputElement).value)}
  />`;

/** The JSON Pointer to a member of the value that a pointer leads to, as RFC 6901 escapes its name. */
export const memberPointer = (pointer: string, name: string): string =>
  `${pointer}/${name.replace(/~/g, "~0").replace(/\//g, "~1")}`;

/** The mistakes of one field of a body that the API refused. */
export const mistakesOf = (problem: Problem | null, pointer: string): FieldMistake[] =>
  problem?.of(pointer) ?? [];
