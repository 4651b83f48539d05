import { html, nothing } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { get } from "../core/api";
import { bytes, count } from "../core/format";
import { Load } from "../core/load";
import { Polling } from "../core/polling";
import { queried, router } from "../core/router";
import { signedIn } from "../core/session";
import type { DataStore } from "../core/types";
import { idLink, timeAgo } from "../parts/page/basics";
import "../parts/stores/entry-list";
import type { EntryList } from "../parts/stores/entry-list";
import { searchField } from "../parts/forms/fields";
import { loaded, roleNotice } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import "../parts/stores/store-entry";
import type { StoreEntry } from "../parts/stores/store-entry";
import { renameStore } from "../parts/stores/store-form";
import { importInto } from "../parts/stores/store-import";
import { agentsOf, deleteStore, exportStore, lastWrite } from "../parts/stores/stores";
import { common } from "../text/common";
import { text } from "../text/pages/store";

/** The key in the address; null: none. */
const keyOfAddress = (): string | null => queried("key") || null;

/** Milliseconds. */
const POLL = 5_000;

/** A DataStore: its keys on the left, one entry on the right. */
@customElement("store-page")
export class StorePage extends Part {
  @property() storeId = "";
  @state() private key = keyOfAddress();
  @state() private adding = false;
  @state() private exporting = false;
  @query("entry-list") private list!: EntryList | null;
  @query("store-entry") private entry!: StoreEntry | null;
  private endMoves: (() => void) | undefined;
  /** The time of the last write that the entries show. */
  private written: string | undefined;
  private readonly load: Load<DataStore> = new Load(
    this,
    (signal) => get<DataStore>(`/datastore/${this.storeId}`, {}, signal),
    ({ type, subject, agent_id }) =>
      subject === this.storeId ||
      type.startsWith("agent.") ||
      (type.startsWith("execution.") && (this.load.value?.agent_ids ?? []).includes(agent_id ?? "")),
  );

  constructor() {
    super();
    // Writes emit no events.
    new Polling(this, this.load, () => true, POLL);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.endMoves = router.onMove(() => void this.moved());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.endMoves?.();
  }

  override updated(changed: Map<string, unknown>): void {
    if (changed.get("storeId")) {
      void this.load.again(true);
    }
    const written = this.load.value?.updated_at;
    if (this.written && written && written !== this.written) {
      this.list?.again();
    }
    this.written = written;
  }

  override render() {
    return loaded(
      this.load,
      (store) =>
        html`<nav class="small" aria-label=${text.breadcrumb}><a href="/stores">${text.stores}</a></nav>
          <div class="page-head">
            <h1>${store.name}</h1>
            <div class="actions">${this.actions(store)}</div>
          </div>
          ${roleNotice("write", text.changing)} ${this.facts(store)}
          <div class="workspace ${this.open ? "open" : ""}">
            <div class="panel">
              <header>
                <h2>${text.entries}</h2>
                ${searchField(text.keyPrefix, queried("prefix"), (prefix) => router.query({ prefix }))}
                ${signedIn.may("write")
                  ? html`<button @click=${this.add}>${text.newEntry}</button>`
                  : nothing}
                <button class="quiet" @click=${this.again}>${text.reload}</button>
              </header>
              <entry-list .store=${store} .begins=${queried("prefix")} .chosen=${this.key}></entry-list>
            </div>
            ${this.open
              ? html`<store-entry
                  .storeId=${store.id}
                  .key=${this.adding ? null : this.key}
                  @saved=${(event: CustomEvent<string>) => this.saved(event.detail)}
                  @deleted=${this.again}
                  @closed=${() => this.show(null)}
                ></store-entry>`
              : nothing}
          </div>`,
    );
  }

  private get open(): boolean {
    return this.adding || this.key !== null;
  }

  private actions(store: DataStore): unknown {
    const writes = signedIn.may("write");
    return html`${writes
        ? html`<button @click=${() => this.thenAgain(renameStore(store))}>${common.rename}</button>
            <button @click=${() => this.thenAgain(importInto(store))}>${text.import}</button>`
        : nothing}
      <button ?disabled=${this.exporting} @click=${() => this.export(store)}>
        ${this.exporting ? text.exporting : queried("prefix") ? text.exportMatching : text.export}
      </button>
      ${writes
        ? html`<button class="danger" @click=${() => this.delete(store)}>${common.delete}</button>`
        : nothing}`;
  }

  private facts(store: DataStore): unknown {
    const limit = signedIn.runtime?.limits.store_bytes;
    return html`<dl class="figures">
      <div>
        <dt>${text.entries}</dt>
        <dd>${count(store.entries)}</dd>
      </div>
      <div>
        <dt>${text.size}</dt>
        <dd>
          ${bytes(store.size_bytes)}${limit
            ? html` <span class="faint">${text.ofSize(bytes(limit))}</span>`
            : nothing}
        </dd>
      </div>
      <div>
        <dt>${text.agents}</dt>
        <dd>${agentsOf(store)}</dd>
      </div>
      <div>
        <dt>${text.lastWrite}</dt>
        <dd>${lastWrite(store)}</dd>
      </div>
      <div>
        <dt>${text.created}</dt>
        <dd>${timeAgo(store.created_at)}</dd>
      </div>
      <div>
        <dt>${text.id}</dt>
        <dd>${idLink(store.id)}</dd>
      </div>
    </dl>`;
  }

  /** The address has changed: opens its key, unless unsaved changes would be lost. */
  private async moved(): Promise<void> {
    const key = keyOfAddress();
    if (key !== this.key && location.pathname.startsWith("/stores/")) {
      if (await (this.entry?.mayLeave() ?? true)) {
        this.adding = false;
        this.key = key;
      } else {
        router.query({ key: this.key });
      }
    }
    this.requestUpdate();
  }

  private async add(): Promise<void> {
    if (await (this.entry?.mayLeave() ?? true)) {
      this.key = null;
      this.adding = true;
      router.query({ key: null });
      await this.updateComplete;
      await this.entry?.updateComplete;
      this.entry?.querySelector("input")?.focus();
    }
  }

  private show(key: string | null): void {
    this.adding = false;
    this.key = key;
    router.query({ key });
  }

  private saved(key: string): void {
    this.show(key);
    this.again();
  }

  private again(): void {
    this.list?.again();
    void this.load.again();
  }

  private async export(store: DataStore): Promise<void> {
    this.exporting = true;
    await exportStore(store, queried("prefix"));
    this.exporting = false;
  }

  private async thenAgain(work: Promise<unknown>): Promise<void> {
    await work;
    this.again();
  }

  private async delete(store: DataStore): Promise<void> {
    if (await deleteStore(store.id)) {
      await router.go("/stores");
    }
  }
}
