import { html, nothing, type TemplateResult } from "lit";
import { count } from "../../core/format";
import type { Agent, Preloaded } from "../../core/types";
import { text } from "../../text/parts/agents";
import { timeAgo } from "../page/basics";
import { packageText, savingText, unknownText } from "./preload-text";

/** What executors import in advance, what that saves, and what is left out. */
export function preloadedPanel(agent: Agent): TemplateResult {
  const { preloaded } = agent;
  return html`<section class="panel" aria-labelledby="preloaded-title">
    <header>
      <h2 id="preloaded-title">
        ${text.preloaded.title}
        ${preloaded ? html`<span class="faint">${text.preloaded.modules(preloaded.modules)}</span>` : nothing}
      </h2>
      <a href="/agents/${agent.id}/settings">${text.preloaded.changeSetting}</a>
    </header>
    ${preloaded ? details(preloaded) : html`<p class="content faint">${unknownText(agent)}</p>`}
  </section>`;
}

function details(preloaded: Preloaded): TemplateResult {
  return html`<div class="content column">
      ${preloaded.modules
        ? html`<p>${savingText(preloaded)}</p>
            <p class="text">${text.preloaded.packages(packageText(preloaded.packages))}</p>`
        : html`<p>${text.preloaded.nothing}</p>`}
      <p class="faint small">${text.preloaded.reported(timeAgo(preloaded.updated_at), preloaded.revision)}</p>
    </div>
    ${preloaded.left_out.length ? leftOut(preloaded) : nothing}`;
}

function leftOut({ left_out }: Preloaded): TemplateResult {
  return html`<div class="content">
      <h3>${text.preloaded.leftOut} <span class="faint">${count(left_out.length)}</span></h3>
      <p class="faint small">${text.preloaded.leftOutHelp}</p>
    </div>
    <div class="table-wrap" role="region" aria-label=${text.preloaded.leftOutLabel} tabindex="0">
      <table>
        <thead>
          <tr>
            <th scope="col">${text.preloaded.module}</th>
            <th scope="col">${text.preloaded.reason}</th>
          </tr>
        </thead>
        <tbody>
          ${left_out.map(
            ({ module, reason }) =>
              html`<tr>
                <td class="mono">${module}</td>
                <td>${reason}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}
