import { html, nothing, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import { Problem } from "../../core/api";
import { asProblem } from "../../core/load";
import { common } from "../../text/common";
import { text } from "../../text/parts/forms";
import { open } from "../page/dialogs";
import { problemNotice } from "../page/notices";
import { Part } from "../page/part";

/** A dialog with a few fields that saves something. */
export interface SmallForm<D, T> {
  title: string;
  draft: D;
  /** The fields; `take` changes what they hold. */
  fields: (draft: D, take: (changes: Partial<D>) => void, problem: Problem | null) => TemplateResult;
  /** Pointers whose mistakes are shown at a field, for example "/name". */
  pointers: readonly string[];
  confirm: string;
  danger?: boolean;
  wide?: boolean;
  save: (draft: D) => Promise<T>;
}

/** Shows the form until it is saved, and returns the result of `save`; null if it is cancelled. */
export function openForm<D, T>(form: SmallForm<D, T>): Promise<T | null> {
  return open<T | null>(
    (close) => html`<small-form .form=${form} .close=${close}></small-form>`,
    () => null,
    { form: true, wide: form.wide },
  );
}

@customElement("small-form")
export class SmallFormElement extends Part {
  form!: SmallForm<object, unknown>;
  close!: (answer: unknown) => void;
  @state() private draft: object | null = null;
  @state() private problem: Problem | null = null;
  @state() private busy = false;

  override firstUpdated(): void {
    this.querySelector<HTMLElement>("input, select, textarea")?.focus();
  }

  override render() {
    const { form, problem } = this;
    const placed = form.pointers.some((pointer) => problem?.of(pointer).length);
    return html`<form class="body" @submit=${this.submit}>
      <h2 id="dialog-title">${form.title}</h2>
      ${placed ? nothing : problemNotice(problem)}
      ${form.fields(
        this.draft ?? form.draft,
        (changes) => (this.draft = { ...(this.draft ?? form.draft), ...changes }),
        problem,
      )}
      <div class="actions">
        <button type="button" @click=${() => this.close(null)}>${common.cancel}</button>
        <button class=${form.danger ? "danger" : "primary"} ?disabled=${this.busy}>
          ${this.busy ? text.working : form.confirm}
        </button>
      </div>
    </form>`;
  }

  private async submit(event: Event): Promise<void> {
    event.preventDefault();
    this.busy = true;
    try {
      this.close(await this.form.save(this.draft ?? this.form.draft));
    } catch (e) {
      this.problem = asProblem(e);
    } finally {
      this.busy = false;
    }
  }
}
