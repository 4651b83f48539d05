import { html } from "lit";
import { patch, post, type Problem } from "../../core/api";
import type { Webhook } from "../../core/types";
import "../agents/agent-choice";
import { field, mistakesOf, textField } from "../forms/fields";
import { showSecret } from "../page/secret";
import { openForm } from "../forms/small-form";

interface Draft {
  url: string;
  description: string;
  /** One type or pattern per line. */
  types: string;
  agent_id: string;
}

/** Common event types. */
const COMMON = [
  "execution.failed",
  "execution.timed_out",
  "execution.lost",
  "builder_job.failed",
  "schedule.skipped",
];

/** Creates a webhook and shows its secret; null if it is cancelled. */
export async function createWebhook(): Promise<Webhook | null> {
  const webhook = await openForm({
    title: "New webhook",
    draft: { url: "", description: "", types: COMMON.join("\n"), agent_id: "" },
    pointers: POINTERS,
    confirm: "Create webhook",
    wide: true,
    fields,
    save: (draft) => post<Webhook>("/webhooks", bodyOf(draft)),
  });
  if (webhook) {
    await showWebhookSecret(webhook);
  }
  return webhook;
}

export const changeWebhook = (webhook: Webhook): Promise<Webhook | null> =>
  openForm({
    title: "Edit webhook",
    draft: {
      url: webhook.url,
      description: webhook.description,
      types: webhook.event_types.join("\n"),
      agent_id: webhook.agent_id ?? "",
    },
    pointers: POINTERS,
    confirm: "Save",
    wide: true,
    fields,
    save: (draft) => patch<Webhook>(`/webhooks/${webhook.id}`, bodyOf(draft)),
  });

export async function showWebhookSecret({ secret }: Webhook): Promise<void> {
  if (secret) {
    await showSecret(
      "The webhook's secret",
      secret,
      "Your receiver uses it to verify that deliveries come from Roost.",
    );
  }
}

const POINTERS = ["/url", "/description", "/event_types", "/agent_id"];

const bodyOf = ({ url, description, types, agent_id }: Draft) => ({
  url,
  description,
  event_types: types.split(/[\s,]+/).filter(Boolean),
  agent_id: agent_id || null,
});

function fields(draft: Draft, take: (changes: Partial<Draft>) => void, problem: Problem | null) {
  const listed = draft.types.split(/[\s,]+/).filter(Boolean);
  const missing = COMMON.filter((type) => !listed.includes(type));
  return html`${textField({
      id: "webhook-url",
      label: "URL",
      value: draft.url,
      required: true,
      placeholder: "https://example.org/roost",
      change: (url) => take({ url }),
      mistakes: mistakesOf(problem, "/url"),
    })}
    ${textField({
      id: "webhook-description",
      label: "Description",
      value: draft.description,
      change: (description) => take({ description }),
      mistakes: mistakesOf(problem, "/description"),
    })}
    ${field(
      {
        id: "webhook-types",
        label: "Events",
        hint: html`One type per line; <code>execution.*</code> matches all events of a resource,
          <code>*</code> all events.`,
        mistakes: mistakesOf(problem, "/event_types"),
      },
      html`<textarea
          id="webhook-types"
          class="mono"
          rows="6"
          spellcheck="false"
          required
          aria-describedby="webhook-types-hint webhook-types-mistakes"
          .value=${draft.types}
          @input=${(event: Event) => take({ types: (event.target as HTMLTextAreaElement).value })}
        ></textarea>
        <div class="row" role="group" aria-label="Add event type">
          ${missing.map(
            (type) =>
              html`<button
                type="button"
                class="quiet mono"
                aria-label="Add ${type}"
                @click=${() => take({ types: [...listed, type].join("\n") })}
              >
                + ${type}
              </button>`,
          )}
        </div>`,
    )}
    <agent-choice
      label="Agent"
      .agentId=${draft.agent_id}
      .mistakes=${mistakesOf(problem, "/agent_id")}
      @change=${(event: Event) =>
        take({ agent_id: (event.currentTarget as HTMLElement & { agentId: string }).agentId })}
    ></agent-choice>`;
}
