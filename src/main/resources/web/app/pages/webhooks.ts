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
import "./webhook";

/** All webhooks, or one of them. */
@customElement("webhooks-page")
export class WebhooksPage extends Part {
  @property() webhookId = "";

  override render() {
    // The list requires the role, too: an address may itself be a secret.
    if (!signedIn.may("write")) {
      return html`<div class="page-head"><h1>Webhooks</h1></div>
        ${roleNotice("write", "Viewing or changing webhooks")}`;
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
        <h1>Webhooks</h1>
        <div class="actions"><button class="primary" @click=${create}>New webhook</button></div>
      </div>
      <div class="panel">${pagedTable("Webhooks", COLUMNS, this.load, empty)}</div>`;
  }
}

const COLUMNS: Column<Webhook>[] = [
  {
    title: "URL",
    cell: ({ id, url, description }) =>
      html`<div class="two-lines">
        <a href="/webhooks/${id}">${url}</a>${description
          ? html`<span class="faint">${description}</span>`
          : nothing}
      </div>`,
  },
  { title: "Events", cell: ({ event_types }) => html`<code>${event_types.join(" ")}</code>` },
  {
    title: "Agent",
    cell: ({ agent_id }) => (agent_id ? agentLink(agent_id) : html`<span class="faint">all</span>`),
  },
  { title: "State", cell: ({ state }) => stateBadge(state) },
  { title: "Created", cell: ({ created_at }) => timeAgo(created_at) },
];

const empty = (): TemplateResult =>
  emptyState(
    "No webhooks yet",
    "Roost calls a webhook's URL on events such as a failed execution or a finished build. Each call is signed, and retried until it is received.",
    html`<button class="primary" @click=${create}>New webhook</button>`,
  );

async function create(): Promise<void> {
  const webhook = await createWebhook();
  if (webhook) {
    await router.go(`/webhooks/${webhook.id}`);
  }
}
