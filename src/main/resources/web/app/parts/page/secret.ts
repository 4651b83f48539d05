import { html } from "lit";
import "./basics";
import { open } from "./dialogs";

/** Shows a secret once, with a button that copies it. */
export const showSecret = (title: string, text: string, hint: unknown): Promise<void> =>
  open<void>(
    (close) =>
      html`<div class="body">
        <h2 id="dialog-title">${title}</h2>
        <div class="secret">
          <code class="grow">${text}</code><copy-button .text=${text} label="Copy" word="Copy"></copy-button>
        </div>
        <p>${hint} <strong>It is shown only once.</strong></p>
        <div class="actions"><button class="primary" autofocus @click=${() => close()}>Done</button></div>
      </div>`,
    () => undefined,
    { form: true },
  );
