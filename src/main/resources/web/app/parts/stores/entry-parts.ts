import { html, nothing, type TemplateResult } from "lit";
import type { FieldMistake } from "../../core/api";
import type { EntryText } from "../../core/entries";
import { at } from "../../core/format";
import { text } from "../../text/parts/stores";
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
      label: text.expiry.label,
      value: expiry,
      choices: [
        ["never", text.expiry.never],
        ...(until ? [["keep", text.expiry.unchanged(at(until))] as [string, string]] : []),
        ["after", text.expiry.afterSeconds],
      ],
      change: (value) => choose(value as Expiry),
    })}
    ${expiry === "after"
      ? textField({
          id: "entry-ttl",
          label: text.expiry.seconds,
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
    <strong>${theirs ? text.conflict.changed : text.conflict.deleted}</strong>
    ${theirs
      ? html`<p>${text.conflict.changes}</p>
          <code-diff label=${text.conflict.value} .from=${theirs.text} .to=${yours}></code-diff>`
      : html`<p>${text.conflict.createsAgain}</p>`}
    <div class="row">
      <button type="button" @click=${save}>
        ${theirs ? text.conflict.overwrite : text.conflict.createAgain}
      </button>
      ${theirs ? html`<button type="button" @click=${take}>${text.conflict.useStored}</button>` : nothing}
    </div>
  </div>`;
