import { html, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { repeat } from "lit/directives/repeat.js";
import { bytes } from "../../core/format";
import { PagedLoad } from "../../core/load";
import { Polling } from "../../core/polling";
import { signedIn } from "../../core/session";
import type { JobFile, StoredFile } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/files";
import { download, publicLink } from "../files/downloads";
import { mediaType, previewKind, storedContent } from "../files/kinds";
import { tried } from "../page/actions";
import { copyText } from "../page/basics";
import { toast } from "../page/dialogs";
import { problemNotice } from "../page/notices";
import { Part } from "../page/part";

/** Milliseconds between readings while the job runs: artifacts have no events. */
const POLL = 2_000;

const keyOf = ({ kind, name }: JobFile): string => `${kind}/${name}`;

/** The files of a job: those submitted with it, and its artifacts; nothing while it has none. */
@customElement("job-files")
export class JobFiles extends Part {
  @property() jobId = "";
  /** Whether further artifacts may follow. */
  @property({ type: Boolean }) live = false;
  @state() private opened = new Set<string>();
  private readonly load = new PagedLoad<JobFile>(
    this,
    () => `/executor-jobs/${this.jobId}/files`,
    () => ({}),
    (change) => change.subject === this.jobId || change.data.executor_job_id === this.jobId,
    () => this.jobId !== "",
  );

  constructor() {
    super();
    new Polling(this, this.load, () => this.live && !this.load.value?.next_cursor, POLL);
  }

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.has("jobId") && this.jobId) {
      this.opened = new Set();
      void this.load.again(true);
    } else if (changed.get("live") === true) {
      void this.load.again();
    }
  }

  override render() {
    const { value, problem } = this.load;
    if (problem && !value) {
      return problemNotice(problem);
    }
    if (!value?.data.length) {
      return nothing;
    }
    return html`<section class="panel" aria-labelledby="files-title">
      <header><h2 id="files-title">${text.list.title}</h2></header>
      <ul class="content file-list">
        ${repeat(value.data, keyOf, (file) => this.row(file))}
      </ul>
      ${value.next_cursor
        ? html`<p class="content">
            <button ?disabled=${this.load.loading} @click=${() => this.load.more()}>
              ${this.load.loading ? common.loading : common.showMore}
            </button>
          </p>`
        : nothing}
    </section>`;
  }

  private row(each: JobFile): TemplateResult {
    const { kind, name, file } = each;
    const isStored = file.state === "stored";
    const isOpen = isStored && this.opened.has(keyOf(each));
    return html`<li>
      <div class="row">
        <span class="about">
          <span class="name">${name}</span>
          <span class="faint small">
            <span title=${text.list.kindTitles[kind]}>${text.list.kinds[kind]}</span>
            ${file.name === name ? nothing : html`· ${file.name}`} · ${mediaType(file)}
          </span>
        </span>
        <span class="number">${isStored ? bytes(file.size_bytes) : text.list.uploading}</span>
        ${isStored ? this.actions(each, isOpen) : nothing}
      </div>
      ${isOpen ? html`<file-preview .file=${storedContent(file)}></file-preview>` : nothing}
    </li>`;
  }

  private actions(each: JobFile, isOpen: boolean): TemplateResult {
    const { name, file } = each;
    return html`<span class="row-actions">
      ${previewKind(file)
        ? html`<button
            aria-expanded=${isOpen}
            aria-label=${isOpen ? text.list.hideFile(name) : text.list.showFile(name)}
            @click=${() => this.toggle(keyOf(each))}
          >
            ${isOpen ? text.list.hide : text.list.show}
          </button>`
        : nothing}
      <button aria-label=${text.list.downloadFile(name)} @click=${() => void tried(() => download(file))}>
        ${text.list.download}
      </button>
      ${signedIn.may("execute")
        ? html`<button
            aria-label=${text.list.copyLinkTo(name)}
            title=${text.list.copyLinkTitle}
            @click=${() => void this.copyLink(file)}
          >
            ${text.list.copyLink}
          </button>`
        : nothing}
    </span>`;
  }

  private toggle(key: string): void {
    void import("../files/file-preview");
    const opened = new Set(this.opened);
    if (!opened.delete(key)) {
      opened.add(key);
    }
    this.opened = opened;
  }

  private async copyLink(file: StoredFile): Promise<void> {
    if (await tried(async () => copyText(await publicLink(file)))) {
      toast(text.list.copied);
    }
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "job-files": JobFiles;
  }
}
