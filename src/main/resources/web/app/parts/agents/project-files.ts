import { html, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { requestBlob } from "../../core/api";
import { bytes } from "../../core/format";
import { Load } from "../../core/load";
import type { BundleFile } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/files";
import { bundleContent, filesOf, treeOf, type Branch } from "../files/bundle-files";
import { tried } from "../page/actions";
import { open } from "../page/dialogs";
import { loaded } from "../page/notices";
import { Part } from "../page/part";
import { saveFile } from "../page/save-file";
import "./project-file";

/** Directories of larger projects are closed at first. */
const OPEN_FILES = 30;
/** From this size on, the project's files can be searched. */
const SEARCHED_FILES = 15;
/** So many results of a search are shown. */
const RESULTS = 200;

/** The files of an agent's project, as a tree; each can be looked at. */
@customElement("project-files")
export class ProjectFiles extends Part {
  @property() bundleId = "";
  /** The path of the agent's script. */
  @property() scriptPath = "";
  @state() private searched = "";
  private readonly load = new Load<BundleFile[]>(this, (signal) => filesOf(this.bundleId, signal));

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.get("bundleId")) {
      void this.load.again();
    }
  }

  override render() {
    const files = this.load.value;
    return html`<details class="panel project" ?open=${!!files && files.length <= OPEN_FILES}>
      <summary>
        <h2>${text.project.title}</h2>
        ${files ? html`<span class="faint">${text.project.size(files)}</span>` : nothing}
      </summary>
      ${loaded(this.load, (files) => this.content(files))}
    </details>`;
  }

  private content(files: BundleFile[]): TemplateResult {
    const words = this.searched.toLowerCase();
    return html`<div class="content column">
      ${files.length >= SEARCHED_FILES
        ? html`<input
            type="search"
            aria-label=${text.project.search}
            placeholder=${text.project.search}
            .value=${this.searched}
            @input=${(event: Event) => (this.searched = (event.target as HTMLInputElement).value)}
          />`
        : nothing}
      ${words
        ? this.results(files.filter(({ path }) => path.toLowerCase().includes(words)))
        : html`<ul class="tree">
            ${treeOf(files).map((branch) => this.branch(branch, files.length <= OPEN_FILES))}
          </ul>`}
      <p class="hint faint small">${text.project.hint}</p>
    </div>`;
  }

  private results(files: BundleFile[]): TemplateResult {
    return files.length
      ? html`<ul class="tree" aria-live="polite">
            ${files.slice(0, RESULTS).map((file) => html`<li>${this.row(file, file.path)}</li>`)}
          </ul>
          ${files.length > RESULTS
            ? html`<p class="faint small">${text.project.firstOf(RESULTS, files.length)}</p>`
            : nothing}`
      : html`<p class="faint">${text.project.noMatches}</p>`;
  }

  private branch(branch: Branch, isOpen: boolean): TemplateResult {
    return branch.file
      ? html`<li>${this.row(branch.file, branch.name)}</li>`
      : html`<li>
          <details ?open=${isOpen}>
            <summary>
              ${branch.name}/ <span class="faint small">${text.project.count(branch.count)}</span>
            </summary>
            <ul>
              ${branch.branches.map((each) => this.branch(each, isOpen))}
            </ul>
          </details>
        </li>`;
  }

  private row(file: BundleFile, name: string): TemplateResult {
    return html`<button
        class="quiet mono"
        aria-label=${text.project.show(file.path)}
        @click=${() => void this.show(file)}
      >
        ${name}
      </button>
      ${file.path === this.scriptPath ? html`<span class="small">${text.project.script}</span>` : nothing}
      <span class="faint small number">${bytes(file.size_bytes)}</span>`;
  }

  private async show(file: BundleFile): Promise<void> {
    const { bundleId } = this;
    await open<void>(
      (close) =>
        html`<div class="body review">
          <h2 id="dialog-title" class="mono">${file.path}</h2>
          <div class="text"><project-file .bundleId=${bundleId} .file=${file}></project-file></div>
          <div class="actions">
            <button @click=${() => void tried(() => save(bundleId, file))}>${text.list.download}</button>
            <button class="primary" @click=${() => close()}>${common.close}</button>
          </div>
        </div>`,
      () => undefined,
      { wide: true },
    );
  }
}

/** Has the browser save a file. */
async function save(bundleId: string, file: BundleFile): Promise<void> {
  const { address, name } = bundleContent(bundleId, file);
  saveFile(await requestBlob(address, "*/*"), name);
}

declare global {
  interface HTMLElementTagNameMap {
    "project-files": ProjectFiles;
  }
}
