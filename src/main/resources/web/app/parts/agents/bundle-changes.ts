import { html, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { bytes } from "../../core/format";
import { asProblem, Load } from "../../core/load";
import { common } from "../../text/common";
import { text } from "../../text/parts/files";
import "../code/code-diff";
import { changesBetween, filesOf, type FileChange } from "../files/bundle-files";
import { toast } from "../page/dialogs";
import { loaded } from "../page/notices";
import { Part } from "../page/part";
import { textOf } from "./project-file";

/** So many files are listed; a move of everything may change thousands. */
const LISTED = 100;

/** The texts of a file on both sides; null: it can't be compared. */
type Texts = [string, string] | null;

/** The files in which two bundles differ; texts can be compared. */
@customElement("bundle-changes")
export class BundleChanges extends Part {
  /** Identifiers; "": no files but the script. */
  @property() from = "";
  @property() to = "";
  @state() private texts = new Map<string, Texts>();
  private readonly load = new Load<FileChange[]>(this, async (signal) => {
    const [from, to] = await Promise.all([this.from, this.to].map((id) => (id ? filesOf(id, signal) : [])));
    return changesBetween(from!, to!);
  });

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.get("from") !== undefined || changed.get("to") !== undefined) {
      this.texts = new Map();
      void this.load.again(true);
    }
  }

  override render() {
    return loaded(
      this.load,
      (changes) =>
        html`<ul class="tree">
            ${changes.slice(0, LISTED).map((change) => this.row(change))}
          </ul>
          ${changes.length > LISTED
            ? html`<p class="faint small">${text.project.firstOf(LISTED, changes.length)}</p>`
            : nothing}`,
    );
  }

  private row(change: FileChange): TemplateResult {
    const { path, from, to } = change;
    const kind = !from ? text.project.added : !to ? text.project.removed : text.project.changed;
    return html`<li>
      <details @toggle=${(event: Event) => void this.opened(event, change)}>
        <summary>
          <span class="mono">${path}</span> <span class="faint small">${kind}${sizes(change)}</span>
        </summary>
        ${this.comparison(path)}
      </details>
    </li>`;
  }

  private comparison(path: string): unknown {
    const texts = this.texts.get(path);
    return texts === undefined
      ? html`<p class="faint" aria-busy="true">${common.loading}</p>`
      : texts === null
        ? html`<p class="faint small">${text.project.notCompared}</p>`
        : html`<code-diff .from=${texts[0]} .to=${texts[1]} .label=${path}></code-diff>`;
  }

  private async opened(event: Event, { path, from, to }: FileChange): Promise<void> {
    if (!(event.target as HTMLDetailsElement).open || this.texts.has(path)) {
      return;
    }
    try {
      const [before, after] = await Promise.all([
        from ? textOf(this.from, from) : "",
        to ? textOf(this.to, to) : "",
      ]);
      const texts: Texts = before === null || after === null ? null : [before, after];
      this.texts = new Map(this.texts).set(path, texts);
    } catch (e) {
      toast(asProblem(e).message, { failed: true });
    }
  }
}

const sizes = ({ from, to }: FileChange): string =>
  from && to && from.size_bytes === to.size_bytes
    ? ""
    : ` · ${[from, to].flatMap((file) => (file ? [bytes(file.size_bytes)] : [])).join(" → ")}`;

declare global {
  interface HTMLElementTagNameMap {
    "bundle-changes": BundleChanges;
  }
}
