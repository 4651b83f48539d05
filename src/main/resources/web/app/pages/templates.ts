import { html, type TemplateResult } from "lit";
import { customElement, query } from "lit/decorators.js";
import { get } from "../core/api";
import { Load } from "../core/load";
import { queried, router } from "../core/router";
import { offer } from "../core/shortcuts";
import type { AgentTemplate } from "../core/types";
import { matches, needsText } from "../parts/agents/agent-templates";
import { emptyState, loaded, roleNotice } from "../parts/page/notices";
import { Part } from "../parts/page/part";

/** All templates of agents, with a search; `?q=` is what is searched for. */
@customElement("templates-page")
export class TemplatesPage extends Part {
  @query("input[type=search]") private input!: HTMLInputElement;
  private ends: (() => void)[] = [];
  private readonly load = new Load<AgentTemplate[]>(
    this,
    async (signal) => (await get<{ data: AgentTemplate[] }>("/templates", {}, signal)).data,
    () => false,
  );

  override connectedCallback(): void {
    super.connectedCallback();
    this.ends.push(
      router.onMove(() => this.requestUpdate()),
      offer({ title: "Search templates", keys: "/", group: "Templates", run: () => this.input.select() }),
    );
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.ends.splice(0).forEach((end) => end());
  }

  override render() {
    return html`<nav class="small" aria-label="Breadcrumb"><a href="/create">Create agent</a></nav>
      <div class="page-head">
        <h1>Templates</h1>
        <div class="actions"><a class="button" href="/create">Start without a template</a></div>
      </div>
      ${roleNotice("write", "Creating agents")}
      <input
        type="search"
        class="template-search"
        aria-label="Search templates"
        placeholder="Search, for example monitoring, pandas or slack"
        autocomplete="off"
        maxlength="100"
        .value=${queried("q")}
        @input=${() => router.query({ q: this.input.value || null })}
      />
      ${loaded(this.load, (all) => this.found(all))}`;
  }

  private found(all: AgentTemplate[]): TemplateResult {
    const words = queried("q").trim();
    const found = all.filter((template) => matches(template, words));
    return found.length
      ? html`<ul class="gallery" aria-label="Templates">
          ${found.map(
            (template) =>
              html`<li>
                <a class="panel" href="/templates/${template.name}">
                  <strong>${template.title}</strong>
                  <span>${template.summary}</span>
                  <span class="faint small">${needsText(template)}</span>
                </a>
              </li>`,
          )}
        </ul>`
      : emptyState(
          "No matching templates",
          `No template has all words of “${words}”.`,
          html`<button @click=${() => router.query({ q: null })}>Show all templates</button>`,
        );
  }
}
