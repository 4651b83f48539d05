import { html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { Problem, type FieldMistake } from "../../core/api";
import { deleteEntry, readEntry, shownKey, writeEntry, type EntryText } from "../../core/entries";
import { at } from "../../core/format";
import { indented, jsonMistake } from "../../core/json-text";
import { asProblem } from "../../core/load";
import { router } from "../../core/router";
import { signedIn } from "../../core/session";
import { common } from "../../text/common";
import { text } from "../../text/parts/stores";
import { timeAgo } from "../page/basics";
import { confirmAction, toast } from "../page/dialogs";
import { conflictNotice, expiryFields, type Expiry } from "./entry-parts";
import { mistakesOf, textField } from "../forms/fields";
import { jsonField, jsonMistakes } from "../forms/json-field";
import { emptyState, problemNotice } from "../page/notices";
import { Part } from "../page/part";
import { symbol } from "../page/shapes";

const DAY = 86_400;

/**
 * One entry of a DataStore, to be read and changed, or a new one where `key` is null. Fires `saved`
 * (its `detail` is the key), `deleted` and `closed`.
 */
@customElement("store-entry")
export class StoreEntry extends Part {
  @property() storeId = "";
  @property({ attribute: false }) key: string | null = null;
  @state() private entry: EntryText | null = null;
  /** The stored entry, after a conflict. */
  @state() private theirs: EntryText | null | undefined;
  @state() private phase: "loading" | "absent" | "ready" = "loading";
  @state() private newKey = "";
  @state() private text = "";
  @state() private expiry: Expiry = "never";
  @state() private seconds = String(DAY);
  @state() private problem: Problem | null = null;
  @state() private busy = false;
  private request: AbortController | null = null;
  private endGuard: (() => void) | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.endGuard = router.guard(() => this.mayLeave());
    window.addEventListener("beforeunload", this.unload);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.endGuard?.();
    window.removeEventListener("beforeunload", this.unload);
    this.request?.abort();
  }

  override willUpdate(changed: Map<string, unknown>): void {
    if (changed.has("key") || changed.has("storeId")) {
      this.problem = null;
      this.theirs = undefined;
      if (this.key === null) {
        this.begin(null);
      } else {
        void this.read(this.key);
      }
    }
  }

  /** Whether there are unsaved changes. */
  get changed(): boolean {
    return (
      this.phase === "ready" &&
      (this.text !== (this.entry?.text ?? "") || this.newKey !== "" || this.expiry !== this.expiryBefore())
    );
  }

  /** Asks before unsaved changes are lost. */
  async mayLeave(): Promise<boolean> {
    return (
      !this.changed ||
      confirmAction({
        title: text.entry.discardTitle,
        body: text.entry.notSaved(shownKey(this.key ?? this.newKey)),
        confirm: text.entry.discard,
      })
    );
  }

  override render() {
    return html`<form class="panel" @submit=${this.submit} @save=${this.submit}>
      <header>
        <h2 class=${this.key === null ? "" : "mono"}>
          ${this.key === null ? text.entry.create : shownKey(this.key)}
        </h2>
        <button type="button" class="quiet icon" aria-label=${text.entry.close} @click=${this.leave}>
          ${symbol("close")}
        </button>
      </header>
      ${this.content()}
    </form>`;
  }

  private content(): unknown {
    if (this.phase === "loading") {
      return this.problem
        ? problemNotice(this.problem, () => void this.read(this.key!))
        : html`<p class="skeleton" aria-busy="true">${common.loading}</p>`;
    }
    if (this.phase === "absent") {
      return emptyState(text.entry.notFound, text.entry.deletedOrExpired);
    }
    const writes = signedIn.may("write");
    return html`<div class="content column">
      ${this.key === null
        ? textField({
            id: "entry-key",
            label: text.entry.key,
            hint: text.entry.keyHint,
            value: this.newKey,
            required: true,
            mono: true,
            change: (key) => (this.newKey = key),
            mistakes: mistakesOf(this.problem, "/writes/0/key"),
          })
        : nothing}
      ${jsonField({
        id: "entry-value",
        label: text.entry.value,
        value: this.text,
        readonly: !writes,
        change: (value) => (this.text = value),
        mistakes: this.valueMistakes(),
      })}
      ${this.theirs === undefined
        ? nothing
        : conflictNotice(this.theirs, this.text, {
            save: () => this.save(this.theirs?.version ?? 0),
            take: () => this.begin(this.theirs ?? null),
          })}
      ${this.entry ? html`<p class="faint small">${versionText(this.entry)}</p>` : nothing}
      ${writes ? this.controls() : nothing}
    </div>`;
  }

  private controls(): unknown {
    return html`${expiryFields({
        expiry: this.expiry,
        seconds: this.seconds,
        until: this.entry?.expires_at ?? null,
        mistakes: mistakesOf(this.problem, "/writes/0/ttl"),
        choose: (expiry) => (this.expiry = expiry),
        type: (seconds) => (this.seconds = seconds),
      })}
      ${this.placed() ? nothing : problemNotice(this.problem)}
      <div class="row">
        <button class="primary" ?disabled=${this.busy || !this.changed}>
          ${this.busy ? text.entry.saving : this.key === null ? text.entry.confirmCreate : common.save}
        </button>
        <button type="button" ?disabled=${jsonMistake(this.text) !== null} @click=${this.format}>
          ${text.entry.format}
        </button>
        <span class="grow"></span>
        ${this.key === null
          ? nothing
          : html`<button type="button" class="danger" ?disabled=${this.busy} @click=${this.delete}>
              ${common.delete}
            </button>`}
      </div>`;
  }

  private valueMistakes(): FieldMistake[] {
    return mistakesOf(this.problem, "/writes/0/value");
  }

  private placed(): boolean {
    return this.problem?.of("/writes/0").length !== 0;
  }

  private expiryBefore(): Expiry {
    return this.entry?.expires_at ? "keep" : "never";
  }

  private begin(entry: EntryText | null): void {
    this.entry = entry;
    this.text = entry?.text ?? "";
    this.newKey = "";
    this.expiry = this.expiryBefore();
    this.theirs = undefined;
    this.problem = null;
    this.phase = "ready";
  }

  private async read(key: string): Promise<void> {
    this.request?.abort();
    const request = new AbortController();
    this.request = request;
    this.phase = "loading";
    this.problem = null;
    try {
      const entry = await readEntry(this.storeId, key, request.signal);
      if (entry) {
        this.begin(entry);
      } else {
        this.phase = "absent";
      }
    } catch (e) {
      if (!request.signal.aborted) {
        this.problem = asProblem(e);
      }
    }
  }

  private submit(event: Event): void {
    event.preventDefault();
    const mistakes = jsonMistakes("/writes/0/value", this.text);
    if (mistakes.length) {
      this.problem = new Problem(422, "malformed_json", text.entry.notJson, "", mistakes);
    } else if (this.changed && !this.busy) {
      void this.save(this.entry?.version ?? 0);
    }
  }

  private async save(version: number): Promise<void> {
    const key = this.key ?? this.newKey;
    await this.attempt(key, async () => {
      await writeEntry(this.storeId, key, this.text, version, this.lifetime());
      toast(text.entry.saved(shownKey(key)));
      this.newKey = "";
      if (this.key !== null) {
        await this.read(key);
      } else {
        this.begin(null);
      }
      this.dispatchEvent(new CustomEvent("saved", { detail: key }));
    });
  }

  private async delete(): Promise<void> {
    const { entry } = this;
    const sure =
      entry !== null &&
      (await confirmAction({
        title: text.entry.deleteTitle,
        body: text.entry.deletes(shownKey(entry.key)),
        confirm: text.entry.confirmDelete,
        danger: true,
      }));
    if (sure) {
      await this.attempt(entry.key, async () => {
        await deleteEntry(this.storeId, entry.key, entry.version);
        toast(text.entry.deleted(shownKey(entry.key)));
        this.phase = "absent";
        this.dispatchEvent(new Event("deleted"));
      });
    }
  }

  /** Runs an action; after a conflict, reads the stored entry, so that both can be shown. */
  private async attempt(key: string, act: () => Promise<void>): Promise<void> {
    this.busy = true;
    this.problem = null;
    try {
      await act();
    } catch (e) {
      const problem = asProblem(e);
      if (problem.status === 409) {
        this.theirs = await readEntry(this.storeId, key).catch(() => undefined);
      }
      this.problem = this.theirs === undefined ? problem : null;
    } finally {
      this.busy = false;
    }
  }

  /** Seconds from now. */
  private lifetime(): number | null {
    if (this.expiry === "after") {
      return Number(this.seconds);
    }
    const until = this.entry?.expires_at;
    return this.expiry === "keep" && until ? (Date.parse(until) - Date.now()) / 1000 : null;
  }

  private format(): void {
    this.text = indented(this.text);
  }

  private async leave(): Promise<void> {
    if (await this.mayLeave()) {
      this.phase = "loading";
      this.dispatchEvent(new Event("closed"));
    }
  }

  private readonly unload = (event: BeforeUnloadEvent): void => {
    if (this.changed) {
      event.preventDefault();
    }
  };
}

const versionText = ({ version, updated_at, expires_at }: EntryText): unknown =>
  expires_at
    ? text.entry.expiringVersion(
        version,
        timeAgo(updated_at),
        html`<span title=${at(expires_at)}>${timeAgo(expires_at)}</span>`,
      )
    : text.entry.version(version, timeAgo(updated_at));

declare global {
  interface HTMLElementTagNameMap {
    "store-entry": StoreEntry;
  }
}
