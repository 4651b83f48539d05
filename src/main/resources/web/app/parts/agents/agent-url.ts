import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { get, kept, remove, request } from "../../core/api";
import { asProblem, Load } from "../../core/load";
import { signedIn } from "../../core/session";
import type { Agent, AgentUrl } from "../../core/types";
import { text as texts } from "../../text/parts/agents";
import "../page/basics";
import { confirmAction, toast } from "../page/dialogs";
import { loaded } from "../page/notices";
import { Part } from "../page/part";
import { showSecret } from "../page/secret";
import { openUrlForm } from "./url-form";

const text = texts.url;

/** The URL of an agent: its address and settings, or how to give it one. */
@customElement("agent-url")
export class AgentUrlPanel extends Part {
  @property({ attribute: false }) agent!: Agent;

  private readonly load = new Load<AgentUrl | null>(this, (signal) =>
    kept(get<AgentUrl>(this.path(), {}, signal)),
  );

  override render() {
    const url = this.load.value;
    const may = signedIn.may("write");
    return html`<section class="panel" aria-label=${text.title}>
      <header>
        <h2>${text.title}</h2>
        ${may && url !== undefined
          ? html`<button @click=${() => void this.change(url)}>${url ? text.change : text.create}</button>
              ${url
                ? html`<button class="danger" @click=${() => void this.drop()}>${text.remove}</button>`
                : nothing}`
          : nothing}
      </header>
      <div class="content column">
        ${loaded(this.load, (shown) => (shown ? this.shown(shown) : this.none()))}
      </div>
    </section>`;
  }

  private none(): TemplateResult {
    return html`<p>${text.none}</p>
      ${signedIn.may("write") ? nothing : html`<p class="faint">${text.needsWrite}</p>`}`;
  }

  private shown(url: AgentUrl): TemplateResult {
    const address = new URL(url.url, location.origin).href;
    return html`<div class="row snippet">
        <code class="grow">${address}</code>
        <copy-button .text=${address} .label=${text.copyAddress} word=${texts.callIt.copy}></copy-button>
      </div>
      <dl class="figures">
        <div>
          <dt>${text.methods}</dt>
          <dd>${url.methods.join(", ")}</dd>
        </div>
        <div>
          <dt>${text.authentication}</dt>
          <dd>${text.authentications[url.authentication]}</dd>
        </div>
        ${url.signature_scheme
          ? html`<div>
              <dt>${text.scheme}</dt>
              <dd>${text.schemes[url.signature_scheme]}</dd>
            </div>`
          : nothing}
        <div>
          <dt>${text.mode}</dt>
          <dd>${text.modes[url.mode]}</dd>
        </div>
        <div>
          <dt>${text.format}</dt>
          <dd>${text.formats[url.format]}</dd>
        </div>
        ${url.mode === "wait"
          ? html`<div>
              <dt>${text.wait}</dt>
              <dd>${text.seconds(url.wait_seconds)}</dd>
            </div>`
          : nothing}
        ${url.requests_per_minute
          ? html`<div>
              <dt>${text.limit}</dt>
              <dd>${text.perMinute(url.requests_per_minute)}</dd>
            </div>`
          : nothing}
        ${url.cors_origins.length
          ? html`<div>
              <dt>${text.origins}</dt>
              <dd>${url.cors_origins.join(", ")}</dd>
            </div>`
          : nothing}
      </dl>
      ${url.authentication === "signature"
        ? nothing
        : html`<pre tabindex="0" role="region" aria-label=${text.example}><code>${text.curl(
            address,
            url,
          )}</code></pre>`}`;
  }

  private path(): string {
    return `/agents/${this.agent.id}/url`;
  }

  private async change(url: AgentUrl | null): Promise<void> {
    const saved = await openUrlForm(url, (body) => request<AgentUrl>("PUT", this.path(), { body }));
    if (saved) {
      await this.load.again();
      toast(text.saved);
      if (saved.secret && saved.generated) {
        await showSecret(text.secret, saved.secret, text.aboutSecret);
      }
    }
  }

  private async drop(): Promise<void> {
    const sure = await confirmAction({
      title: text.confirmRemove(this.agent.name),
      body: text.whatEnds,
      confirm: text.remove,
      danger: true,
    });
    if (sure) {
      try {
        await remove(this.path());
        toast(text.removed);
      } catch (e) {
        toast(asProblem(e).message, { failed: true });
      }
      await this.load.again();
    }
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "agent-url": AgentUrlPanel;
  }
}
