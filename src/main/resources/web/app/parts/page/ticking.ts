import { html } from "lit";
import { customElement, property } from "lit/decorators.js";
import { between, duration } from "../../core/format";
import { Part } from "./part";

/** A duration that counts while it is shown. */
@customElement("ticking-duration")
export class TickingDuration extends Part {
  /** Time at which it began. */
  @property() from = "";
  private timer: ReturnType<typeof setInterval> | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.timer = setInterval(() => this.requestUpdate(), 1000);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearInterval(this.timer);
  }

  override render() {
    const seconds = Math.max(0, between(this.from, null));
    return html`<span class="number"
      >${seconds < 100 ? `${Math.floor(seconds)} s` : duration(seconds)}</span
    >`;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "ticking-duration": TickingDuration;
  }
}
