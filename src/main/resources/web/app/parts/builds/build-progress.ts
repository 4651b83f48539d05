import { html, nothing, type PropertyValues, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { get } from "../../core/api";
import { between } from "../../core/format";
import { Load } from "../../core/load";
import type { BuilderJob } from "../../core/types";
import { text } from "../../text/parts/builds";
import { stateBadge, timeAgo } from "../page/basics";
import "../logs/log-view";
import { problemNotice } from "../page/notices";
import { Part } from "../page/part";

/**
 * The progress of an agent's build: its log while it runs, why it failed, and one line when it succeeds while
 * shown; nothing if it had succeeded before. Fires `build-failed`, which bubbles, with the BuilderJob as its
 * detail.
 */
@customElement("build-progress")
export class BuildProgress extends Part {
  /** Of the builder job. */
  @property() jobId = "";
  private watched = "";
  private reported = "";
  private readonly load = new Load<BuilderJob | null>(
    this,
    (signal) =>
      this.jobId ? get<BuilderJob>(`/builder-jobs/${this.jobId}`, {}, signal) : Promise.resolve(null),
    (change) => change.subject === this.jobId,
  );

  override updated(changed: PropertyValues<this>): void {
    if (changed.has("jobId") && changed.get("jobId") !== undefined) {
      void this.load.again(true);
    }
    const job = this.load.value;
    if (job?.state === "failed" && job.id !== this.reported) {
      this.reported = job.id;
      this.dispatchEvent(new CustomEvent("build-failed", { detail: job, bubbles: true }));
    }
  }

  override render() {
    const job = this.load.value;
    if (!job || job.id !== this.jobId) {
      return problemNotice(this.load.problem, () => void this.load.again());
    }
    if (job.state === "queued" || job.state === "running") {
      this.watched = job.id;
      return this.going(job);
    }
    if (job.state === "failed") {
      return this.failed(job);
    }
    return job.state === "succeeded" && this.watched === job.id
      ? html`<p class="build-done">${stateBadge("succeeded", builtIn(job))}</p>`
      : nothing;
  }

  private going(job: BuilderJob): TemplateResult {
    return html`<section class="column build" aria-label=${text.build}>
      <div class="row">
        ${stateBadge(job.state, job.state === "queued" ? text.queued : text.installing)}
        <span class="faint small">${timeAgo(job.started_at ?? job.created_at)}</span>
        <a class="small" href="/builds/${job.id}">${text.viewBuild}</a>
      </div>
      <log-view .source="builder-jobs/${job.id}" .live=${true} .follow=${true} .label=${text.log}></log-view>
    </section>`;
  }

  private failed(job: BuilderJob): TemplateResult {
    return html`<section class="column build" aria-label=${text.build}>
      <div class="notice failed" role="alert">
        <strong>${text.failed}</strong>
        <pre>${job.message}</pre>
        <div class="row small">
          <a href="/builds/${job.id}">${text.viewBuildAndLog}</a>
        </div>
      </div>
    </section>`;
  }
}

const builtIn = ({ reused, started_at, finished_at }: BuilderJob): string =>
  reused || !started_at || !finished_at ? text.reused : text.builtIn(between(started_at, finished_at));

declare global {
  interface HTMLElementTagNameMap {
    "build-progress": BuildProgress;
  }
}
