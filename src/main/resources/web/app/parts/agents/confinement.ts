import { html, nothing, type TemplateResult } from "lit";
import type { Problem } from "../../core/api";
import { plural } from "../../core/format";
import { signedIn } from "../../core/session";
import type { Agent, EgressScope } from "../../core/types";
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

const EGRESS: Record<EgressKind, string> = {
  all: "Everything",
  none: "Nothing",
  destinations: "Only these destinations",
};

/** The kind in the select; an empty list counts as destinations. */
const kindOf = (egress: string): EgressKind =>
  egress === "all" || egress === "none" ? egress : "destinations";

/** "egress: none", "egress: 2 destinations". */
export const egressWords = (egress: string): string =>
  `egress: ${kindOf(egress) === "destinations" ? plural(egress.split("\n").length, "destination") : egress}`;

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
          <h2 id="confinement-title">${profiles.length ? "Profile and network" : "Network"}</h2>
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
    label: "Profile",
    value: profile ?? "",
    choices: [
      ["", "Default"],
      ...profiles.map((name): [string, string] => [
        name,
        known.includes(name) ? name : `${name} (no longer available)`,
      ]),
    ],
    hint: "The kind of pod that runs the agent, defined by the operator.",
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
    label: "Egress",
    value: kind,
    choices: kinds.map((each): [string, string] => [each, EGRESS[each]]),
    hint: "What scripts may connect to. DataStores and the installation of requirements are not affected.",
    mistakes: listed ? [] : mistakes,
    change: choose,
  })}
  ${listed
    ? field(
        {
          id: "egress-destinations",
          label: "Destinations",
          hint: html`One per line: an IP address or CIDR block and a TCP port, for example
            <code>192.0.2.7:443</code>, <code>192.0.2.0/24:5432</code> or <code>[2001:db8::7]:443</code>.
            ${signedIn.runtime!.egress === "ports"
              ? html`<strong>This machine enforces only the ports, for every address.</strong>`
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
