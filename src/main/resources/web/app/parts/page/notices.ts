import { html, nothing, type TemplateResult } from "lit";
import type { Problem } from "../../core/api";
import type { Load } from "../../core/load";
import { signedIn } from "../../core/session";
import type { Role } from "../../core/types";

/** What went wrong, in the API's own words, where there is no better place for it. */
export function problemNotice(problem: Problem | null, again?: () => void): TemplateResult | typeof nothing {
  if (!problem) {
    return nothing;
  }
  const others = problem.mistakes.filter((mistake) => mistake.detail !== problem.detail);
  return html`<div class="notice failed" role="alert">
    <strong>${problem.title}</strong>
    ${problem.detail === problem.title ? nothing : html`<p>${problem.detail}</p>`}
    ${others.length
      ? html`<ul class="mistakes">
          ${others.map((mistake) => html`<li>${mistake.detail}</li>`)}
        </ul>`
      : nothing}
    <div class="row">
      ${again ? html`<button type="button" @click=${again}>Try again</button>` : nothing}
      ${problem.requestId
        ? html`<span class="faint small">request <code>${problem.requestId}</code></span>`
        : nothing}
    </div>
  </div>`;
}

/** What a Load has read, or why it has nothing yet. */
export function loaded<T>(load: Load<T>, show: (value: T) => unknown): unknown {
  if (load.value === undefined) {
    return load.problem
      ? problemNotice(load.problem, () => void load.again())
      : html`<p class="skeleton" aria-busy="true">Loading…</p>`;
  }
  return html`${load.problem ? problemNotice(load.problem, () => void load.again()) : nothing}${show(
    load.value,
  )}`;
}

/** Why there are no buttons to do something; nothing for a key that has the role. */
export const roleNotice = (role: Role, what: string): TemplateResult | typeof nothing =>
  signedIn.may(role)
    ? nothing
    : html`<p class="notice">
        <span
          >You are signed in with the key “${signedIn.session?.key.name}” (role
          <code>${signedIn.session?.key.role}</code>). ${what} requires the role <code>${role}</code>.</span
        >
      </p>`;

/** Teaches what would be here, and how it gets here. */
export const emptyState = (title: string, text: unknown, actions: unknown = nothing): TemplateResult =>
  html`<div class="empty">
    <h2>${title}</h2>
    <p class="text">${text}</p>
    <div class="row">${actions}</div>
  </div>`;
