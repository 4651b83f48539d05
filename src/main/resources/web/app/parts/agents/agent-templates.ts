import { html, nothing, type TemplateResult } from "lit";
import type { AgentTemplate } from "../../core/types";
import { text } from "../../text/parts/agents";

/** What templates of agents need, in words. */

export const requirementsOf = ({ requirements }: AgentTemplate): string[] =>
  requirements.split("\n").filter((line) => line.trim());

/** In a line, for a list. */
export function needsText(template: AgentTemplate): string {
  const required = template.variables.filter((variable) => variable.required).length;
  const packages = requirementsOf(template).length;
  return [
    text.templates.packageCount(packages),
    ...(required ? [text.templates.variableCount(required)] : []),
    ...(template.uses_store ? [text.templates.aStore] : []),
    ...(template.schedule ? [text.templates.runsOnSchedule] : []),
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
  const searched = [name, title, summary, description, requirements, ...tags, ...names]
    .join(" ")
    .toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => searched.includes(word));
}

/** The variables, packages, schedule and store of a template. */
export const needs = (template: AgentTemplate): TemplateResult =>
  html`<dl class="facts">
    ${template.variables.map(
      ({ name, description, required, example }) =>
        html`<dt><code>${name}</code></dt>
          <dd>
            ${required
              ? text.templates.variable(description, example)
              : text.templates.optionalVariable(description, example)}
          </dd>`,
    )}
    <dt>${text.templates.packages}</dt>
    <dd>
      ${requirementsOf(template).length
        ? requirementsOf(template).map((line) => html`<code class="package">${line}</code> `)
        : html`<span class="faint">${text.templates.noPackages}</span>`}
    </dd>
    ${template.uses_store
      ? html`<dt>${text.templates.store}</dt>
          <dd>${text.templates.keepsData}</dd>`
      : nothing}
    <dt>${text.templates.schedule}</dt>
    <dd>
      ${template.schedule
        ? html`${template.schedule.reason}: <code>${template.schedule.cron}</code>`
        : html`<span class="faint">${text.templates.onDemand}</span>`}
    </dd>
  </dl>`;
