import { html, nothing, type TemplateResult } from "lit";
import { customElement } from "lit/decorators.js";
import { PagedLoad, typed } from "../core/load";
import { Polling } from "../core/polling";
import { queried, router } from "../core/router";
import { signedIn } from "../core/session";
import type { DataStore } from "../core/types";
import { searchField } from "../parts/forms/fields";
import { emptyState, roleNotice } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { createStore } from "../parts/stores/store-form";
import { deleteStore, STORE_COLUMNS } from "../parts/stores/stores";
import { pagedTable, type Column } from "../parts/page/tables";
import { text } from "../text/pages/stores";

/** Milliseconds. */
const STORES_POLL = 5_000;

/** Every DataStore. */
@customElement("stores-page")
export class StoresPage extends Part {
  private q = queried("q");
  private readonly load = new PagedLoad<DataStore>(
    this,
    () => "/datastore",
    () => ({ q: this.q }),
    // Writes emit no events: those of an execution are complete when it ends, others are polled.
    typed("datastore", "agent", "execution"),
  );
  private endMoves: (() => void) | undefined;

  constructor() {
    super();
    new Polling(this, this.load, () => true, STORES_POLL);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.endMoves = router.onMove(() => this.look(queried("q")));
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.endMoves?.();
  }

  override render() {
    return html`<div class="page-head">
        <h1>${text.title}</h1>
        ${searchField(text.search, this.q, (q) => router.query({ q }))}
        <div class="actions">
          ${signedIn.may("write")
            ? html`<button class="primary" @click=${create}>${text.create}</button>`
            : nothing}
        </div>
      </div>
      ${roleNotice("write", text.changing)}
      <div class="panel">${pagedTable(text.title, COLUMNS, this.load, () => this.empty())}</div>`;
  }

  private look(q: string): void {
    if (q !== this.q && location.pathname === "/stores") {
      this.q = q;
      void this.load.again();
    }
  }

  private empty(): TemplateResult {
    return this.q
      ? emptyState(
          text.noMatches,
          text.noneHas(this.q),
          html`<button @click=${() => router.query({ q: null })}>${text.showAll}</button>`,
        )
      : emptyState(
          text.none,
          text.about,
          signedIn.may("write")
            ? html`<button class="primary" @click=${create}>${text.create}</button>`
            : nothing,
        );
  }
}

async function create(): Promise<void> {
  const store = await createStore();
  if (store) {
    await router.go(`/stores/${store.id}`);
  }
}

const COLUMNS: Column<DataStore>[] = [...STORE_COLUMNS, { title: "", cell: actions }];

function actions(store: DataStore): unknown {
  return signedIn.may("write")
    ? html`<span class="row-actions"
        ><button class="quiet" @click=${() => deleteStore(store.id)}>
          ${text.deleteStore(store.name)}
        </button></span
      >`
    : nothing;
}
