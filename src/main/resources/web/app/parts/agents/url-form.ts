import { html, nothing, type TemplateResult } from "lit";
import type { Problem } from "../../core/api";
import type { AgentUrl } from "../../core/types";
import { common } from "../../text/common";
import { text as texts } from "../../text/parts/agents";
import { choiceField, field, mistakesOf, textField } from "../forms/fields";
import { openForm } from "../forms/small-form";

const text = texts.url;
const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;
const POINTERS = [
  "/methods",
  "/mode",
  "/format",
  "/authentication",
  "/signature_scheme",
  "/secret",
  "/previous_secret_seconds",
  "/cors_origins",
  "/requests_per_minute",
  "/wait_seconds",
];

interface Draft {
  methods: string[];
  mode: AgentUrl["mode"];
  format: AgentUrl["format"];
  authentication: AgentUrl["authentication"];
  scheme: NonNullable<AgentUrl["signature_scheme"]>;
  /** Empty: the one so far, or a generated one. */
  secret: string;
  /** For how many seconds the secret so far stays valid beside a new one. */
  overlap: string;
  /** Separated by spaces. */
  origins: string;
  limit: string;
  wait: string;
  /** The scheme of the secret that the URL has. */
  kept: AgentUrl["signature_scheme"];
}

/** Shows the form until it is saved; null if it is cancelled. `generated`: the secret is Roost's. */
export const openUrlForm = (
  url: AgentUrl | null,
  save: (body: unknown) => Promise<AgentUrl>,
): Promise<(AgentUrl & { generated: boolean }) | null> =>
  openForm({
    title: text.title,
    draft: draftOf(url),
    pointers: POINTERS,
    confirm: common.save,
    wide: true,
    fields,
    save: async (draft) => ({ ...(await save(bodyOf(draft))), generated: !draft.secret }),
  });

const draftOf = (url: AgentUrl | null): Draft => ({
  methods: url?.methods ?? ["POST"],
  mode: url?.mode ?? "wait",
  format: url?.format ?? "json",
  authentication: url?.authentication ?? "key",
  scheme: url?.signature_scheme ?? "standard_webhooks",
  secret: "",
  overlap: "0",
  origins: url?.cors_origins.join(" ") ?? "",
  limit: String(url?.requests_per_minute ?? ""),
  wait: String(url?.wait_seconds ?? 30),
  kept: url?.signature_scheme ?? null,
});

function bodyOf(draft: Draft): Record<string, unknown> {
  const isSigned = draft.authentication === "signature";
  return {
    methods: draft.methods,
    mode: draft.mode,
    format: draft.format,
    authentication: draft.authentication,
    signature_scheme: isSigned ? draft.scheme : null,
    ...(isSigned && draft.secret ? { secret: draft.secret } : {}),
    ...(isSigned && isChanged(draft) ? { previous_secret_seconds: Number(draft.overlap) } : {}),
    cors_origins: draft.origins.split(/[\s,]+/).filter(Boolean),
    requests_per_minute: draft.limit.trim() ? Number(draft.limit) : null,
    wait_seconds: Number(draft.wait),
  };
}

/** Whether a secret is replaced by another one. */
const isChanged = ({ secret, scheme, kept }: Draft): boolean => secret !== "" && scheme === kept;

type Take = (changes: Partial<Draft>) => void;

const fields = (draft: Draft, take: Take, problem: Problem | null): TemplateResult =>
  html`${choiceField({
    id: "url-authentication",
    label: text.authentication,
    value: draft.authentication,
    choices: Object.entries(text.authentications),
    change: (value) => take({ authentication: value as Draft["authentication"] }),
    mistakes: mistakesOf(problem, "/authentication"),
  })}
  ${draft.authentication === "signature" ? signature(draft, take, problem) : nothing}
  ${textField({
    id: "url-limit",
    label: text.limitLabel,
    hint: text.limitHint,
    value: draft.limit,
    type: "number",
    min: 1,
    required: draft.authentication === "public",
    change: (limit) => take({ limit }),
    mistakes: mistakesOf(problem, "/requests_per_minute"),
  })}
  ${field(
    { id: "url-methods", label: text.methods, mistakes: mistakesOf(problem, "/methods") },
    html`<div class="row" id="url-methods" role="group" aria-label=${text.methods}>
      ${METHODS.map((method) => methodBox(method, draft, take))}
    </div>`,
  )}
  ${choiceField({
    id: "url-format",
    label: text.format,
    value: draft.format,
    choices: Object.entries(text.formats),
    change: (value) => take({ format: value as Draft["format"] }),
    mistakes: mistakesOf(problem, "/format"),
  })}
  ${choiceField({
    id: "url-mode",
    label: text.mode,
    value: draft.mode,
    choices: Object.entries(text.modes),
    change: (value) => take({ mode: value as Draft["mode"] }),
    mistakes: mistakesOf(problem, "/mode"),
  })}
  ${draft.mode === "wait"
    ? textField({
        id: "url-wait",
        label: text.waitLabel,
        hint: text.waitHint,
        value: draft.wait,
        type: "number",
        min: 1,
        required: true,
        change: (wait) => take({ wait }),
        mistakes: mistakesOf(problem, "/wait_seconds"),
      })
    : nothing}
  ${textField({
    id: "url-origins",
    label: text.origins,
    hint: text.originsHint,
    value: draft.origins,
    mono: true,
    placeholder: "https://app.example.org",
    change: (origins) => take({ origins }),
    mistakes: mistakesOf(problem, "/cors_origins"),
  })}`;

const methodBox = (method: string, draft: Draft, take: Take): TemplateResult =>
  html`<label class="check"
    ><input
      type="checkbox"
      .checked=${draft.methods.includes(method)}
      @change=${(event: Event) =>
        take({
          methods: METHODS.filter((each) =>
            each === method ? (event.target as HTMLInputElement).checked : draft.methods.includes(each),
          ),
        })}
    />${method}</label
  >`;

const signature = (draft: Draft, take: Take, problem: Problem | null): TemplateResult =>
  html`${choiceField({
    id: "url-scheme",
    label: text.scheme,
    value: draft.scheme,
    choices: Object.entries(text.schemes),
    change: (value) => take({ scheme: value as Draft["scheme"] }),
    mistakes: mistakesOf(problem, "/signature_scheme"),
  })}
  ${textField({
    id: "url-secret",
    label: text.secret,
    hint: secretHint(draft),
    value: draft.secret,
    type: "password",
    mono: true,
    change: (secret) => take({ secret }),
    mistakes: mistakesOf(problem, "/secret"),
  })}
  ${isChanged(draft)
    ? choiceField({
        id: "url-overlap",
        label: text.overlap,
        value: draft.overlap,
        choices: Object.entries(text.overlaps),
        change: (overlap) => take({ overlap }),
        mistakes: mistakesOf(problem, "/previous_secret_seconds"),
      })
    : nothing}`;

function secretHint({ scheme, kept }: Draft): string {
  if (scheme === kept) {
    return text.secretKept;
  }
  return scheme === "standard_webhooks" ? text.secretGenerated : text.secretRequired;
}
