import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { all, get, kept } from "../core/api";
import { bytes, count } from "../core/format";
import { Load } from "../core/load";
import { signedIn } from "../core/session";
import type { Agent, AgentRevision, Build, BuilderJob } from "../core/types";
import { common } from "../text/common";
import { text } from "../text/pages/build";
import "../parts/agents/agent-link";
import { namedLines } from "../parts/builds/named-requirements";
import { idLink, stateBadge, timeAgo } from "../parts/page/basics";
import "../parts/logs/log-view";
import { loaded } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { titlePage } from "../parts/page/titles";
import { buildReason, isHarmless } from "../parts/executions/reasons";
import { requirementList } from "./build-requirements";
import { buildDuration } from "./builds";
import { fact } from "./execution-panels";

interface Shown {
  /** Null if the address names a Build. */
  job: BuilderJob | null;
  build: Build | null;
  /** As written, with comments; null: no longer kept. */
  requirements: string | null;
  /** Agents that use the Build now. */
  sharing: Agent[];
}

/** A BuilderJob (bjob_…) or a Build (build_…): why it failed, or its contents. */
@customElement("build-page")
export class BuildPage extends Part {
  @property() jobId = "";
  private agentId: string | null = null;
  private readonly load = new Load<Shown>(
    this,
    (signal) => this.read(signal),
    (change) =>
      change.subject === this.jobId || (change.type.startsWith("agent.") && change.subject === this.agentId),
  );

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.get("jobId")) {
      void this.load.again(true);
    }
    const job = this.load.value?.job;
    if (job?.id === this.jobId) {
      void titlePage(job.agent_id, job.state, text.pageTitle(job.state));
    }
  }

  private async read(signal: AbortSignal): Promise<Shown> {
    if (this.jobId.startsWith("build_")) {
      const build = await get<Build>(`/builds/${this.jobId}`, {}, signal);
      return { job: null, build, requirements: null, sharing: await this.sharing(build.id, signal) };
    }
    const job = await get<BuilderJob>(`/builder-jobs/${this.jobId}`, {}, signal);
    this.agentId = job.agent_id;
    const [build, revision, sharing] = await Promise.all([
      job.build_id ? kept(get<Build>(`/builds/${job.build_id}`, {}, signal)) : null,
      kept(get<AgentRevision>(`/agents/${job.agent_id}/revisions/${job.agent_revision}`, {}, signal)),
      job.build_id ? this.sharing(job.build_id, signal) : [],
    ]);
    return { job, build, requirements: revision?.requirements ?? job.requirements, sharing };
  }

  private async sharing(buildId: string, signal: AbortSignal): Promise<Agent[]> {
    const agents = await all<Agent>("/agents", {}, signal);
    return agents.filter((agent) => agent.build_id === buildId);
  }

  override render() {
    const job = this.load.value?.job;
    return html`<div class="page-head">
        <h1>${text.title}</h1>
        ${idLink(this.jobId)}
        <div class="actions">
          ${job && (job.state === "failed" || job.state === "succeeded") && signedIn.may("write")
            ? html`<a class="button ${job.state === "failed" ? "primary" : ""}" href="/agents/${job.agent_id}"
                >${job.state === "failed" ? text.fixRequirements : text.editRequirements}</a
              >`
            : nothing}
        </div>
      </div>
      ${loaded(this.load, (shown) => this.show(shown))}`;
  }

  private show(shown: Shown): TemplateResult {
    const { job, build } = shown;
    return html`${job ? this.summary(job) : nothing}
      ${job ? this.explanation(job, shown.requirements) : nothing}
      <div class="beside">
        <div class="column">
          ${job && !job.reused
            ? html`<section aria-labelledby="log-title" class="column log-section">
                <h2 id="log-title">${text.log}</h2>
                <log-view
                  .source="builder-jobs/${job.id}"
                  .live=${job.finished_at === null}
                  .follow=${job.state !== "succeeded"}
                ></log-view>
              </section>`
            : nothing}
          ${build ? this.packages(build) : nothing}
        </div>
        <div class="column">${this.facts(shown)} ${this.requirements(shown)} ${this.agents(shown)}</div>
      </div>`;
  }

  private summary(job: BuilderJob): TemplateResult {
    return html`<div class="row summary" role="status">
      <strong>${stateBadge(job.state)}</strong>
      <agent-link .agentId=${job.agent_id}></agent-link>
      <span class="faint">${text.builtFor(job.agent_revision, job.python_version)}</span>
      ${job.reused ? html`<span class="faint">${text.reuses}</span>` : buildDuration(job)}
    </div>`;
  }

  /** uv's message, and the requirements that it names. */
  private explanation({ reason, message }: BuilderJob, requirements: string | null): unknown {
    if (reason === null) {
      return nothing;
    }
    const { title, help } = buildReason(reason);
    const lines = namedLines(requirements ?? "", message ?? "");
    const written = (requirements ?? "").split("\n");
    return html`<section
      class="notice ${isHarmless(reason) ? "" : "failed"}"
      aria-label=${text.failureReason}
    >
      <strong>${title}</strong>
      ${message ? html`<pre>${message}</pre>` : nothing}
      ${lines.length
        ? html`<ul>
            ${lines.map((line) => html`<li>${text.line(line, written[line - 1])}</li>`)}
          </ul>`
        : nothing}
      ${help ? html`<p class="small">${help}</p>` : nothing}
    </section>`;
  }

  private packages(build: Build): TemplateResult {
    const sized = build.packages.some((p) => p.size_bytes != null);
    const sizeOf = (p: Build["packages"][number]) => p.size_bytes ?? 0;
    const sorted = sized ? [...build.packages].sort((a, b) => sizeOf(b) - sizeOf(a)) : build.packages;
    return html`<section class="panel tight" aria-labelledby="packages-title">
      <header>
        <h2 id="packages-title">${text.packages} <span class="faint">${count(sorted.length)}</span></h2>
      </header>
      ${sorted.length === 0
        ? html`<p class="content faint">${text.noPackages}</p>`
        : html`<div class="table-wrap" role="region" aria-label=${text.listOfPackages} tabindex="0">
            <table>
              <thead>
                <tr>
                  <th scope="col">${common.name}</th>
                  <th scope="col">${text.version}</th>
                  ${sized ? html`<th scope="col" class="number">${text.size}</th>` : nothing}
                </tr>
              </thead>
              <tbody>
                ${sorted.map(
                  (p) =>
                    html`<tr>
                      <td>${p.name}</td>
                      <td class="mono" title=${text.sha256(p.sha256)}>${p.version}</td>
                      ${sized
                        ? html`<td class="number">${p.size_bytes == null ? "–" : bytes(p.size_bytes)}</td>`
                        : nothing}
                    </tr>`,
                )}
              </tbody>
            </table>
          </div>`}
    </section>`;
  }

  private facts({ job, build }: Shown): TemplateResult {
    return html`<section class="panel" aria-labelledby="details-title">
      <header><h2 id="details-title">${text.details}</h2></header>
      <dl class="facts content">
        ${fact(text.created, job && timeAgo(job.created_at))}
        ${fact(text.finished, job?.finished_at && timeAgo(job.finished_at))}
        ${fact(text.python, job?.python_version ?? build?.python_version)}
        ${fact(text.base, build?.base && html`<code class="small image">${build.base}</code>`)}
        ${fact(text.size, build && html`<span class="number">${bytes(build.size_bytes)}</span>`)}
        ${fact(text.build, build && idLink(build.id, job ? `/builds/${build.id}` : undefined))}
        ${fact(
          text.image,
          build?.image &&
            html`<span class="row"
              ><code class="small image">${build.image}</code
              ><copy-button .text=${build.image} label=${text.copyImage}></copy-button
            ></span>`,
        )}
      </dl>
    </section>`;
  }

  private requirements({ job, requirements }: Shown): unknown {
    return requirements === null
      ? nothing
      : html`<section class="panel" aria-labelledby="requirements-title">
          <header><h2 id="requirements-title">${text.requirements}</h2></header>
          <div class="content">
            ${requirements.trim()
              ? requirementList(requirements.trimEnd(), job?.message ?? "")
              : html`<p class="faint">${text.noRequirements}</p>`}
          </div>
        </section>`;
  }

  private agents({ build, sharing }: Shown): unknown {
    return build === null
      ? nothing
      : html`<section class="panel" aria-labelledby="agents-title">
          <header><h2 id="agents-title">${text.usedBy(sharing.length)}</h2></header>
          ${sharing.length
            ? html`<ul class="lines">
                ${sharing.map((agent) => html`<li><a href="/agents/${agent.id}">${agent.name}</a></li>`)}
              </ul>`
            : html`<p class="content faint">${text.unused}</p>`}
        </section>`;
  }
}
