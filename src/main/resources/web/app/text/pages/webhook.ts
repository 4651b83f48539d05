import { html } from "lit";
import { plural } from "../../core/format";

/** Texts of the page of a webhook. */
export const text = {
  breadcrumb: "Breadcrumb",
  webhooks: "Webhooks",
  sendTest: "Send test",
  sending: "Sending…",
  testDelivered: (status: number | null) => `Test delivered: status ${status}.`,
  enable: "Enable",
  disable: "Disable",
  rotateSecret: "Rotate secret",
  replay: "Replay",
  disabled: "This webhook is disabled",
  sentLater:
    "Pending deliveries are sent when the webhook is enabled again. Events that occur while it is disabled are sent only by a replay.",
  eventTypes: (n: number) => plural(n, "event type"),
  allAgents: "all",
  created: "Created",
  id: "ID",
  rotation: {
    title: "Rotate the secret?",
    body: "For 24 hours, deliveries are signed with both the old and the new secret, so that your receiver can switch over.",
    confirm: "Rotate secret",
  },
  replaying: {
    title: "Replay events",
    confirm: "Replay",
    after: "After position",
    afterHint:
      "Sends subscribed events that were not delivered, and retries failed deliveries. 0: from the oldest event kept.",
    queued: (deliveries: number) => `${plural(deliveries, "delivery", "deliveries")} queued.`,
  },
  deletion: {
    title: "Delete webhook?",
    body: (url: string) =>
      html`<code>${url}</code> receives no more events, and the delivery history is deleted.`,
    confirm: "Delete webhook",
    done: "Webhook deleted.",
  },
};
