import { html, nothing, type TemplateResult } from "lit";
import type { FieldMistake } from "../core/api";
import type { EntryText } from "../core/entries";
import { at } from "../core/format";
import "./code-diff";
import { choiceField, textField } from "./fields";

/** When an entry is gone by itself: "keep" as it is stored, "after" seconds from when it is saved. */
export type Expiry = "never" | "keep" | "after";

export interface ExpiryFields {
  expiry: Expiry;
  seconds: string;
  /** When the stored entry is gone; null: never, or there is none. */
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
        ["never", "never"],
        ...(until ? [["keep", `as now: ${at(until)}`] as [string, string]] : []),
        ["after", "some time after it is saved"],
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

/** Both, when someone else has changed the entry meanwhile; null: has deleted it. */
export const conflictNotice = (
  theirs: EntryText | null,
  yours: string,
  { save, take }: { save: () => void; take: () => void },
): TemplateResult =>
  html`<div class="notice waiting" role="alert">
    <strong>${theirs ? "This entry was changed meanwhile" : "This entry was deleted meanwhile"}</strong>
    ${theirs
      ? html`<p>From what is stored now to what you have:</p>
          <code-diff label="Value" .from=${theirs.text} .to=${yours}></code-diff>`
      : html`<p>Saving makes it anew.</p>`}
    <div class="row">
      <button type="button" @click=${save}>Save yours over it</button>
      ${theirs ? html`<button type="button" @click=${take}>Take what is stored</button>` : nothing}
    </div>
  </div>`;
