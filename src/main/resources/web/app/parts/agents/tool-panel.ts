import { html, nothing, type TemplateResult } from "lit";
import type { Problem } from "../../core/api";
import type { Agent } from "../../core/types";
import { text } from "../../text/parts/agents";
import { field, mistakesOf, textField } from "../forms/fields";
import { suggestedToolName } from "./tool-name";

/** How language models are offered an agent. */
export type Tool = Pick<Agent, "tool_name" | "tool_description">;

/** The fields of an agent's tool, in a panel. Empty fields give null. */
export function toolPanel(
  agent: Agent,
  value: Tool,
  problem: Problem | null,
  give: (name: keyof Tool, value: string | null) => void,
): TemplateResult {
  const mistakes = mistakesOf(problem, "/tool_description");
  return html`<section class="panel" aria-labelledby="tool-title">
    <header><h2 id="tool-title">${text.tool.title}</h2></header>
    <div class="content column">
      ${textField({
        id: "tool_name",
        label: text.tool.name,
        hint: text.tool.nameHint,
        mono: true,
        value: value.tool_name ?? "",
        placeholder: suggestedToolName(agent.name),
        mistakes: mistakesOf(problem, "/tool_name"),
        change: (name) => give("tool_name", name.trim() || null),
      })}
      ${field(
        {
          id: "tool_description",
          label: text.tool.description,
          hint: text.tool.descriptionHint,
          mistakes,
        },
        html`<textarea
          id="tool_description"
          rows="4"
          aria-invalid=${mistakes.length ? "true" : nothing}
          aria-describedby="tool_description-hint tool_description-mistakes"
          .value=${value.tool_description ?? ""}
          @input=${(event: Event) =>
            give("tool_description", (event.target as HTMLTextAreaElement).value || null)}
        ></textarea>`,
      )}
      <p class="faint">
        ${text.tool.address(`${location.origin}/mcp`)}
        <a href="/help/mcp/" target="_blank" rel="noopener">${text.tool.help}</a>
      </p>
    </div>
  </section>`;
}
