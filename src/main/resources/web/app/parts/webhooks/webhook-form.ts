import { html } from "lit";
import { patch, post, type Problem } from "../../core/api";
import type { Webhook } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/webhooks";
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
    title: text.form.create,
    draft: { url: "", description: "", types: COMMON.join("\n"), agent_id: "" },
    pointers: POINTERS,
    confirm: text.form.confirmCreate,
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
    title: text.form.edit,
    draft: {
      url: webhook.url,
      description: webhook.description,
      types: webhook.event_types.join("\n"),
      agent_id: webhook.agent_id ?? "",
    },
    pointers: POINTERS,
    confirm: common.save,
    wide: true,
    fields,
    save: (draft) => patch<Webhook>(`/webhooks/${webhook.id}`, bodyOf(draft)),
  });

export async function showWebhookSecret({ secret }: Webhook): Promise<void> {
  if (secret) {
    await showSecret(text.form.secret, secret, text.form.aboutSecret);
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
      label: text.form.url,
      value: draft.url,
      required: true,
      placeholder: "https://example.org/roost",
      change: (url) => take({ url }),
      mistakes: mistakesOf(problem, "/url"),
    })}
    ${textField({
      id: "webhook-description",
      label: text.form.description,
      value: draft.description,
      change: (description) => take({ description }),
      mistakes: mistakesOf(problem, "/description"),
    })}
    ${field(
      {
        id: "webhook-types",
        label: text.form.events,
        hint: text.form.eventsHint,
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
        <div class="row" role="group" aria-label=${text.form.addEventType}>
          ${missing.map(
            (type) =>
              html`<button
                type="button"
                class="quiet mono"
                aria-label=${text.form.add(type)}
                @click=${() => take({ types: [...listed, type].join("\n") })}
              >
                + ${type}
              </button>`,
          )}
        </div>`,
    )}
    <agent-choice
      label=${common.agent}
      .agentId=${draft.agent_id}
      .mistakes=${mistakesOf(problem, "/agent_id")}
      @change=${(event: Event) =>
        take({ agent_id: (event.currentTarget as HTMLElement & { agentId: string }).agentId })}
    ></agent-choice>`;
}
