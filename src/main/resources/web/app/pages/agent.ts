import { html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { requestTagged } from "../core/api";
import { Load } from "../core/load";
import { Polling } from "../core/polling";
import { router } from "../core/router";
import { signedIn } from "../core/session";
import type { State } from "../core/states";
import type { Agent } from "../core/types";
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

const TABS: Record<string, string> = {
  workspace: "Workspace",
  executions: "Executions",
  performance: "Performance",
  schedules: "Schedules",
  stores: "Stores",
  builds: "Builds",
  revisions: "Revisions",
  settings: "Settings",
  "call-it": "Call from code",
};

const BUILD_WORDS: Record<State<"BuilderJob">, string> = {
  queued: "build queued",
  running: "building",
  succeeded: "built",
  failed: "build failed",
  cancelled: "build cancelled",
};

/** A build is expected to succeed, so only others have a colour: an agent that is built may still fail. */
const buildState = (state: State<"BuilderJob">): unknown =>
  state === "succeeded" ? BUILD_WORDS[state] : stateBadge(state, BUILD_WORDS[state]);

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
          "Agent views",
          Object.entries(TABS).map(([name, title]) => ({
            name,
            title: this.tabTitle(name, title),
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
      : html`<div class="page-head"><h1>Agent</h1></div>
          ${this.load.problem?.status === 404 ? this.missing() : loaded(this.load, () => nothing)}`;
  }

  private get chosen(): string {
    return this.tab in TABS ? this.tab : "workspace";
  }

  private address(tab: string): string {
    return `/agents/${this.agentId}${tab === "workspace" ? "" : `/${tab}`}`;
  }

  private tabTitle(name: string, title: string): unknown {
    return name === "workspace" && this.edits?.dirty
      ? html`${title}<span class="unsaved" title="Unsaved changes"
            >•<span class="unseen"> unsaved changes</span></span
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
      <ul class="agent-facts" aria-label="Agent details">
        <li><agent-health .agentId=${agent.id}></agent-health></li>
        ${build ? html`<li><a href="/builds/${build.id}">${buildState(build.state)}</a></li>` : nothing}
        <li><a href=${this.address("revisions")}>revision ${saved.revision}</a></li>
        <li>Python ${saved.python_version}</li>
        ${saved.profile ? html`<li>profile ${saved.profile}</li>` : nothing}
        ${saved.egress === "all"
          ? nothing
          : html`<li><span title=${saved.egress}>${egressWords(saved.egress)}</span></li>`}
        ${preloadNote(agent)
          ? html`<li><a href=${this.address("builds")}>${preloadNote(agent)}</a></li>`
          : nothing}
        ${activity && activity.running + activity.queued > 0
          ? html`<li>${activity.running} running, ${activity.queued} queued</li>`
          : nothing}
        ${activity?.next_run_at
          ? html`<li><a href=${this.address("schedules")}>next run ${timeAgo(activity.next_run_at)}</a></li>`
          : nothing}
        ${saved.tags.length ? html`<li>${tagChips(saved.tags)}</li>` : nothing}
        <li>changed ${timeAgo(saved.updated_at)}</li>
        <li>${idLink(agent.id)}</li>
      </ul>
      ${this.behind(saved)} ${this.outdated(agent)}`;
  }

  private behind(agent: Agent): unknown {
    const text = behindText(agent);
    return text
      ? html`<div class="notice ${agent.build_failure ? "failed" : "waiting"}" role="status">
          <p>${text} <a href="/builds/${agent.latest_builder_job_id}">View build</a></p>
        </div>`
      : nothing;
  }

  private outdated(agent: Agent): unknown {
    return agent.outdated
      ? html`<div class="notice waiting" role="status">
          <strong>This agent is outdated</strong>
          ${outdatedText(agent.outdated)}
          ${signedIn.may("write")
            ? html`<div class="row"><button @click=${() => void rebuild(agent)}>Rebuild</button></div>`
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
      "Agent not found",
      html`No agent has the ID <code>${this.agentId}</code>. It may have been deleted; its executions are
        kept.`,
      html`<a class="button" href="/agents">View agents</a
        ><a class="button" href="/executions?agent_id=${this.agentId}">View executions</a>`,
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
      title: "Leave without saving?",
      body: html`<p>
        Your changes to ${this.edits.saved.name} are not saved. This browser keeps them as a draft.
      </p>`,
      confirm: "Leave",
    });
  }

  private readonly warn = (event: BeforeUnloadEvent) => {
    if (this.edits?.dirty) {
      event.preventDefault();
    }
  };
}
