import { html, type TemplateResult } from "lit";
import { signedIn } from "../core/session";
import type { Agent } from "../core/types";
import { text } from "../text/pages/first-steps";
import { templates } from "./create-templates";

/** First steps, for a Roost without agents, or with only the example. */
export function firstSteps(agents: readonly Agent[]): TemplateResult {
  return html`<section class="panel" aria-labelledby="first-title">
    <header>
      <h2 id="first-title">${agents.length ? text.getStarted : text.welcome}</h2>
    </header>
    <div class="content column">
      <p>
        ${text.about}
        ${agents.map((agent) => text.runOrCreate(html`<a href="/agents/${agent.id}">${agent.name}</a>`))}
      </p>
      ${signedIn.may("write")
        ? html`<div class="row">
            ${Object.entries(templates).map(
              ([name, { title }]) => html`<a class="button" href="/create?template=${name}">${title}</a>`,
            )}
            <a class="button" href="/templates">${text.moreTemplates}</a>
          </div>`
        : html`<p class="faint">${text.cannotCreate}</p>`}
      <dl class="facts">
        ${text.commands(location.origin).map(
          ([name, line]) =>
            html`<dt>${name}</dt>
              <dd class="row">
                <code class="grow">${line}</code
                ><copy-button .text=${line} label=${text.copyCommand}></copy-button>
              </dd>`,
        )}
      </dl>
    </div>
  </section>`;
}
