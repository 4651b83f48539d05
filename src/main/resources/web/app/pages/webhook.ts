import { html, nothing, type TemplateResult } from "lit";
import { customElement, property, query, state } from "lit/decorators.js";
import { get, patch, post, remove } from "../core/api";
import { asProblem, Load, typed } from "../core/load";
import { queried, router } from "../core/router";
import type { Delivery, Webhook } from "../core/types";
import { agentLink } from "../parts/agents/agent-link";
import { idLink, stateBadge, timeAgo } from "../parts/page/basics";
import { confirmAction, toast } from "../parts/page/dialogs";
import { mistakesOf, textField } from "../parts/forms/fields";
import { loaded } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { openForm } from "../parts/forms/small-form";
import { showDelivery, type WebhookDeliveries } from "../parts/webhooks/webhook-deliveries";
import { changeWebhook, showWebhookSecret } from "../parts/webhooks/webhook-form";
import { common } from "../text/common";
import { text } from "../text/pages/webhook";

/** One webhook: its settings, state and deliveries. */
@customElement("webhook-view")
export class WebhookView extends Part {
  @property() webhookId = "";
  @state() private testing = false;
  @query("webhook-deliveries") private deliveries!: WebhookDeliveries | null;
  private endMoves: (() => void) | undefined;
  private readonly load = new Load<Webhook>(
    this,
    (signal) => get<Webhook>(`/webhooks/${this.webhookId}`, {}, signal),
    typed("webhook"),
  );

  override connectedCallback(): void {
    super.connectedCallback();
    this.endMoves = router.onMove(() => this.requestUpdate());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.endMoves?.();
  }

  override render() {
    return loaded(
      this.load,
      (webhook) =>
        html`<nav class="small" aria-label=${text.breadcrumb}><a href="/webhooks">${text.webhooks}</a></nav>
          <div class="page-head">
            <h1 class="url">${webhook.url}</h1>
            <div class="actions">${this.actions(webhook)}</div>
          </div>
          ${webhook.description ? html`<p>${webhook.description}</p>` : nothing} ${this.disabled(webhook)}
          ${facts(webhook)}
          <webhook-deliveries
            .webhookId=${webhook.id}
            .stateFilter=${queried("state")}
          ></webhook-deliveries>`,
    );
  }

  private actions(webhook: Webhook): TemplateResult {
    const turned = webhook.state === "active" ? "disabled" : "active";
    return html`<button ?disabled=${this.testing} @click=${this.test}>
        ${this.testing ? text.sending : text.sendTest}
      </button>
      <button @click=${() => this.changing(() => changeWebhook(webhook))}>${common.edit}</button>
      <button @click=${() => this.changing(() => this.turn(turned))}>
        ${turned === "active" ? text.enable : text.disable}
      </button>
      <button @click=${() => this.changing(() => this.rotate(webhook))}>${text.rotateSecret}</button>
      <button @click=${() => this.changing(() => this.replay())}>${text.replay}</button>
      <button class="danger" @click=${() => this.changing(() => this.delete(webhook))}>
        ${common.delete}
      </button>`;
  }

  private disabled({ state, message }: Webhook): unknown {
    return state === "disabled"
      ? html`<div class="notice waiting">
          <strong>${text.disabled}</strong>
          ${message ? html`<p>${message}</p>` : nothing}
          <p>${text.sentLater}</p>
        </div>`
      : nothing;
  }

  private async test(): Promise<void> {
    this.testing = true;
    try {
      const delivery = await post<Delivery>(`/webhooks/${this.webhookId}/test`);
      this.deliveries?.again();
      if (delivery.state === "succeeded") {
        toast(text.testDelivered(delivery.status));
      } else {
        await showDelivery(this.webhookId, delivery.id);
      }
    } catch (e) {
      toast(asProblem(e).message, { failed: true });
    } finally {
      this.testing = false;
    }
  }

  /** Runs an action, reports its failure, and reads again. */
  private async changing(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (e) {
      toast(asProblem(e).message, { failed: true });
    }
    if (location.pathname.endsWith(this.webhookId)) {
      await this.load.again();
      this.deliveries?.again();
    }
  }

  private turn(state: Webhook["state"]): Promise<Webhook> {
    return patch<Webhook>(`/webhooks/${this.webhookId}`, { state });
  }

  private async rotate({ id }: Webhook): Promise<void> {
    const sure = await confirmAction({
      title: text.rotation.title,
      body: text.rotation.body,
      confirm: text.rotation.confirm,
    });
    if (sure) {
      await showWebhookSecret(await patch<Webhook>(`/webhooks/${id}`, { rotate_secret: true }));
    }
  }

  private async replay(): Promise<void> {
    const sent = await openForm({
      title: text.replaying.title,
      draft: { after: "0" },
      pointers: ["/after"],
      confirm: text.replaying.confirm,
      fields: ({ after }, take, problem) =>
        textField({
          id: "replay-after",
          label: text.replaying.after,
          hint: text.replaying.afterHint,
          value: after,
          required: true,
          mono: true,
          change: (value) => take({ after: value }),
          mistakes: mistakesOf(problem, "/after"),
        }),
      save: (draft) => post<{ deliveries: number }>(`/webhooks/${this.webhookId}/replay`, draft),
    });
    if (sent) {
      toast(text.replaying.queued(sent.deliveries));
    }
  }

  private async delete({ id, url }: Webhook): Promise<void> {
    const sure = await confirmAction({
      title: text.deletion.title,
      body: html`<p>${text.deletion.body(url)}</p>`,
      confirm: text.deletion.confirm,
      danger: true,
    });
    if (sure) {
      await remove(`/webhooks/${id}`);
      toast(text.deletion.done);
      await router.go("/webhooks");
    }
  }
}

function facts({ id, state, event_types, agent_id, created_at }: Webhook): TemplateResult {
  return html`<dl class="figures">
    <div>
      <dt>${common.state}</dt>
      <dd>${stateBadge(state)}</dd>
    </div>
    <div>
      <dt>${text.eventTypes(event_types.length)}</dt>
      <dd><code>${event_types.join(" ")}</code></dd>
    </div>
    <div>
      <dt>${common.agent}</dt>
      <dd>${agent_id ? agentLink(agent_id) : text.allAgents}</dd>
    </div>
    <div>
      <dt>${text.created}</dt>
      <dd>${timeAgo(created_at)}</dd>
    </div>
    <div>
      <dt>${text.id}</dt>
      <dd>${idLink(id)}</dd>
    </div>
  </dl>`;
}
