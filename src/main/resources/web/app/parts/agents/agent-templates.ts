import { html, nothing, type TemplateResult } from "lit";
import { plural } from "../../core/format";
import type { AgentTemplate } from "../../core/types";

/** What templates of agents need, in words. */

export const requirementsOf = ({ requirements }: AgentTemplate): string[] =>
  requirements.split("\n").filter((line) => line.trim());

/** In a line, for a list. */
export function needsText(template: AgentTemplate): string {
  const required = template.variables.filter((variable) => variable.required).length;
  const packages = requirementsOf(template).length;
  return [
    packages ? plural(packages, "package") : "no packages",
    ...(required ? [plural(required, "variable")] : []),
    ...(template.uses_store ? ["a store"] : []),
    ...(template.schedule ? ["runs on a schedule"] : []),
  ].join(" · ");
}

/** The variables that it can't run without, as lines to complete. */
export const variablesText = ({ variables }: AgentTemplate): string =>
  variables
    .filter(({ required }) => required)
    .map(({ name }) => `${name}=\n`)
    .join("");

/** Whether every word is in the template's texts, packages or variables. */
export function matches(template: AgentTemplate, words: string): boolean {
  const { name, title, summary, description, tags, requirements, variables } = template;
  const names = variables.map((variable) => variable.name);
  const text = [name, title, summary, description, requirements, ...tags, ...names].join(" ").toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** The variables, packages, schedule and store of a template. */
export const needs = (template: AgentTemplate): TemplateResult =>
  html`<dl class="facts">
    ${template.variables.map(
      ({ name, description, required, example }) =>
        html`<dt><code>${name}</code></dt>
          <dd>
            ${description}${required ? nothing : html` <span class="faint">(optional)</span>`}, such as
            <code>${example}</code>
          </dd>`,
    )}
    <dt>Packages</dt>
    <dd>
      ${requirementsOf(template).length
        ? requirementsOf(template).map((line) => html`<code class="package">${line}</code> `)
        : html`<span class="faint">none</span>`}
    </dd>
    ${template.uses_store
      ? html`<dt>Store</dt>
          <dd>Keeps its data in a store of its own.</dd>`
      : nothing}
    <dt>Schedule</dt>
    <dd>
      ${template.schedule
        ? html`${template.schedule.reason}: <code>${template.schedule.cron}</code>`
        : html`<span class="faint">on demand</span>`}
    </dd>
  </dl>`;
