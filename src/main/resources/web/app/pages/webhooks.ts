import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { PagedLoad, typed } from "../core/load";
import { router } from "../core/router";
import { signedIn } from "../core/session";
import type { Webhook } from "../core/types";
import { agentLink } from "../parts/agents/agent-link";
import { stateBadge, timeAgo } from "../parts/page/basics";
import { emptyState, roleNotice } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { pagedTable, type Column } from "../parts/page/tables";
import { createWebhook } from "../parts/webhooks/webhook-form";
import { common } from "../text/common";
import { text } from "../text/pages/webhooks";
import "./webhook";

/** All webhooks, or one of them. */
@customElement("webhooks-page")
export class WebhooksPage extends Part {
  @property() webhookId = "";

  override render() {
    // The list requires the role, too: an address may itself be a secret.
    if (!signedIn.may("write")) {
      return html`<div class="page-head"><h1>${text.title}</h1></div>
        ${roleNotice("write", text.changing)}`;
    }
    return this.webhookId
      ? html`<webhook-view class="column" .webhookId=${this.webhookId}></webhook-view>`
      : html`<webhook-list class="column"></webhook-list>`;
  }
}

@customElement("webhook-list")
export class WebhookList extends Part {
  private readonly load = new PagedLoad<Webhook>(
    this,
    () => "/webhooks",
    () => ({}),
    typed("webhook"),
  );

  override render() {
    return html`<div class="page-head">
        <h1>${text.title}</h1>
        <div class="actions"><button class="primary" @click=${create}>${text.create}</button></div>
      </div>
      <div class="panel">${pagedTable(text.title, COLUMNS, this.load, empty)}</div>`;
  }
}

const COLUMNS: Column<Webhook>[] = [
  {
    title: text.url,
    cell: ({ id, url, description }) =>
      html`<div class="two-lines">
        <a href="/webhooks/${id}">${url}</a>${description
          ? html`<span class="faint">${description}</span>`
          : nothing}
      </div>`,
  },
  { title: text.events, cell: ({ event_types }) => html`<code>${event_types.join(" ")}</code>` },
  {
    title: common.agent,
    cell: ({ agent_id }) =>
      agent_id ? agentLink(agent_id) : html`<span class="faint">${text.allAgents}</span>`,
  },
  { title: common.state, cell: ({ state }) => stateBadge(state) },
  { title: text.created, cell: ({ created_at }) => timeAgo(created_at) },
];

const empty = (): TemplateResult =>
  emptyState(text.none, text.about, html`<button class="primary" @click=${create}>${text.create}</button>`);

async function create(): Promise<void> {
  const webhook = await createWebhook();
  if (webhook) {
    await router.go(`/webhooks/${webhook.id}`);
  }
}
