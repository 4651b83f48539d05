import { html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { requestTagged } from "../core/api";
import { Load } from "../core/load";
import { Polling } from "../core/polling";
import { router } from "../core/router";
import { signedIn } from "../core/session";
import type { State } from "../core/states";
import type { Agent } from "../core/types";
import { common } from "../text/common";
import { text } from "../text/pages/agent";
import { AgentEdits } from "../parts/agents/agent-edits";
import { idLink, stateBadge, timeAgo } from "../parts/page/basics";
import "../parts/agents/agent-health";
import "../parts/agents/call-it";
import { egressWords } from "../parts/agents/confinement";
import { preloadNote } from "../parts/agents/preload-text";
import { confirmAction } from "../parts/page/dialogs";
import "../parts/executions/execution-table";
import { emptyState, loaded } from "../parts/page/notices";
import { tagChips } from "../parts/agents/tags";
import { Part } from "../parts/page/part";
import { outdatedText, rebuild } from "../parts/rollouts/rollouts";
import { behindText } from "../parts/agents/running";
import "../parts/schedules/schedule-list";
import "../parts/stores/store-list";
import { tabs } from "../parts/page/tabs";
import "./agent-builds";
import "./agent-name";
import "./agent-performance";
import "./agent-revisions";
import "./agent-settings";
import "./agent-workspace";

const TABS = [
  "workspace",
  "executions",
  "performance",
  "schedules",
  "stores",
  "builds",
  "revisions",
  "settings",
  "call-it",
] as const;

type Tab = (typeof TABS)[number];

/** A build is expected to succeed, so only others have a colour: an agent that is built may still fail. */
const buildState = (state: State<"BuilderJob">): unknown =>
  state === "succeeded" ? text.builds[state] : stateBadge(state, text.builds[state]);

/** Milliseconds between polls of an outdated agent. */
const OUTDATED_LOOK = 10_000;

/** One agent: its workspace and everything that belongs to it. */
@customElement("agent-page")
export class AgentPage extends Part {
  @property() agentId = "";
  @property() tab = "";
  @state() private edits: AgentEdits | null = null;
  private endGuard: (() => void) | undefined;
  private readonly load = new Load<Agent>(
    this,
    (signal) => this.read(signal),
    (change) => change.agent_id === this.agentId || change.subject === this.agentId,
  );

  constructor() {
    super();
    // No event reports that a rollout has updated the agent.
    new Polling(this, this.load, () => !!this.load.value?.outdated, OUTDATED_LOOK);
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.endGuard = router.guard((to) => this.mayLeave(to));
    window.addEventListener("beforeunload", this.warn);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.endGuard?.();
    window.removeEventListener("beforeunload", this.warn);
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has("agentId") && changed.get("agentId")) {
      this.edits = null;
      void this.load.again(true);
    }
  }

  override updated(): void {
    if (this.load.value) {
      document.title = `${this.load.value.name} · Roost`;
    }
  }

  override render() {
    const agent = this.load.value;
    const { edits } = this;
    return agent && edits
      ? html`${this.head(agent, edits)}
        ${tabs(
          text.views,
          TABS.map((name) => ({
            name,
            title: this.tabTitle(name),
            href: this.address(name),
          })),
          this.chosen,
        )}
        ${loaded(
          this.load,
          () =>
            html`<section id="panel" role="tabpanel" aria-labelledby="tab-${this.chosen}">
              ${this.panel(agent, edits)}
            </section>`,
        )}`
      : html`<div class="page-head"><h1>${common.agent}</h1></div>
          ${this.load.problem?.status === 404 ? this.missing() : loaded(this.load, () => nothing)}`;
  }

  private get chosen(): Tab {
    return TABS.find((name) => name === this.tab) ?? "workspace";
  }

  private address(tab: Tab): string {
    return `/agents/${this.agentId}${tab === "workspace" ? "" : `/${tab}`}`;
  }

  private tabTitle(name: Tab): unknown {
    const title = text.tabs[name];
    return name === "workspace" && this.edits?.dirty
      ? html`${title}<span class="unsaved" title=${text.unsavedTitle}
            >•<span class="unseen"> ${text.unsaved}</span></span
          >`
      : title;
  }

  private head(agent: Agent, { saved }: AgentEdits): TemplateResult {
    const { activity } = agent;
    const build = activity?.builder_job;
    return html`<div class="page-head">
        <agent-name
          .agentId=${agent.id}
          .name=${agent.name}
          @renamed=${() => void this.load.again()}
        ></agent-name>
      </div>
      <ul class="agent-facts" aria-label=${text.details}>
        <li><agent-health .agentId=${agent.id}></agent-health></li>
        ${build ? html`<li><a href="/builds/${build.id}">${buildState(build.state)}</a></li>` : nothing}
        <li><a href=${this.address("revisions")}>${text.revision(saved.revision)}</a></li>
        <li>${text.python(saved.python_version)}</li>
        ${saved.profile ? html`<li>${text.profile(saved.profile)}</li>` : nothing}
        ${saved.egress === "all"
          ? nothing
          : html`<li><span title=${saved.egress}>${egressWords(saved.egress)}</span></li>`}
        ${preloadNote(agent)
          ? html`<li><a href=${this.address("builds")}>${preloadNote(agent)}</a></li>`
          : nothing}
        ${activity && activity.running + activity.queued > 0
          ? html`<li>${text.activity(activity.running, activity.queued)}</li>`
          : nothing}
        ${activity?.next_run_at
          ? html`<li>
              <a href=${this.address("schedules")}>${text.nextRun(timeAgo(activity.next_run_at))}</a>
            </li>`
          : nothing}
        ${saved.tags.length ? html`<li>${tagChips(saved.tags)}</li>` : nothing}
        <li>${text.changed(timeAgo(saved.updated_at))}</li>
        <li>${idLink(agent.id)}</li>
      </ul>
      ${this.behind(saved)} ${this.outdated(agent)}`;
  }

  private behind(agent: Agent): unknown {
    const note = behindText(agent);
    return note
      ? html`<div class="notice ${agent.build_failure ? "failed" : "waiting"}" role="status">
          <p>${note} <a href="/builds/${agent.latest_builder_job_id}">${text.viewBuild}</a></p>
        </div>`
      : nothing;
  }

  private outdated(agent: Agent): unknown {
    return agent.outdated
      ? html`<div class="notice waiting" role="status">
          <strong>${text.outdated}</strong>
          ${outdatedText(agent.outdated)}
          ${signedIn.may("write")
            ? html`<div class="row">
                <button @click=${() => void rebuild(agent)}>${text.rebuild}</button>
              </div>`
            : nothing}
        </div>`
      : nothing;
  }

  private panel(agent: Agent, edits: AgentEdits): unknown {
    switch (this.chosen) {
      case "executions":
        return html`<execution-table .agentId=${agent.id}></execution-table>`;
      case "performance":
        return html`<agent-performance .agent=${agent}></agent-performance>`;
      case "schedules":
        return html`<schedule-list .agentId=${agent.id}></schedule-list>`;
      case "stores":
        return html`<store-list .agentId=${agent.id}></store-list>`;
      case "builds":
        return html`<agent-builds .agent=${agent}></agent-builds>`;
      case "revisions":
        return html`<agent-revisions
          .agent=${edits.saved}
          @changed=${() => void this.load.again()}
        ></agent-revisions>`;
      case "settings":
        return html`<agent-settings
          .agent=${agent}
          @changed=${() => void this.load.again()}
        ></agent-settings>`;
      case "call-it":
        return html`<call-it .agent=${agent}></call-it>`;
      default:
        return html`<agent-workspace .edits=${edits} .version=${edits.version}></agent-workspace>`;
    }
  }

  private missing(): TemplateResult {
    return emptyState(
      text.notFound,
      text.mayBeDeleted(this.agentId),
      html`<a class="button" href="/agents">${text.viewAgents}</a
        ><a class="button" href="/executions?agent_id=${this.agentId}">${text.viewExecutions}</a>`,
    );
  }

  private async read(signal: AbortSignal): Promise<Agent> {
    const { value, tag } = await requestTagged<Agent>("GET", `/agents/${this.agentId}`, {
      query: { include: "activity" },
      signal,
    });
    if (this.edits?.saved.id === value.id) {
      this.edits.meet(value, tag);
    } else {
      this.edits = new AgentEdits(value, tag, () => this.requestUpdate());
    }
    return value;
  }

  private mayLeave(to: URL): boolean | Promise<boolean> {
    const within =
      to.pathname === `/agents/${this.agentId}` || to.pathname.startsWith(`/agents/${this.agentId}/`);
    if (within || !this.edits?.dirty || !signedIn.session) {
      return true;
    }
    return confirmAction({
      title: text.mayLeave,
      body: html`<p>${text.keptAsDraft(this.edits.saved.name)}</p>`,
      confirm: text.leave,
    });
  }

  private readonly warn = (event: BeforeUnloadEvent) => {
    if (this.edits?.dirty) {
      event.preventDefault();
    }
  };
}
