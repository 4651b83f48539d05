import { html } from "lit";
import type { AgentRevision } from "../../core/types";
import { text } from "../../text/parts/agents";
import "../code/code-diff";
import "./bundle-changes";
import "./variables-diff";
import { REVISION_NAMES, revisionDifferences, revisionText } from "./revision-fields";

/** Fields of one word, shown as "old → new". */
const ARROWS: readonly string[] = ["python_version", "profile", "preload", "script_path"];

/** What one revision changed of another, field by field. */
export function revisionChanges(from: AgentRevision, to: AgentRevision): unknown {
  const fields = revisionDifferences(from, to);
  return fields.length
    ? fields.map(
        (field) =>
          html`<h3>${REVISION_NAMES[field]}</h3>
            ${ARROWS.includes(field)
              ? html`<p>${from[field] ?? text.revisions.default} → ${to[field] ?? text.revisions.default}</p>`
              : field === "env_vars"
                ? html`<variables-diff .from=${from.env_vars} .to=${to.env_vars}></variables-diff>`
                : field === "bundle_id"
                  ? html`<bundle-changes
                      .from=${from.bundle_id ?? ""}
                      .to=${to.bundle_id ?? ""}
                    ></bundle-changes>`
                  : html`<code-diff
                      .from=${revisionText(from[field])}
                      .to=${revisionText(to[field])}
                      .label=${REVISION_NAMES[field]}
                    ></code-diff>`}`,
      )
    : html`<p class="faint">${text.revisions.noDifferences}</p>`;
}
