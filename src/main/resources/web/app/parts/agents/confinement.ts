import { html, nothing, type TemplateResult } from "lit";
import type { Problem } from "../../core/api";
import { signedIn } from "../../core/session";
import type { Agent, EgressScope } from "../../core/types";
import { text } from "../../text/parts/agents";
import { choiceField, field, mistakesOf } from "../forms/fields";

/** The profile of an agent's pods, and its egress. */
export type Confinement = Pick<Agent, "profile" | "egress">;

type EgressKind = "all" | "none" | "destinations";

const KINDS: Record<EgressScope, EgressKind[]> = {
  all: ["all"],
  none: ["all", "none"],
  ports: ["all", "none", "destinations"],
  addresses: ["all", "none", "destinations"],
};

/** The kind in the select; an empty list counts as destinations. */
const kindOf = (egress: string): EgressKind =>
  egress === "all" || egress === "none" ? egress : "destinations";

/** "egress: none", "egress: 2 destinations". */
export function egressWords(egress: string): string {
  const kind = kindOf(egress);
  return kind === "destinations"
    ? text.confinement.destinationsSummary(egress.split("\n").length)
    : text.confinement.summary[kind];
}

/** The choices of this Roost, including the agent's current ones. */
function offered(agent: Confinement): { profiles: string[]; kinds: EgressKind[] } {
  const { profiles, egress } = signedIn.runtime!;
  const including = <T>(all: T[], own: T | null) => (own === null || all.includes(own) ? all : [...all, own]);
  return {
    profiles: including(profiles, agent.profile),
    kinds: including(KINDS[egress], kindOf(agent.egress)),
  };
}

/** The fields that this Roost supports, in a panel; nothing where it supports none. */
export function confinementPanel(
  agent: Confinement,
  value: Confinement,
  problem: Problem | null,
  give: (name: keyof Confinement, value: string | null) => void,
): unknown {
  const { profiles, kinds } = offered(agent);
  const fields = [
    profiles.length ? profileField(profiles, value.profile, problem, give) : nothing,
    kinds.length > 1 ? egressFields(kinds, agent.egress, value.egress, problem, give) : nothing,
  ];
  return fields.every((each) => each === nothing)
    ? nothing
    : html`<section class="panel" aria-labelledby="confinement-title">
        <header>
          <h2 id="confinement-title">
            ${profiles.length ? text.confinement.title : text.confinement.network}
          </h2>
        </header>
        <div class="content fields">${fields}</div>
      </section>`;
}

function profileField(
  profiles: string[],
  profile: string | null,
  problem: Problem | null,
  give: (name: "profile", value: string | null) => void,
): TemplateResult {
  const known = signedIn.runtime!.profiles;
  return choiceField({
    id: "profile",
    label: text.confinement.profile,
    value: profile ?? "",
    choices: [
      ["", text.confinement.defaultProfile],
      ...profiles.map((name): [string, string] => [
        name,
        known.includes(name) ? name : text.confinement.unavailable(name),
      ]),
    ],
    hint: text.confinement.profileHint,
    mistakes: mistakesOf(problem, "/profile"),
    change: (name) => give("profile", name || null),
  });
}

function egressFields(
  kinds: EgressKind[],
  saved: string,
  egress: string,
  problem: Problem | null,
  give: (name: "egress", value: string) => void,
): unknown {
  const kind = kindOf(egress);
  const mistakes = mistakesOf(problem, "/egress");
  const listed = kind === "destinations";
  const choose = (chosen: string) =>
    give("egress", chosen !== "destinations" ? chosen : kindOf(saved) === "destinations" ? saved : "");
  return html`${choiceField({
    id: "egress",
    label: text.confinement.egress,
    value: kind,
    choices: kinds.map((each): [string, string] => [each, text.confinement.kinds[each]]),
    hint: text.confinement.egressHint,
    mistakes: listed ? [] : mistakes,
    change: choose,
  })}
  ${listed
    ? field(
        {
          id: "egress-destinations",
          label: text.confinement.destinations,
          hint: html`${text.confinement.destinationsHint}
          ${signedIn.runtime!.egress === "ports"
            ? html`<strong>${text.confinement.onlyPorts}</strong>`
            : nothing}`,
          mistakes,
        },
        html`<textarea
          id="egress-destinations"
          class="mono"
          rows="4"
          spellcheck="false"
          aria-invalid=${mistakes.length ? "true" : nothing}
          aria-describedby="egress-destinations-hint egress-destinations-mistakes"
          .value=${egress}
          @input=${(event: Event) => give("egress", (event.target as HTMLTextAreaElement).value)}
        ></textarea>`,
      )
    : nothing}`;
}
