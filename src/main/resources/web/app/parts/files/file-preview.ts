import { html, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import type { Problem } from "../../core/api";
import { asProblem } from "../../core/load";
import { common } from "../../text/common";
import { text } from "../../text/parts/files";
import "../code/json-tree";
import { problemNotice } from "../page/notices";
import { Part } from "../page/part";
import type { Previewed } from "./kinds";
import { previewOf, type Preview } from "./previews";
import { dataTable } from "./table";

/** The content of a file, or its beginning. */
@customElement("file-preview")
export class FilePreview extends Part {
  @property({ attribute: false }) file!: Previewed;
  @state() private preview: Preview | null = null;
  @state() private problem: Problem | null = null;
  private reading = new AbortController();

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.hasUpdated) {
      void this.read();
    }
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.clear();
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    const before = changed.get("file") as Previewed | undefined;
    if (changed.has("file") && before?.address !== this.file.address) {
      void this.read();
    }
  }

  private clear(): void {
    this.reading.abort();
    if (this.preview?.kind === "image") {
      URL.revokeObjectURL(this.preview.url);
    }
    this.preview = null;
    this.problem = null;
  }

  private async read(): Promise<void> {
    this.clear();
    const { signal } = (this.reading = new AbortController());
    try {
      const preview = await previewOf(this.file, signal);
      if (!signal.aborted) {
        this.preview = preview;
      } else if (preview.kind === "image") {
        URL.revokeObjectURL(preview.url);
      }
    } catch (e) {
      if (!signal.aborted) {
        this.problem = asProblem(e);
      }
    }
  }

  override render() {
    return this.problem
      ? problemNotice(this.problem, () => void this.read())
      : this.preview
        ? this.show(this.preview)
        : html`<p class="faint" aria-busy="true">${common.loading}</p>`;
  }

  private show(preview: Preview): TemplateResult {
    const { name } = this.file;
    const label = text.preview.of(name);
    switch (preview.kind) {
      case "image":
        return html`<img src=${preview.url} alt=${name} @error=${this.notAnImage} />`;
      case "text":
        return html`<pre class="emitted" tabindex="0" role="group" aria-label=${label}>${preview.text}</pre>
          ${preview.note ? html`<p class="faint small">${preview.note}</p>` : nothing}`;
      case "json":
        return html`<json-tree name=${label} .value=${preview.value}></json-tree>`;
      case "table":
        return dataTable(label, preview.table);
      case "message":
        return html`<p class="faint">${preview.message}</p>`;
    }
  }

  private notAnImage(): void {
    this.clear();
    this.preview = { kind: "message", message: text.preview.noImage };
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "file-preview": FilePreview;
  }
}
