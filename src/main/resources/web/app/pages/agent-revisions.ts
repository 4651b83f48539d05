import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { get, post } from "../core/api";
import { asProblem, Load, PagedLoad } from "../core/load";
import { queried, router } from "../core/router";
import { signedIn } from "../core/session";
import type { Agent, AgentRevision } from "../core/types";
import { common } from "../text/common";
import { text } from "../text/pages/agent-revisions";
import { timeAgo } from "../parts/page/basics";
import { confirmAction, toast } from "../parts/page/dialogs";
import { loaded } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { revisionChanges } from "../parts/agents/revision-changes";
import { inWords, REVISION_NAMES, revisionDifferences } from "../parts/agents/revision-fields";
import { revisionNote } from "../parts/agents/running";
import "../parts/agents/variables-diff";

/** The revisions of an agent, the differences between two, and roll back. Fires `changed`. */
@customElement("agent-revisions")
export class AgentRevisions extends Part {
  @property({ attribute: false }) agent!: Agent;
  private readonly list = new PagedLoad<AgentRevision>(
    this,
    () => `/agents/${this.agent.id}/revisions`,
    () => ({}),
    (change) => change.subject === this.agent.id,
  );
  private readonly pair = new Load<[AgentRevision | null, AgentRevision]>(this, (signal) =>
    this.readPair(signal),
  );

  override willUpdate(changed: Map<string, unknown>): void {
    const before = changed.get("agent") as Agent | undefined;
    if (before && before.revision !== this.agent.revision) {
      void this.pair.again();
    }
  }

  /** The revision shown: the one in the address, or the newest. */
  private get shown(): number {
    return Number(queried("revision")) || this.agent.revision;
  }

  /** The revision to compare with; 0: none. */
  private get other(): number {
    return Number(queried("with")) || this.shown - 1;
  }

  override render() {
    return html`<div class="revisions">
      <section class="panel" aria-labelledby="revisions-title">
        <header><h2 id="revisions-title">${text.title}</h2></header>
        ${loaded(this.list, ({ data, next_cursor }) => this.revisions(data, next_cursor !== null))}
      </section>
      <section class="panel" aria-labelledby="changes-title">
        ${loaded(this.pair, (pair) => this.changes(...pair))}
      </section>
    </div>`;
  }

  private revisions(revisions: AgentRevision[], more: boolean): TemplateResult {
    return html`<ul class="revision-list">
        ${revisions.map((revision, i) => this.row(revision, revisions[i + 1]))}
      </ul>
      ${more
        ? html`<div class="table-foot">
            <button class="quiet" ?disabled=${this.list.loading} @click=${() => this.list.more()}>
              ${common.showMore}
            </button>
          </div>`
        : nothing}`;
  }

  private row(revision: AgentRevision, before: AgentRevision | undefined): TemplateResult {
    const number = revision.revision;
    const current = number === this.agent.revision;
    const note = revisionNote(this.agent, number);
    return html`<li aria-current=${number === this.shown ? "true" : nothing}>
      <button class="quiet" @click=${() => this.show(number, 0)}>
        <strong>${text.revision(number)}</strong>
        <span class="faint">${whatChanged(revision, before)}</span>
        <span class="faint small">${timeAgo(revision.created_at)}${note ? ` · ${note}` : ""}</span>
      </button>
      ${!current && signedIn.may("write")
        ? html`<button aria-label=${text.rollBackTo(number)} @click=${() => void this.rollBack(revision)}>
            ${text.rollBack}
          </button>`
        : nothing}
    </li>`;
  }

  private changes(from: AgentRevision | null, to: AgentRevision): TemplateResult {
    return html`<header>
        <h2 id="changes-title">${text.revision(to.revision)}</h2>
        ${this.agent.revision > 1 ? this.compared() : nothing}
      </header>
      <div class="content column">${from ? revisionChanges(from, to) : this.first(to)}</div>`;
  }

  private compared(): TemplateResult {
    const others = Array.from({ length: this.agent.revision }, (_, i) => this.agent.revision - i);
    return html`<label class="row"
      ><span class="faint small">${text.comparedWith}</span
      ><select
        aria-label=${text.comparedWithLabel}
        @change=${(event: Event) => this.show(this.shown, Number((event.target as HTMLSelectElement).value))}
      >
        ${others
          .filter((number) => number !== this.shown)
          .map(
            (number) =>
              html`<option value=${number} .selected=${number === this.other}>${text.other(number)}</option>`,
          )}
      </select></label
    >`;
  }

  /** The first revision has nothing to compare with. */
  private first(revision: AgentRevision): unknown {
    return (["script", "requirements", "env_vars"] as const)
      .filter((field) => revision[field])
      .map(
        (field) =>
          html`<h3>${REVISION_NAMES[field]}</h3>
            ${field === "env_vars"
              ? html`<variables-diff .to=${revision.env_vars}></variables-diff>`
              : html`<pre class="code" tabindex="0" role="region" aria-label=${REVISION_NAMES[field]}>
${revision[field]}</pre
                >`}`,
      );
  }

  private show(revision: number, compared: number): void {
    router.query({ revision: String(revision), with: compared ? String(compared) : null });
    void this.pair.again();
  }

  private async readPair(signal: AbortSignal): Promise<[AgentRevision | null, AgentRevision]> {
    const read = (number: number) =>
      get<AgentRevision>(`/agents/${this.agent.id}/revisions/${number}`, {}, signal);
    return Promise.all([this.other > 0 ? read(this.other) : null, read(this.shown)]);
  }

  private async rollBack(revision: AgentRevision): Promise<void> {
    const fields = revisionDifferences(revision, this.agent);
    const builds = fields.includes("requirements") || fields.includes("python_version");
    const sure = await confirmAction({
      title: text.mayRollBack(revision.revision),
      body: fields.length
        ? html`<p>${text.creates(this.agent.revision + 1, inWords(fields), revision.revision)}</p>
            ${builds ? html`<p>${text.installsAgain}</p>` : nothing}`
        : html`<p>${text.identical}</p>`,
      confirm: text.rollBack,
    });
    if (!sure) {
      return;
    }
    try {
      const agent = await post<Agent>(`/agents/${this.agent.id}/roll-back`, { revision: revision.revision });
      toast(
        agent.revision === this.agent.revision
          ? text.noChanges
          : text.rolledBack(revision.revision, agent.revision),
      );
      router.query({ revision: null, with: null });
      this.dispatchEvent(new Event("changed"));
    } catch (e) {
      toast(asProblem(e).message, { failed: true });
    }
  }
}

function whatChanged(revision: AgentRevision, before: AgentRevision | undefined): string {
  if (revision.revision === 1) {
    return text.created;
  }
  return before ? inWords(revisionDifferences(before, revision)) : "";
}

declare global {
  interface HTMLElementTagNameMap {
    "agent-revisions": AgentRevisions;
  }
}
