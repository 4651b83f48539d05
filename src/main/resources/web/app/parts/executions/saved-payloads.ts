import { html, nothing, type PropertyValues } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { get, Problem, remove, requestExactly, toJson } from "../../core/api";
import { asProblem, Load } from "../../core/load";
import type { SavedPayload } from "../../core/types";
import { common } from "../../text/common";
import { text as texts } from "../../text/parts/executions";
import { mistakesOf, textField } from "../forms/fields";
import { openForm } from "../forms/small-form";
import { confirmAction, toast } from "../page/dialogs";
import { Part } from "../page/part";

const text = texts.savedPayloads;

/** The payloads that are saved for an agent. Fires `choose` with the text of a chosen one as its detail. */
@customElement("saved-payloads")
export class SavedPayloads extends Part {
  @property() agentId = "";
  /** The text in the editor. */
  @property() payload = "";
  /** The one that was chosen or saved last, with its text in the editor. */
  @state() private chosen: { name: string; payload: string } | null = null;
  private readonly load = new Load<SavedPayload[]>(this, async (signal) =>
    this.agentId ? (await get<{ data: SavedPayload[] }>(this.path(), {}, signal)).data : [],
  );

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.get("agentId")) {
      this.chosen = null;
      void this.load.again(true);
    }
  }

  override render() {
    const saved = this.load.value ?? [];
    const shown = this.chosen?.payload === this.payload ? this.chosen.name : "";
    return html`${saved.length || this.load.problem
      ? html`<select
          aria-label=${text.label}
          ?disabled=${saved.length === 0}
          @change=${(event: Event) => void this.show((event.target as HTMLSelectElement).value)}
        >
          <option value="" .selected=${!shown}>${this.load.problem ? text.notLoaded : text.label}</option>
          ${saved.map(({ name }) => html`<option value=${name} .selected=${name === shown}>${name}</option>`)}
        </select>`
      : nothing}
    ${!shown && this.payload.trim()
      ? html`<button class="quiet" @click=${() => void this.save()}>${text.save}</button>`
      : nothing}
    ${shown
      ? html`<button class="quiet" @click=${() => void this.drop(shown)}>${text.delete}</button>`
      : nothing}`;
  }

  private path(...name: string[]): string {
    return ["/agents", this.agentId, "payloads", ...name.map(encodeURIComponent)].join("/");
  }

  private async show(name: string): Promise<void> {
    if (!name) {
      return;
    }
    try {
      const { value } = await requestExactly<SavedPayload>("GET", this.path(name));
      this.choose(name, toJson(value.payload, 2));
    } catch (e) {
      this.requestUpdate(); // The menu shows what is in the editor again.
      toast(asProblem(e).message, { failed: true });
      void this.load.again();
    }
  }

  private choose(name: string, payload: string): void {
    this.chosen = { name, payload };
    this.dispatchEvent(new CustomEvent("choose", { detail: payload }));
  }

  private async save(): Promise<void> {
    const { payload } = this;
    const { checkJson } = await import("../code/json-checks");
    const [mistake] = checkJson(payload);
    if (mistake) {
      toast(text.notJson(mistake.line, mistake.message), { failed: true });
      return;
    }
    const isTaken = (name: string) => this.load.value?.some((each) => each.name === name.trim()) ?? false;
    const saved = await openForm({
      title: text.save,
      draft: { name: this.chosen?.name ?? "" },
      fields: ({ name }, take, problem) =>
        textField({
          id: "payload-name",
          label: common.name,
          value: name,
          required: true,
          hint: isTaken(name) ? text.replaces : text.forEveryone,
          mistakes: mistakesOf(problem, "/name"),
          change: (changed) => take({ name: changed }),
        }),
      pointers: ["/name"],
      confirm: text.save,
      save: ({ name }) => this.put(name.trim(), payload),
    });
    if (saved) {
      this.chosen = { name: saved.name, payload };
      toast(text.saved(saved.name));
      await this.load.again();
    }
  }

  private async put(name: string, payload: string): Promise<SavedPayload> {
    if (!name) {
      const detail = text.nameRequired;
      throw new Problem(422, "validation_failed", detail, detail, [
        { pointer: "/name", code: "required", detail },
      ]);
    }
    const options = { text: `{"payload": ${payload}}` };
    return (await requestExactly<SavedPayload>("PUT", this.path(name), options)).value;
  }

  private async drop(name: string): Promise<void> {
    const sure = await confirmAction({
      title: text.confirmDelete(name),
      body: text.everyoneLoses,
      confirm: text.delete,
      danger: true,
    });
    if (sure) {
      try {
        await remove(this.path(name));
        this.chosen = null;
        toast(text.deleted(name));
      } catch (e) {
        toast(asProblem(e).message, { failed: true });
      }
      await this.load.again();
    }
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "saved-payloads": SavedPayloads;
  }
}
