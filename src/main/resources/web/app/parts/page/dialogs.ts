import { html, nothing, render, type TemplateResult } from "lit";
import { router } from "../../core/router";
import { common } from "../../text/common";
import { text } from "../../text/parts/page";
import { symbol } from "./shapes";

/** A confirmation before an action that can't be undone. */
export interface Confirmation {
  title: string;
  /** What will happen, in numbers. */
  body: unknown;
  confirm: string;
  /** The other button, where "Cancel" would be ambiguous. */
  cancel?: string;
  danger?: boolean;
  /** Text to type before confirming: the name of a resource with data. */
  typed?: string;
}

/** Asks for confirmation; false if it is refused. */
export function confirmAction(question: Confirmation): Promise<boolean> {
  return open<boolean>(
    (close) => {
      const confirm = (event: Event) => {
        event.preventDefault();
        const given = new FormData(event.target as HTMLFormElement).get("typed");
        if (!question.typed || given === question.typed) {
          close(true);
        }
      };
      const typing = (event: Event) => {
        const input = event.target as HTMLInputElement;
        input.form!.querySelector<HTMLButtonElement>("[data-confirm]")!.disabled =
          input.value !== question.typed;
      };
      return html`<form class="body" @submit=${confirm}>
        <h2 id="question-title">${question.title}</h2>
        <div class="text">${question.body}</div>
        ${question.typed
          ? html`<div class="field">
              <label for="dialog-typed">${text.dialogs.typeToConfirm(question.typed)}</label>
              <input id="dialog-typed" name="typed" class="mono" autocomplete="off" @input=${typing} />
            </div>`
          : nothing}
        <div class="actions">
          <button type="button" @click=${() => close(false)}>${question.cancel ?? common.cancel}</button>
          <button
            type="submit"
            data-confirm
            class=${question.danger ? "danger" : "primary"}
            ?disabled=${!!question.typed}
          >
            ${question.confirm}
          </button>
        </div>
      </form>`;
    },
    () => false,
    { labelledBy: "question-title" },
  );
}

export interface Frame {
  /** The id of the dialog's heading; questions have one of their own, since they may stand above a form. */
  labelledBy?: string;
  /** For editors. */
  wide?: boolean;
  /** Holds input: a click outside does nothing, and Escape asks before discarding it. */
  form?: boolean;
}

/**
 * Shows a dialog until its content calls `close`, or Escape answers with `cancelled`. The content is
 * drawn once; what changes in it is an element of its own.
 */
export function open<T>(
  content: (close: (answer: T) => void) => TemplateResult,
  cancelled: () => T,
  { labelledBy = "dialog-title", wide = false, form = false }: Frame = {},
): Promise<T> {
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-labelledby", labelledBy);
  dialog.classList.toggle("wide", wide);
  const opener = document.activeElement as HTMLElement | null;
  return new Promise<T>((resolve) => {
    let answer: { value: T } | null = null;
    const close = (value: T) => {
      answer = { value };
      dialog.close();
    };
    dialog.addEventListener("close", () => {
      dialog.remove();
      opener?.focus();
      resolve(answer ? answer.value : cancelled());
    });
    if (form) {
      askBeforeItIsLost(dialog);
    } else {
      dialog.addEventListener("click", (event) => {
        if (event.target === dialog) {
          dialog.close();
        }
      });
    }
    render(content(close), dialog);
    document.body.append(dialog);
    dialog.showModal();
  });
}

function askBeforeItIsLost(dialog: HTMLDialogElement): void {
  let touched = false;
  dialog.addEventListener("input", () => (touched = true));
  dialog.addEventListener("change", () => (touched = true));
  dialog.addEventListener("cancel", (event) => {
    // A file picker that is closed says so, too.
    if (event.target === dialog && touched) {
      event.preventDefault();
      void confirmAction({
        title: text.dialogs.discardTitle,
        body: text.dialogs.notSaved,
        confirm: text.dialogs.discard,
      }).then((discard) => discard && dialog.close());
    }
  });
}

/** Milliseconds in which an action can be undone. */
const UNDO = 15_000;

/** Closes the toast with a link; there is at most one. */
let closeWayOn = () => {};

/**
 * Shows a message for a few seconds. A failure stays until it is closed, and one with a link until navigation
 * or the next one.
 */
export function toast(
  message: string,
  {
    failed = false,
    link,
    undo,
  }: { failed?: boolean; link?: [string, string]; undo?: () => Promise<unknown> } = {},
) {
  let box = document.querySelector<HTMLElement>(".toasts");
  if (!box) {
    box = document.createElement("div");
    box.className = "toasts";
    box.setAttribute("role", "status");
    document.body.append(box);
  }
  const item = document.createElement("div");
  item.className = failed ? "toast failed" : "toast";
  const close = () => item.remove();
  render(
    html`<span class="grow">${message}</span>${link ? html`<a href=${link[1]}>${link[0]}</a>` : nothing}${undo
        ? html`<button
            @click=${() => {
              close();
              void undo();
            }}
          >
            ${text.dialogs.undo}
          </button>`
        : nothing}<button class="quiet icon" aria-label=${common.close} @click=${close}>
        ${symbol("close")}
      </button>`,
    item,
  );
  box.append(item);
  if (link) {
    closeWayOn();
    const endMoves = router.onMove(() => closeWayOn());
    closeWayOn = () => {
      endMoves();
      close();
    };
  } else if (!failed) {
    setTimeout(close, undo ? UNDO : 5000);
  }
}
