import { html, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { requestExactly, post, toJson } from "../../core/api";
import { at, count, duration, shortId } from "../../core/format";
import { asProblem, Load, PagedLoad } from "../../core/load";
import { Polling } from "../../core/polling";
import { queried, router } from "../../core/router";
import { stateChoices, STATES } from "../../core/states";
import type { Delivery } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/webhooks";
import { idLink, stateBadge, timeAgo } from "../page/basics";
import "../code/code-editor";
import { open, toast } from "../page/dialogs";
import { emptyState, loaded } from "../page/notices";
import { Part } from "../page/part";
import { pagedTable, type Column } from "../page/tables";

/** Milliseconds between readings while an attempt is being made or is due. */
const POLL = 2_000;
const MINUTE = 60_000;

/** Whether a result is near; attempts emit no events. */
const isSoon = ({ state, next_attempt_at }: Delivery): boolean =>
  state === "pending" && (next_attempt_at === null || Date.parse(next_attempt_at) < Date.now() + MINUTE);

/** The page of an event's subject. */
const PAGES: Record<string, string> = {
  agent: "/agents/",
  exec: "/executions/",
  xjob: "/executor-jobs/",
  bjob: "/builds/",
  store: "/stores/",
};

const hrefOf = (subject: string): string | undefined => {
  const page = PAGES[subject.split("_")[0] ?? ""];
  return page && page + subject;
};

/** The deliveries of a webhook, latest event first. */
@customElement("webhook-deliveries")
export class WebhookDeliveries extends Part {
  @property() webhookId = "";
  @property() stateFilter = "";
  private readonly load = new PagedLoad<Delivery>(
    this,
    () => `/webhooks/${this.webhookId}/deliveries`,
    () => ({ state: this.stateFilter }),
    // Every event may create one.
    () => true,
  );

  constructor() {
    super();
    new Polling(this, this.load, () => !!this.load.value?.data.some(isSoon), POLL);
  }

  override updated(changed: Map<string, unknown>): void {
    if (changed.get("stateFilter") !== undefined || changed.get("webhookId")) {
      void this.load.again(changed.has("webhookId"));
    }
  }

  /** Reads again, since something was sent. */
  again(): void {
    void this.load.again();
  }

  override render() {
    return html`<div class="panel">
      <header>
        <h2>${text.deliveries.title}</h2>
        <select
          class="narrow"
          aria-label=${common.state}
          @change=${(event: Event) => router.query({ state: (event.target as HTMLSelectElement).value })}
        >
          ${stateChoices(STATES.Delivery).map(
            ([value, title]) =>
              html`<option value=${value} ?selected=${value === queried("state")}>${title}</option>`,
          )}
        </select>
      </header>
      ${pagedTable(text.deliveries.title, this.columns(), this.load, () => this.empty())}
    </div>`;
  }

  private columns(): Column<Delivery>[] {
    return [
      { title: text.deliveries.event, cell: ({ event_type }) => html`<code>${event_type}</code>` },
      { title: text.deliveries.subject, cell: ({ subject }) => idLink(subject, hrefOf(subject)) },
      { title: common.state, cell: ({ state }) => stateBadge(state) },
      { title: text.deliveries.response, cell: answerOf },
      { title: text.deliveries.attempts, number: true, cell: ({ attempts }) => count(attempts) },
      { title: text.deliveries.created, cell: ({ created_at }) => timeAgo(created_at) },
      {
        title: "",
        cell: (delivery) =>
          html`<span class="row-actions">
            <button
              class="quiet"
              aria-label=${text.deliveries.showDelivery(delivery.id)}
              @click=${() => this.show(delivery)}
            >
              ${text.deliveries.show}
            </button>
            <button
              class="quiet"
              aria-label=${text.deliveries.resendDelivery(delivery.id)}
              @click=${() => this.replay(delivery)}
            >
              ${text.deliveries.resend}
            </button>
          </span>`,
      },
    ];
  }

  private empty(): TemplateResult {
    return this.stateFilter
      ? emptyState(text.deliveries.noneIn(this.stateFilter), text.deliveries.othersNotShown)
      : emptyState(text.deliveries.none, text.deliveries.sendTest);
  }

  private show({ webhook_id, id }: Delivery): Promise<void> {
    return showDelivery(webhook_id, id);
  }

  private async replay({ webhook_id, id }: Delivery): Promise<void> {
    try {
      await post(`/webhooks/${webhook_id}/deliveries/${id}/replay`);
      toast(text.deliveries.resent(shortId(id)));
    } catch (e) {
      toast(asProblem(e).message, { failed: true });
    }
    this.again();
  }
}

function answerOf({ status, message, state, next_attempt_at }: Delivery): unknown {
  const outcome = message ?? (status ? text.status(status) : "");
  return html`<span class="answer ${state === "failed" ? "failed" : "faint"}"
    >${state === "pending" && next_attempt_at
      ? text.deliveries.nextAttempt(outcome, timeAgo(next_attempt_at))
      : outcome}</span
  >`;
}

/** Shows a delivery with its attempts and its request. */
export const showDelivery = (webhookId: string, id: string): Promise<void> =>
  open<void>(
    (close) =>
      html`<webhook-delivery
        .webhookId=${webhookId}
        .deliveryId=${id}
        .close=${() => close()}
      ></webhook-delivery>`,
    () => undefined,
    { wide: true },
  );

@customElement("webhook-delivery")
export class WebhookDelivery extends Part {
  @property() webhookId = "";
  @property() deliveryId = "";
  close!: () => void;
  private readonly load = new Load<Delivery>(
    this,
    async (signal) =>
      (
        await requestExactly<Delivery>("GET", `/webhooks/${this.webhookId}/deliveries/${this.deliveryId}`, {
          signal,
        })
      ).value,
  );

  constructor() {
    super();
    new Polling(this, this.load, () => !!this.load.value && isSoon(this.load.value), POLL);
  }

  override render() {
    return html`<div class="body">
      <h2 id="dialog-title">${text.delivery.title(shortId(this.deliveryId))}</h2>
      ${loaded(this.load, (delivery) => html`${this.attempts(delivery)} ${this.request(delivery)}`)}
      <div class="actions"><button autofocus @click=${this.close}>${common.close}</button></div>
    </div>`;
  }

  private attempts({ state, attempts_log = [], event_type }: Delivery): TemplateResult {
    return html`<p class="row">${stateBadge(state)} <code>${event_type}</code></p>
      ${attempts_log.length
        ? html`<div class="table-wrap">
            <table>
              <caption class="unseen">
                ${text.delivery.attempts}
              </caption>
              <thead>
                <tr>
                  <th scope="col">${text.delivery.attempt}</th>
                  <th scope="col">${text.delivery.when}</th>
                  <th scope="col" class="number">${text.delivery.duration}</th>
                  <th scope="col">${text.delivery.response}</th>
                </tr>
              </thead>
              <tbody>
                ${attempts_log.map(
                  (one) =>
                    html`<tr>
                      <td>${one.attempt}</td>
                      <td>${at(one.started_at)}</td>
                      <td class="number">${duration(one.duration)}</td>
                      <td>${one.message ?? text.status(one.status)}</td>
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>`
        : html`<p class="faint">${text.delivery.notAttempted}</p>`}`;
  }

  private request({ request }: Delivery): TemplateResult {
    return request === undefined || request === null
      ? html`<p class="faint">${text.delivery.noRequest}</p>`
      : html`<div class="field json-field">
          <span class="label">${text.delivery.request}</span>
          <code-editor
            language="json"
            label=${text.delivery.request}
            readonly
            auto-height
            .value=${toJson(request, 2)}
          ></code-editor>
        </div>`;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "webhook-deliveries": WebhookDeliveries;
  }
}
