import { html, nothing, type TemplateResult } from "lit";
import type { FieldMistake } from "../../core/api";
import type { EntryText } from "../../core/entries";
import { at } from "../../core/format";
import "../code/code-diff";
import { choiceField, textField } from "../forms/fields";

/** When an entry expires: "keep" the stored time, or "after" a number of seconds. */
export type Expiry = "never" | "keep" | "after";

export interface ExpiryFields {
  expiry: Expiry;
  seconds: string;
  /** When the stored entry expires; null: never, or no entry. */
  until: string | null;
  mistakes: FieldMistake[];
  choose: (expiry: Expiry) => void;
  type: (seconds: string) => void;
}

export const expiryFields = ({
  expiry,
  seconds,
  until,
  mistakes,
  choose,
  type,
}: ExpiryFields): TemplateResult =>
  html`<div class="fields">
    ${choiceField({
      id: "entry-expiry",
      label: "Expires",
      value: expiry,
      choices: [
        ["never", "Never"],
        ...(until ? [["keep", `Unchanged: ${at(until)}`] as [string, string]] : []),
        ["after", "After a number of seconds"],
      ],
      change: (value) => choose(value as Expiry),
    })}
    ${expiry === "after"
      ? textField({
          id: "entry-ttl",
          label: "Seconds",
          type: "number",
          step: "any",
          value: seconds,
          change: type,
          mistakes,
        })
      : nothing}
  </div>`;

/** Both values, after somebody else changed the entry; null: deleted it. */
export const conflictNotice = (
  theirs: EntryText | null,
  yours: string,
  { save, take }: { save: () => void; take: () => void },
): TemplateResult =>
  html`<div class="notice waiting" role="alert">
    <strong
      >${theirs
        ? "This entry was changed while you were editing"
        : "This entry was deleted while you were editing"}</strong
    >
    ${theirs
      ? html`<p>Changes from the stored value to yours:</p>
          <code-diff label="Value" .from=${theirs.text} .to=${yours}></code-diff>`
      : html`<p>Saving creates it again.</p>`}
    <div class="row">
      <button type="button" @click=${save}>${theirs ? "Overwrite" : "Create again"}</button>
      ${theirs ? html`<button type="button" @click=${take}>Use stored value</button>` : nothing}
    </div>
  </div>`;
