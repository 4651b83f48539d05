import { html, nothing, type TemplateResult } from "lit";
import { customElement, query, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import type { Problem } from "../../core/api";
import { bytes } from "../../core/format";
import { asProblem } from "../../core/load";
import { uploadFile } from "../../core/upload";
import type { JobFile } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/files";
import { Part } from "../page/part";
import { symbol } from "../page/shapes";

/** A file that is to be submitted. */
interface Input {
  readonly key: number;
  /** Its name where it comes from. */
  readonly origin: string;
  readonly size: number;
  /** The name under which the script knows it. */
  name: string;
  sent: number;
  /** "": it is not stored yet. */
  id: string;
  problem: Problem | null;
  readonly stop: AbortController;
  /** Stores it; null: it was stored before. */
  readonly upload: (() => Promise<string>) | null;
}

/** The files that are submitted with the payload; each is uploaded as soon as it is added. */
@customElement("file-inputs")
export class FileInputs extends Part {
  @state() private inputs: readonly Input[] = [];
  /** Whether mistakes in names are shown. */
  @state() private checked = false;
  @query("input[type=file]") private chooser!: HTMLInputElement;
  private lastKey = 0;
  /** One upload after another. */
  private uploads: Promise<unknown> = Promise.resolve();

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.clear();
  }

  override render() {
    return html`<input type="file" multiple hidden @change=${this.choose} />
      ${this.inputs.length
        ? html`<ul aria-label=${text.upload.title}>
              ${repeat(
                this.inputs,
                ({ key }) => key,
                (input) => this.row(input),
              )}
            </ul>
            <p class="faint small">${text.upload.hint}</p>`
        : nothing}
      <div>
        <button type="button" class="add" @click=${() => this.chooser.click()}>${text.upload.add}</button>
      </div>`;
  }

  private row(input: Input): TemplateResult {
    const { key, origin, name, size, sent, id, problem } = input;
    const mistake = this.checked ? this.mistakeOf(input) : "";
    return html`<li>
      <div class="row">
        <input
          class="mono"
          aria-label=${text.upload.name(origin)}
          aria-invalid=${mistake ? "true" : nothing}
          aria-describedby="input-${key}-mistake"
          autocomplete="off"
          spellcheck="false"
          maxlength="255"
          .value=${name}
          @input=${(event: Event) => this.change(input, { name: (event.target as HTMLInputElement).value })}
        />
        <span class="number">${id || problem ? bytes(size) : text.upload.of(sent, size)}</span>
        <button
          type="button"
          class="quiet icon"
          aria-label=${text.upload.remove(name || origin)}
          title=${common.remove}
          @click=${() => this.drop(input)}
        >
          ${symbol("close")}
        </button>
      </div>
      ${id || problem
        ? nothing
        : html`<progress
            aria-label=${text.upload.progress(origin)}
            max=${size || 1}
            .value=${sent}
          ></progress>`}
      <div class="mistake" id="input-${key}-mistake" aria-live="polite">
        ${mistake ? html`<p>${mistake}</p>` : nothing}
        ${problem
          ? html`<p>${problem.detail}</p>
              <button type="button" @click=${() => this.send(input)}>${common.tryAgain}</button>`
          : nothing}
      </div>
    </li>`;
  }

  private mistakeOf({ key, name }: Input): string {
    return !name.trim()
      ? text.upload.nameRequired
      : this.inputs.some((other) => other.key < key && other.name === name)
        ? text.upload.nameTwice
        : "";
  }

  private choose(): void {
    this.add(this.chooser.files ?? []);
    this.chooser.value = ""; // So that the same file can be added again.
  }

  /** Adds files and uploads them. */
  add(files: Iterable<File>): void {
    for (const file of files) {
      const key = ++this.lastKey;
      const stop = new AbortController();
      const progress = (sent: number) => this.change({ key }, { sent });
      const upload = () => uploadFile(file, progress, stop.signal);
      const input = { key, origin: file.name, name: file.name, size: file.size, sent: 0, id: "" };
      this.inputs = [...this.inputs, { ...input, problem: null, stop, upload }];
      this.send({ key });
    }
  }

  /** Replaces the files by those of a job. */
  use(files: readonly JobFile[]): void {
    this.clear();
    this.inputs = files.map(({ name, file: { id, name: origin, size_bytes: size } }) => ({
      ...{ key: ++this.lastKey, origin, name, size, sent: size, id },
      ...{ problem: null, stop: new AbortController(), upload: null },
    }));
  }

  clear(): void {
    this.inputs.forEach(({ stop }) => stop.abort());
    this.inputs = [];
    this.checked = false;
  }

  /** The IDs of the stored files by name, once they are uploaded; null if one has no ID or a wrong name. */
  async ids(): Promise<Record<string, string> | null> {
    this.checked = true;
    let uploads: Promise<unknown>;
    do {
      uploads = this.uploads;
      await uploads;
    } while (uploads !== this.uploads);
    const wrong = this.inputs.findIndex((input) => !input.id || this.mistakeOf(input));
    if (wrong >= 0) {
      await this.updateComplete;
      this.querySelectorAll<HTMLInputElement>("li input")[wrong]?.focus();
      return null;
    }
    return Object.fromEntries(this.inputs.map(({ name, id }) => [name, id]));
  }

  private send({ key }: Pick<Input, "key">): void {
    this.change({ key }, { problem: null, sent: 0 });
    this.uploads = this.uploads.then(async () => {
      const input = this.inputs.find((each) => each.key === key);
      try {
        const id = await input?.upload?.();
        this.change({ key }, { id: id ?? "" });
      } catch (e) {
        if (!input?.stop.signal.aborted) {
          this.change({ key }, { problem: asProblem(e) });
        }
      }
    });
  }

  private change({ key }: Pick<Input, "key">, change: Partial<Input>): void {
    this.inputs = this.inputs.map((input) => (input.key === key ? { ...input, ...change } : input));
  }

  private drop({ key, stop }: Input): void {
    stop.abort();
    this.inputs = this.inputs.filter((input) => input.key !== key);
    this.querySelector<HTMLElement>("button.add")?.focus();
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "file-inputs": FileInputs;
  }
}
