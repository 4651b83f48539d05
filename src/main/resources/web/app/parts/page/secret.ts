import { html } from "lit";
import { text } from "../../text/parts/page";
import "./basics";
import { open } from "./dialogs";

/** Shows a secret once, with a button that copies it. */
export const showSecret = (title: string, secret: string, hint: unknown): Promise<void> =>
  open<void>(
    (close) =>
      html`<div class="body">
        <h2 id="dialog-title">${title}</h2>
        <div class="secret">
          <code class="grow">${secret}</code
          ><copy-button .text=${secret} label=${text.copying.copy} word=${text.copying.copy}></copy-button>
        </div>
        <p>${hint} <strong>${text.secret.shownOnce}</strong></p>
        <div class="actions">
          <button class="primary" autofocus @click=${() => close()}>${text.secret.done}</button>
        </div>
      </div>`,
    () => undefined,
    { form: true },
  );
