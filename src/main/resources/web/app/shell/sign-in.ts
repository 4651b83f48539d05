import { html, nothing } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import type { Problem } from "../core/api";
import { asProblem } from "../core/load";
import { signedIn } from "../core/session";
import { textField } from "../parts/forms/fields";
import { Part } from "../parts/page/part";
import { text } from "../text/shell";

/** Exchanges an API key for a session; the key itself is not stored. */
@customElement("sign-in")
export class SignIn extends Part {
  /** Why a one-time link failed, or that the session has ended. */
  @property({ attribute: false }) problem: Problem | null = null;
  @state() private key = "";
  @state() private failure: Problem | null = null;
  @state() private busy = false;

  override render() {
    const { failure } = this;
    return html`<main class="sign-in">
      <form class="panel column" @submit=${this.submit}>
        <div class="row">
          <img src="/static/icon.svg" alt="" width="32" height="32" />
          <h1>${text.signIn.title}</h1>
        </div>
        ${this.problem && !failure
          ? html`<p class="notice waiting" role="alert">${this.problem.detail}</p>`
          : nothing}
        ${textField({
          id: "key",
          label: text.signIn.key,
          type: "password",
          placeholder: text.signIn.keyPlaceholder,
          mono: true,
          required: true,
          value: this.key,
          change: (value) => (this.key = value),
          mistakes: failure ? [{ pointer: "/key", code: failure.code, detail: failure.detail }] : [],
        })}
        <button class="primary" ?disabled=${this.busy}>
          ${this.busy ? text.signIn.signingIn : text.signIn.signIn}
        </button>
        <div class="text faint small column">
          <p>${text.signIn.whereIsKey}</p>
          <p>${text.signIn.onKubernetes}</p>
        </div>
      </form>
    </main>`;
  }

  private async submit(event: Event): Promise<void> {
    event.preventDefault();
    this.busy = true;
    try {
      await signedIn.signIn({ key: this.key.trim() });
      this.key = "";
      this.failure = null;
      this.dispatchEvent(new Event("signed-in"));
    } catch (e) {
      this.failure = asProblem(e);
      this.querySelector("input")?.focus();
    } finally {
      this.busy = false;
    }
  }
}
