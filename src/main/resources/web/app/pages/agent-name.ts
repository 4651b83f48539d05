import { html, nothing } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { patch, type Problem } from "../core/api";
import { asProblem } from "../core/load";
import { signedIn } from "../core/session";
import { common } from "../text/common";
import { mistakeList } from "../parts/forms/fields";
import { Part } from "../parts/page/part";
import { symbol } from "../parts/page/shapes";

/** The name of an agent as the title of its page, which can be changed in place. Fires `renamed`. */
@customElement("agent-name")
export class AgentName extends Part {
  @property() agentId = "";
  @property() name = "";
  @state() private editing = false;
  @state() private problem: Problem | null = null;
  @query("input") private input!: HTMLInputElement;
  @query("button") private button!: HTMLButtonElement;

  override render() {
    if (!this.editing) {
      return html`<div class="row">
        <h1>${this.name}</h1>
        ${signedIn.may("write")
          ? html`<button
              class="quiet icon"
              aria-label=${common.rename}
              title=${common.rename}
              @click=${this.edit}
            >
              ${symbol("edit")}
            </button>`
          : nothing}
      </div>`;
    }
    return html`<form class="row" @submit=${this.save} @keydown=${this.key}>
      <h1 class="unseen">${this.name}</h1>
      <input
        aria-label=${common.name}
        aria-describedby="agent-name-mistakes"
        aria-invalid=${this.problem ? "true" : nothing}
        maxlength="100"
        autocomplete="off"
        spellcheck="false"
        .value=${this.name}
      />
      <button class="primary">${common.rename}</button>
      <button type="button" @click=${this.end}>${common.cancel}</button>
      ${mistakeList(
        "agent-name",
        this.problem
          ? [{ pointer: "/name", code: this.problem.code, detail: this.detail(this.problem) }]
          : [],
      )}
    </form>`;
  }

  private detail(problem: Problem): string {
    return problem.of("/name")[0]?.detail ?? problem.detail;
  }

  private async edit(): Promise<void> {
    this.editing = true;
    await this.updateComplete;
    this.input.select();
  }

  private async end(): Promise<void> {
    this.editing = false;
    this.problem = null;
    await this.updateComplete;
    this.button.focus();
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Escape") {
      void this.end();
    }
  }

  private async save(event: Event): Promise<void> {
    event.preventDefault();
    const name = this.input.value.trim();
    try {
      if (name !== this.name) {
        await patch(`/agents/${this.agentId}`, { name });
        this.name = name;
        this.dispatchEvent(new Event("renamed"));
      }
      await this.end();
    } catch (e) {
      this.problem = asProblem(e);
      this.input.focus();
    }
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "agent-name": AgentName;
  }
}
