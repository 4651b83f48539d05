import { html, type TemplateResult } from "lit";
import { signedIn } from "../core/session";
import type { Agent } from "../core/types";
import { templates } from "./create-templates";

/** First steps, for a Roost without agents, or with only the example. */
export function firstSteps(agents: readonly Agent[]): TemplateResult {
  const lines = [
    ["Sign in from a terminal", `roost login --url ${location.origin}`],
    ["Deploy a script", "roost deploy hello.py"],
    ["Use the REST API", `curl -H "Authorization: Bearer $ROOST_API_KEY" ${location.origin}/v1/agents`],
  ] as const;
  return html`<section class="panel" aria-labelledby="first-title">
    <header>
      <h2 id="first-title">${agents.length ? "Get started" : "Welcome to Roost"}</h2>
    </header>
    <div class="content column">
      <p>
        An agent is a Python script with its requirements. Roost installs the requirements once and runs the
        script on demand, on a schedule or through the API.
        ${agents.map(
          (agent) => html`Run <a href="/agents/${agent.id}">${agent.name}</a>, or create an agent.`,
        )}
      </p>
      ${signedIn.may("write")
        ? html`<div class="row">
            ${Object.entries(templates).map(
              ([name, { title }]) => html`<a class="button" href="/create?template=${name}">${title}</a>`,
            )}
            <a class="button" href="/templates">More templates</a>
          </div>`
        : html`<p class="faint">
            Your API key can't create agents. The role <code>write</code> is required.
          </p>`}
      <dl class="facts">
        ${lines.map(
          ([name, line]) =>
            html`<dt>${name}</dt>
              <dd class="row">
                <code class="grow">${line}</code
                ><copy-button .text=${line} label="Copy command"></copy-button>
              </dd>`,
        )}
      </dl>
    </div>
  </section>`;
}
