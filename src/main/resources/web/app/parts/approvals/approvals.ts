import { html, nothing } from "lit";
import { customElement } from "lit/decorators.js";
import { get } from "../../core/api";
import { Load, typed } from "../../core/load";
import { text } from "../../text/parts/approvals";
import { Part } from "../page/part";

/** The number of pending approvals, in the navigation. */
@customElement("approval-count")
export class ApprovalCount extends Part {
  private readonly counts = new Load<{ pending: number }>(
    this,
    (signal) => get<{ pending: number }>("/approvals/counts", {}, signal),
    typed("approval"),
  );

  override render(): unknown {
    const pending = this.counts.value?.pending ?? 0;
    return pending ? html`<span class="number">${text.pending(pending)}</span>` : nothing;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "approval-count": ApprovalCount;
  }
}
