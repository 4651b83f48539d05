import { html, nothing, type TemplateResult } from "lit";
import { customElement, property } from "lit/decorators.js";
import { post, requestExactly } from "../core/api";
import { Load } from "../core/load";
import { signedIn } from "../core/session";
import type { Approval, ApprovalForm } from "../core/types";
import "../parts/agents/agent-link";
import "../parts/approvals/approval-form";
import type { Decision } from "../parts/approvals/approval-form";
import "../parts/code/json-tree";
import { idLink, stateBadge, timeAgo } from "../parts/page/basics";
import { toast } from "../parts/page/dialogs";
import { loaded, roleNotice } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { text as texts } from "../text/parts/approvals";
import { text } from "../text/pages/approvals";

/** One approval: what is asked, and the form that decides. */
@customElement("approval-page")
export class ApprovalPage extends Part {
  @property() approvalId = "";
  private readonly load = new Load<Approval>(
    this,
    async (signal) =>
      (await requestExactly<Approval>("GET", `/approvals/${this.approvalId}`, { signal })).value,
    (change) => change.subject === this.approvalId,
  );

  protected override updated(changed: Map<PropertyKey, unknown>): void {
    if (changed.get("approvalId")) {
      void this.load.again(true);
    }
  }

  override render() {
    return html`<div class="page-head">
        <h1>${text.approval}</h1>
        ${idLink(this.approvalId)}
      </div>
      ${loaded(this.load, (approval) => this.show(approval))}`;
  }

  private show(approval: Approval): TemplateResult {
    return html`<div class="row summary" role="status">
        <strong>${stateBadge(approval.state)}</strong>
        <agent-link .agentId=${approval.agent_id}></agent-link>
        <span class="faint">${text.asked}</span> ${timeAgo(approval.created_at)}
      </div>
      <div class="beside">
        <div class="column">
          <section class="panel" aria-labelledby="question-title">
            <header><h2 id="question-title">${approval.title}</h2></header>
            <div class="content column">
              ${approval.details === null
                ? nothing
                : html`<json-tree name=${texts.details} .value=${approval.details}></json-tree>`}
              ${this.decision(approval)}
            </div>
          </section>
        </div>
        <div class="column">${facts(approval)}</div>
      </div>`;
  }

  private decision(approval: Approval): unknown {
    if (approval.state !== "pending") {
      return html`<p class="notice">${texts.states[approval.state]}</p>`;
    }
    if (!signedIn.may("execute")) {
      return roleNotice("execute", texts.decide);
    }
    return html`<approval-form
      .schema=${approval.form as ApprovalForm | null}
      .decide=${(decision: Decision) => this.decide(decision)}
    ></approval-form>`;
  }

  private async decide({ approved, ...fields }: Decision): Promise<void> {
    await post(`/approvals/${this.approvalId}/${approved ? "approve" : "reject"}`, fields);
    toast(approved ? texts.done.approved : texts.done.rejected);
    await this.load.again();
  }
}

function facts(approval: Approval): TemplateResult {
  const rows: [string, unknown][] = [
    [text.run, html`<a href="/executor-jobs/${approval.executor_job_id}">${approval.executor_job_id}</a>`],
    [text.assignees, approval.assignees.join(", ")],
    [text.expires, approval.expires_at && timeAgo(approval.expires_at)],
    [text.decided, approval.decided_at && timeAgo(approval.decided_at)],
    [text.decidedBy, approval.decided_by],
    [text.comment, approval.comment],
    [
      text.value,
      approval.value !== null && html`<json-tree name=${text.value} .value=${approval.value}></json-tree>`,
    ],
  ];
  return html`<section class="panel" aria-labelledby="facts-title">
    <header><h2 id="facts-title">${text.facts}</h2></header>
    <dl class="content facts">
      ${rows.map(([name, value]) =>
        value
          ? html`<dt>${name}</dt>
              <dd>${value}</dd>`
          : nothing,
      )}
    </dl>
  </section>`;
}
