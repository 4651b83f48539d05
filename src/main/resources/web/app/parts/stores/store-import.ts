import { html, nothing } from "lit";
import { customElement, query, state } from "lit/decorators.js";
import { request, Problem } from "../../core/api";
import { bytes } from "../../core/format";
import { aboutWhole, lineParts } from "../../core/line-parts";
import { asProblem } from "../../core/load";
import type { DataStore } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/stores";
import { open } from "../page/dialogs";
import { problemNotice } from "../page/notices";
import { Part } from "../page/part";

/** The size of one request, small enough to show progress. */
const PART_BYTES = 4 << 20;

interface Imported {
  imported: number;
  expired: number;
}

/** Imports a JSON Lines file into a DataStore; resolves when the dialog is closed. */
export const importInto = (store: DataStore): Promise<void> =>
  open<void>(
    (close) => html`<store-import .store=${store} .close=${() => close()}></store-import>`,
    () => undefined,
    { form: true },
  );

/** A file that was changed after it was chosen can't be read. */
const isChanged = (e: unknown): boolean => e instanceof DOMException && e.name === "NotReadableError";

const CHANGED = new Problem(0, "changed", text.importing.notReadable, text.importing.fileChanged);

@customElement("store-import")
export class StoreImport extends Part {
  store!: DataStore;
  close!: () => void;
  @state() private file: File | null = null;
  @state() private sent = 0;
  @state() private result: Imported = { imported: 0, expired: 0 };
  @state() private phase: "choosing" | "sending" | "done" = "choosing";
  @state() private problem: Problem | null = null;
  /** Of the file that is or was sent, bytes. */
  @state() private size = 0;
  @query("input") private input!: HTMLInputElement;
  private readonly stopping = new AbortController();

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.stopping.abort();
  }

  override render() {
    const { file, phase } = this;
    const { imported, expired } = this.result;
    return html`<form class="body" @submit=${this.submit}>
      <h2 id="dialog-title">${text.importing.title(this.store.name)}</h2>
      <div class="field">
        <label for="import-file">${text.importing.file}</label>
        <input
          id="import-file"
          type="file"
          accept=".ndjson,.jsonl,application/x-ndjson"
          required
          ?disabled=${phase === "sending"}
          @change=${this.choose}
        />
        <span class="hint">${text.importing.fileHint}</span>
      </div>
      ${phase !== "choosing"
        ? html`<div class="column" role="status">
            <progress
              aria-label=${text.importing.sent}
              max=${this.size || 1}
              .value=${this.size ? this.sent : 1}
            ></progress>
            <p>
              ${phase === "done" && !this.problem
                ? text.importing.result(imported, expired)
                : text.importing.progress(bytes(this.sent), bytes(this.size), imported, expired)}
            </p>
          </div>`
        : nothing}
      ${problemNotice(this.problem)}
      ${phase === "done" && this.problem && !file ? html`<p>${text.importing.chooseCorrected}</p>` : nothing}
      <div class="actions">
        ${phase === "done" && !this.problem
          ? html`<button type="button" class="primary" @click=${this.close}>${text.importing.done}</button>`
          : html`<button type="button" @click=${this.close}>
                ${phase === "sending" ? text.importing.stop : common.cancel}
              </button>
              <button class="primary" ?disabled=${!file || phase === "sending"}>
                ${phase === "sending"
                  ? text.importing.importing
                  : this.problem
                    ? text.importing.again
                    : text.importing.import}
              </button>`}
      </div>
    </form>`;
  }

  private choose(event: Event): void {
    this.file = (event.target as HTMLInputElement).files?.[0] ?? null;
    this.phase = "choosing";
    this.problem = null;
  }

  private async submit(event: Event): Promise<void> {
    event.preventDefault();
    if (!this.file) {
      return;
    }
    this.phase = "sending";
    this.size = this.file.size;
    this.problem = null;
    this.sent = 0;
    this.result = { imported: 0, expired: 0 };
    try {
      for await (const part of lineParts(this.file, PART_BYTES)) {
        const { imported, expired } = await this.send(part.blob, part.linesBefore);
        this.result = { imported: this.result.imported + imported, expired: this.result.expired + expired };
        this.sent = part.end;
      }
    } catch (e) {
      if (this.stopping.signal.aborted) {
        return;
      }
      this.problem = isChanged(e) ? CHANGED : asProblem(e);
      if (this.problem === CHANGED || this.problem.status >= 400) {
        // A browser reads a file as it was chosen: what was corrected has to be chosen again.
        this.file = null;
        this.input.value = "";
      }
    }
    this.phase = "done";
  }

  private async send(blob: Blob, linesBefore: number): Promise<Imported> {
    try {
      return await request<Imported>("POST", `/datastore/${this.store.id}/import`, {
        blob,
        headers: { "Content-Type": "application/x-ndjson" },
        signal: this.stopping.signal,
      });
    } catch (e) {
      if (e instanceof Problem) {
        const detail = aboutWhole(e.detail, linesBefore);
        throw new Problem(e.status, e.code, e.title, detail, [], e.requestId);
      }
      throw e;
    }
  }
}
