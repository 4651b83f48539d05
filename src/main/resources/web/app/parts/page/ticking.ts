import { html } from "lit";
import { customElement, property } from "lit/decorators.js";
import { duration } from "../../core/format";
import { text } from "../../text/core";
import { Clock } from "./clock";
import { Part } from "./part";

/** A duration that counts while it is shown. */
@customElement("ticking-duration")
export class TickingDuration extends Part {
  /** Time at which it began. */
  @property() from = "";
  private readonly clock = new Clock(this);

  override render() {
    const seconds = Math.max(0, (this.clock.now - Date.parse(this.from)) / 1000);
    return html`<span class="number"
      >${seconds < 100 ? text.seconds(String(Math.floor(seconds))) : duration(seconds)}</span
    >`;
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "ticking-duration": TickingDuration;
  }
}
