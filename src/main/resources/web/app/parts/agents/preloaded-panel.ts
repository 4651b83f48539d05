import { html, nothing, type TemplateResult } from "lit";
import { count, plural } from "../../core/format";
import type { Agent, Preloaded } from "../../core/types";
import { timeAgo } from "../page/basics";
import { packageText, savingText, unknownText } from "./preload-text";

/** What executors import in advance, what that saves, and what is left out. */
export function preloadedPanel(agent: Agent): TemplateResult {
  const { preloaded } = agent;
  return html`<section class="panel" aria-labelledby="preloaded-title">
    <header>
      <h2 id="preloaded-title">
        Preloaded imports
        ${preloaded ? html`<span class="faint">${plural(preloaded.modules, "module")}</span>` : nothing}
      </h2>
      <a href="/agents/${agent.id}/settings">Change setting</a>
    </header>
    ${preloaded ? details(preloaded) : html`<p class="content faint">${unknownText(agent)}</p>`}
  </section>`;
}

function details(preloaded: Preloaded): TemplateResult {
  return html`<div class="content column">
      ${preloaded.modules
        ? html`<p>${savingText(preloaded)}</p>
            <p class="text"><strong>Packages:</strong> ${packageText(preloaded.packages)}</p>`
        : html`<p>The script imports nothing that an executor can import in advance.</p>`}
      <p class="faint small">Reported ${timeAgo(preloaded.updated_at)} for revision ${preloaded.revision}.</p>
    </div>
    ${preloaded.left_out.length ? leftOut(preloaded) : nothing}`;
}

function leftOut({ left_out }: Preloaded): TemplateResult {
  return html`<div class="content">
      <h3>Left out <span class="faint">${count(left_out.length)}</span></h3>
      <p class="faint small">Each execution imports these modules itself.</p>
    </div>
    <div class="table-wrap" role="region" aria-label="Modules that are left out" tabindex="0">
      <table>
        <thead>
          <tr>
            <th scope="col">Module</th>
            <th scope="col">Reason</th>
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
