import { html, nothing } from "lit";
import { customElement, query, state } from "lit/decorators.js";
import { request, Problem } from "../../core/api";
import { bytes, count, plural } from "../../core/format";
import { aboutWhole, lineParts } from "../../core/line-parts";
import { asProblem } from "../../core/load";
import type { DataStore } from "../../core/types";
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

const CHANGED = new Problem(
  0,
  "changed",
  "The file can't be read",
  "The file was changed or removed after you chose it. Choose it again.",
);

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
    return html`<form class="body" @submit=${this.submit}>
      <h2 id="dialog-title">Import into ${this.store.name}</h2>
      <div class="field">
        <label for="import-file">JSON Lines file</label>
        <input
          id="import-file"
          type="file"
          accept=".ndjson,.jsonl,application/x-ndjson"
          required
          ?disabled=${phase === "sending"}
          @change=${this.choose}
        />
        <span class="hint"
          >One entry per line, in the format of an export:
          <code>{"key": "user/42", "value": {"name": "Ada"}}</code>. Existing keys are overwritten; entries
          that aren't in the file are kept.</span
        >
      </div>
      ${phase !== "choosing"
        ? html`<div class="column" role="status">
            <progress aria-label="Sent" max=${this.size || 1} .value=${this.size ? this.sent : 1}></progress>
            <p>
              ${phase === "done" && !this.problem
                ? "Done: "
                : `${bytes(this.sent)} of ${bytes(this.size)}: `}${plural(
                this.result.imported,
                "entry",
                "entries",
              )}
              stored${this.result.expired
                ? `, ${count(this.result.expired)} skipped because they have expired`
                : nothing}.
            </p>
          </div>`
        : nothing}
      ${problemNotice(this.problem)}
      ${phase === "done" && this.problem && !file
        ? html`<p>
            Choose the corrected file. Entries that are already stored are written again with the same values.
          </p>`
        : nothing}
      <div class="actions">
        ${phase === "done" && !this.problem
          ? html`<button type="button" class="primary" @click=${this.close}>Done</button>`
          : html`<button type="button" @click=${this.close}>
                ${phase === "sending" ? "Stop" : "Cancel"}
              </button>
              <button class="primary" ?disabled=${!file || phase === "sending"}>
                ${phase === "sending" ? "Importing…" : this.problem ? "Import again" : "Import"}
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
