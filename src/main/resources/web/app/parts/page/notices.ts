import { html, nothing, type TemplateResult } from "lit";
import type { Problem } from "../../core/api";
import type { Load } from "../../core/load";
import { signedIn } from "../../core/session";
import type { Role } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/page";

/** A problem as the API describes it, where no field can show it. */
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
      ${again ? html`<button type="button" @click=${again}>${common.tryAgain}</button>` : nothing}
      ${problem.requestId
        ? html`<span class="faint small">${text.notices.request(problem.requestId)}</span>`
        : nothing}
    </div>
  </div>`;
}

/** The value of a Load, or its problem, or that it is loading. */
export function loaded<T>(load: Load<T>, show: (value: T) => unknown): unknown {
  if (load.value === undefined) {
    return load.problem
      ? problemNotice(load.problem, () => void load.again())
      : html`<p class="skeleton" aria-busy="true">${common.loading}</p>`;
  }
  return html`${load.problem ? problemNotice(load.problem, () => void load.again()) : nothing}${show(
    load.value,
  )}`;
}

/** Why actions are missing; nothing for a key with the role. */
export const roleNotice = (role: Role, what: string): TemplateResult | typeof nothing =>
  signedIn.may(role)
    ? nothing
    : html`<p class="notice">
        <span
          >${text.notices.missingRole(
            signedIn.session?.key.name,
            signedIn.session?.key.role,
            what,
            role,
          )}</span
        >
      </p>`;

/** Shown for an empty list: what would be here, and how to create it. */
export const emptyState = (title: string, about: unknown, actions: unknown = nothing): TemplateResult =>
  html`<div class="empty">
    <h2>${title}</h2>
    <p class="text">${about}</p>
    <div class="row">${actions}</div>
  </div>`;
