import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { get } from "../core/api";
import { Load } from "../core/load";
import { signedIn } from "../core/session";
import type { AgentTemplate } from "../core/types";
import { needs } from "../parts/agents/agent-templates";
import "../parts/code/code-editor";
import "../parts/code/json-tree";
import { loaded, roleNotice } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { text } from "../text/pages/template";

/** One template: what it does, what it needs, and its code. */
@customElement("template-page")
export class TemplatePage extends Part {
  @property() name = "";
  private readonly load = new Load<AgentTemplate>(
    this,
    (signal) => get<AgentTemplate>(`/templates/${encodeURIComponent(this.name)}`, {}, signal),
    () => false,
  );

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.get("name")) {
      void this.load.again(true);
    }
    if (this.load.value) {
      document.title = `${this.load.value.title} · Roost`;
    }
  }

  override render() {
    const template = this.load.value;
    return html`<nav class="small" aria-label=${text.breadcrumb}>
        <a href="/templates">${text.templates}</a>
      </nav>
      <div class="page-head">
        <h1>${template?.title ?? text.title}</h1>
        <div class="actions">
          ${template && signedIn.may("write")
            ? html`<a class="button primary" href="/create?template=${template.name}">${text.use}</a>`
            : nothing}
        </div>
      </div>
      ${roleNotice("write", text.creating)} ${loaded(this.load, (found) => show(found))}`;
  }
}

function show(template: AgentTemplate): TemplateResult {
  const command = `roost init --template ${template.name}`;
  return html`<p class="template-text">${template.description}</p>
    <div class="beside">
      <div class="column">
        <section class="panel" aria-labelledby="script-title">
          <header><h2 id="script-title">${text.script}</h2></header>
          <code-editor
            class="script"
            label=${text.scriptLabel}
            language="python"
            readonly
            .value=${template.script}
          ></code-editor>
        </section>
      </div>
      <div class="column">
        <section class="panel" aria-labelledby="needs-title">
          <header><h2 id="needs-title">${text.needs}</h2></header>
          <div class="content">${needs(template)}</div>
        </section>
        <section class="panel" aria-labelledby="payload-title">
          <header><h2 id="payload-title">${text.examplePayload}</h2></header>
          <div class="content"><json-tree name=${text.payload} .value=${template.payload}></json-tree></div>
        </section>
        <section class="panel" aria-labelledby="terminal-title">
          <header><h2 id="terminal-title">${text.fromTerminal}</h2></header>
          <div class="content row">
            <code class="grow">${command}</code
            ><copy-button .text=${command} label=${text.copyCommand}></copy-button>
          </div>
        </section>
      </div>
    </div>`;
}
