import { html, nothing } from "lit";
import { customElement, property } from "lit/decorators.js";
import { all, patch, post, remove } from "../../core/api";
import { asProblem, Load } from "../../core/load";
import { router } from "../../core/router";
import { signedIn } from "../../core/session";
import type { SavedView } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/page";
import { mistakesOf, textField } from "../forms/fields";
import { openForm } from "../forms/small-form";
import { confirmAction, toast } from "./dialogs";
import { Part } from "./part";

/** What a view has of the address. */
export interface ViewState {
  filter: string;
  sort: string;
  columns: string;
  grouped: boolean;
}

/** The saved views of a list. The address says what is shown; a view only sets it. */
@customElement("saved-views")
export class SavedViews extends Part {
  @property() list: "agents" | "executions" = "agents";
  @property({ attribute: false }) current!: ViewState;
  private readonly load = new Load<SavedView[]>(this, (signal) =>
    all<SavedView>("/views", { list: this.list }, signal),
  );

  override render() {
    const views = [...(this.load.value ?? [])].sort((a, b) => a.name.localeCompare(b.name));
    const chosen = views.find((view) => isShown(view, this.current));
    const writes = signedIn.may("write");
    return html`<select
        aria-label=${text.savedViews.label}
        ?disabled=${views.length === 0}
        @change=${(event: Event) => this.show(views[(event.target as HTMLSelectElement).selectedIndex - 1])}
      >
        <option value="" .selected=${!chosen}>
          ${this.load.problem
            ? text.savedViews.notLoaded
            : views.length
              ? text.savedViews.views
              : text.savedViews.none}
        </option>
        ${views.map(
          (view) => html`<option value=${view.id} .selected=${view === chosen}>${view.name}</option>`,
        )}
      </select>
      ${writes && !chosen
        ? html`<button class="quiet" @click=${() => this.save()}>${text.savedViews.save}</button>`
        : nothing}
      ${writes && chosen
        ? html`<button class="quiet" @click=${() => this.rename(chosen)}>${text.savedViews.rename}</button
            ><button class="quiet" @click=${() => this.drop(chosen)}>${text.savedViews.delete}</button>`
        : nothing}`;
  }

  private show(view: SavedView | undefined): void {
    const state: ViewState = view ? stateOf(view) : { filter: "", sort: "", columns: "", grouped: false };
    router.query({
      q: state.filter,
      sort: state.sort,
      columns: state.columns,
      group: state.grouped ? "tag" : null,
    });
  }

  private async save(): Promise<void> {
    const { filter, sort, columns, grouped } = this.current;
    const saved = await openForm({
      title: text.savedViews.save,
      draft: { name: filter.slice(0, 60) },
      fields: nameField,
      pointers: ["/name"],
      confirm: text.savedViews.save,
      save: ({ name }) =>
        post<SavedView>("/views", {
          list: this.list,
          name,
          filter,
          grouped,
          ...(sort ? { sort } : {}),
          ...(columns ? { columns: columns.split(",") } : {}),
        }),
    });
    await this.again(saved && text.savedViews.saved(saved.name));
  }

  private async rename(view: SavedView): Promise<void> {
    const saved = await openForm({
      title: text.savedViews.rename,
      draft: { name: view.name },
      fields: nameField,
      pointers: ["/name"],
      confirm: common.rename,
      save: ({ name }) => patch<SavedView>(`/views/${view.id}`, { name }),
    });
    await this.again(saved && text.savedViews.renamed(saved.name));
  }

  private async drop(view: SavedView): Promise<void> {
    const sure = await confirmAction({
      title: text.savedViews.deleteTitle(view.name),
      body: text.savedViews.everyoneLoses,
      confirm: text.savedViews.delete,
      danger: true,
    });
    if (sure) {
      try {
        await remove(`/views/${view.id}`);
        await this.again(text.savedViews.deleted(view.name));
      } catch (e) {
        toast(asProblem(e).message, { failed: true });
      }
    }
  }

  private async again(message: string | null): Promise<void> {
    if (message) {
      toast(message);
      await this.load.again();
    }
  }
}

const nameField = (
  draft: { name: string },
  take: (changes: { name: string }) => void,
  problem: Parameters<typeof mistakesOf>[0],
) =>
  textField({
    id: "view-name",
    label: common.name,
    value: draft.name,
    hint: text.savedViews.nameHint,
    mistakes: mistakesOf(problem, "/name"),
    change: (name) => take({ name }),
  });

const stateOf = (view: SavedView): ViewState => ({
  filter: view.filter,
  sort: view.sort ?? "",
  columns: view.columns?.join(",") ?? "",
  grouped: view.grouped,
});

const isShown = (view: SavedView, current: ViewState): boolean => {
  const state = stateOf(view);
  return (
    state.filter === current.filter &&
    state.sort === current.sort &&
    state.columns === current.columns &&
    state.grouped === current.grouped
  );
};

declare global {
  interface HTMLElementTagNameMap {
    "saved-views": SavedViews;
  }
}
