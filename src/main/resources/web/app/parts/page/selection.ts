import {
  html,
  nothing,
  type ReactiveController,
  type ReactiveControllerHost,
  type TemplateResult,
} from "lit";
import { count } from "../../core/format";
import type { PagedLoad } from "../../core/load";
import { text } from "../../text/parts/page";
import { toast } from "./dialogs";

/** The most rows that are loaded to be selected. */
const MOST = 1_000;

/** What is done with all selected rows. */
export interface BulkAction<T> {
  title: string;
  /** Selected rows that it would change. */
  applies: (row: T) => boolean;
  run: (rows: T[]) => Promise<unknown>;
}

/** The rows of a list that are selected for an action; rows that leave the list leave the selection. */
export class Selection<T extends { id: string }> implements ReactiveController {
  private readonly ids = new Set<string>();

  /** @param shown whether the list is on the page now */
  constructor(
    private readonly host: ReactiveControllerHost,
    private readonly load: PagedLoad<T>,
    private readonly shown = () => true,
  ) {
    host.addController(this);
  }

  hostDisconnected(): void {
    this.ids.clear();
  }

  /** A checkbox for a row. */
  box(row: T, name: string): TemplateResult {
    return html`<input
      type="checkbox"
      class="select"
      aria-label=${text.selection.select(name)}
      .checked=${this.ids.has(row.id)}
      @change=${() => this.toggle(row.id)}
    />`;
  }

  /** How many are selected, and what can be done with them; nothing without a selection. */
  bar(actions: readonly BulkAction<T>[]): unknown {
    const selected = this.rows().filter(({ id }) => this.ids.has(id));
    if (selected.length === 0) {
      return nothing;
    }
    return html`<div class="bulk" role="region" aria-label=${text.selection.label}>
      <strong>${text.selection.selected(selected.length)}</strong>
      ${actions.map(({ title, applies, run }) => {
        const rows = selected.filter(applies);
        return html`<button ?disabled=${rows.length === 0} @click=${() => this.act(run, rows)}>
          ${title}${rows.length < selected.length ? ` (${count(rows.length)})` : nothing}
        </button>`;
      })}
      <button class="quiet" @click=${() => this.set(this.rows())}>${text.selection.selectShown}</button>
      ${this.load.value?.next_cursor
        ? html`<button class="quiet" ?disabled=${this.load.loading} @click=${() => this.all()}>
            ${text.selection.selectMatching}
          </button>`
        : nothing}
      <button class="quiet" @click=${() => this.set([])}>${text.selection.clear}</button>
    </div>`;
  }

  private rows(): readonly T[] {
    return (this.shown() && this.load.value?.data) || [];
  }

  /** Selects the rows that match the filter, also those that aren't shown yet. */
  private async all(): Promise<void> {
    await this.load.upTo(MOST);
    this.set(this.rows());
    if (this.load.value?.next_cursor) {
      toast(text.selection.onlyFirst(MOST));
    }
  }

  private async act(run: (rows: T[]) => Promise<unknown>, rows: T[]): Promise<void> {
    if ((await run(rows)) !== false) {
      this.set([]);
    }
  }

  private toggle(id: string): void {
    if (!this.ids.delete(id)) {
      this.ids.add(id);
    }
    this.host.requestUpdate();
  }

  private set(rows: readonly T[]): void {
    this.ids.clear();
    rows.forEach(({ id }) => this.ids.add(id));
    this.host.requestUpdate();
  }
}
