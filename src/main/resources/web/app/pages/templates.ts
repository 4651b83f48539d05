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
import { text } from "../text/pages/templates";

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
      offer({
        title: text.shortcuts.search,
        keys: "/",
        group: text.shortcuts.group,
        run: () => this.input.select(),
      }),
    );
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.ends.splice(0).forEach((end) => end());
  }

  override render() {
    return html`<nav class="small" aria-label=${text.breadcrumb}>
        <a href="/create">${text.createAgent}</a>
      </nav>
      <div class="page-head">
        <h1>${text.title}</h1>
        <div class="actions"><a class="button" href="/create">${text.without}</a></div>
      </div>
      ${roleNotice("write", text.creating)}
      <input
        type="search"
        class="template-search"
        aria-label=${text.search}
        placeholder=${text.searchExample}
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
      ? html`<ul class="gallery" aria-label=${text.title}>
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
          text.noMatches,
          text.noneHas(words),
          html`<button @click=${() => router.query({ q: null })}>${text.showAll}</button>`,
        );
  }
}
