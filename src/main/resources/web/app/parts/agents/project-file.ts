import { html, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { requestBytes, type Problem } from "../../core/api";
import { asProblem } from "../../core/load";
import type { BundleFile } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/files";
import "../code/code-editor";
import type { Language } from "../code/code-editor";
import { bundleContent } from "../files/bundle-files";
import "../files/file-preview";
import { mediaType } from "../files/kinds";
import { problemNotice } from "../page/notices";
import { Part } from "../page/part";

/** More of a text isn't shown, in bytes. */
const TEXT_BYTES = 512 * 1024;

/** A file of a bundle: a text in an editor, anything else as a preview. */
@customElement("project-file")
export class ProjectFile extends Part {
  @property() bundleId = "";
  @property({ attribute: false }) file!: BundleFile;
  /** Null: not read, or no text. */
  @state() private content: string | null = null;
  @state() private reading = true;
  @state() private problem: Problem | null = null;

  override connectedCallback(): void {
    super.connectedCallback();
    void this.read();
  }

  override render() {
    if (this.problem) {
      return problemNotice(this.problem, () => void this.read());
    }
    if (this.reading) {
      return html`<p class="faint" aria-busy="true">${common.loading}</p>`;
    }
    return this.content === null ? this.preview() : this.editor(this.content);
  }

  private editor(content: string): TemplateResult {
    return html`<code-editor
      .label=${text.preview.of(this.file.path)}
      .language=${languageOf(this.file.path)}
      .autoHeight=${true}
      .readonly=${true}
      .value=${content}
    ></code-editor>`;
  }

  private preview(): TemplateResult {
    const file = bundleContent(this.bundleId, this.file);
    return mediaType(file) === "application/octet-stream"
      ? html`<p class="faint">${text.preview.notText}</p>`
      : html`<file-preview .file=${file}></file-preview>`;
  }

  private async read(): Promise<void> {
    [this.problem, this.reading] = [null, true];
    try {
      this.content = await textOf(this.bundleId, this.file);
    } catch (e) {
      this.problem = asProblem(e);
    }
    this.reading = false;
  }
}

const languageOf = (path: string): Language =>
  path.endsWith(".py") ? "python" : path.endsWith(".json") ? "json" : "text";

/** The text of a file; null if it isn't one, or is too large to be shown in an editor. */
export async function textOf(bundleId: string, file: BundleFile): Promise<string | null> {
  const content = bundleContent(bundleId, file);
  if (!["text/plain", "application/json"].includes(mediaType(content)) || file.size_bytes > TEXT_BYTES) {
    return null;
  }
  if (file.size_bytes === 0) {
    return "";
  }
  const bytes = await requestBytes(content.address, 0, file.size_bytes);
  try {
    const read = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return read.includes("\0") ? null : read;
  } catch {
    return null; // Not UTF-8.
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "project-file": ProjectFile;
  }
}
