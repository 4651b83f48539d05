import { html, nothing } from "lit";
import { customElement, state } from "lit/decorators.js";
import { request, type Problem } from "../core/api";
import { asProblem } from "../core/load";
import type { ApprovalForm, LinkedApproval } from "../core/types";
import "../parts/approvals/approval-form";
import type { Decision } from "../parts/approvals/approval-form";
import "../parts/code/json-tree";
import { Part } from "../parts/page/part";
import { text as texts } from "../text/parts/approvals";
import { text } from "../text/pages/approvals";

/** The page of a link that decides an approval without a key. Opening it changes nothing. */
@customElement("linked-approval")
export class LinkedApprovalElement extends Part {
  @state() private approval: LinkedApproval | null = null;
  @state() private problem: Problem | null = null;
  /** In the fragment, which browsers send to no server. */
  private readonly token = new URLSearchParams(location.hash.slice(1)).get("token") ?? "";

  override connectedCallback(): void {
    super.connectedCallback();
    void this.show();
  }

  private async show(): Promise<void> {
    try {
      this.approval = await this.send("show", {});
    } catch (e) {
      this.problem = asProblem(e);
    }
  }

  private send(what: string, fields: object): Promise<LinkedApproval> {
    return request<LinkedApproval>("POST", `/approval-links/${what}`, {
      body: { token: this.token, ...fields },
      repeatable: true,
    });
  }

  override render() {
    const { approval, problem } = this;
    return html`<main class="sign-in">
      <section class="panel column linked" aria-busy=${!approval && !problem}>
        ${problem
          ? html`<h1>${text.linkEnded}</h1>
              <p>${problem.detail}</p>`
          : nothing}
        ${approval
          ? html`<h1>${approval.title}</h1>
              ${approval.assignee ? html`<p class="faint">${text.ofLink(approval.assignee)}</p>` : nothing}
              ${approval.details === null
                ? nothing
                : html`<json-tree name=${texts.details} .value=${approval.details}></json-tree>`}
              ${approval.state === "pending"
                ? html`<approval-form
                    .schema=${approval.form as ApprovalForm | null}
                    .decide=${(decision: Decision) => this.decide(decision)}
                  ></approval-form>`
                : html`<p class="notice" role="status">${texts.states[approval.state]} ${text.thanks}</p>`}`
          : nothing}
      </section>
    </main>`;
  }

  private async decide(decision: Decision): Promise<void> {
    this.approval = await this.send("decide", decision);
  }
}
