import { html, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { ago, at, shortId, words } from "../../core/format";
import { text } from "../../text/parts/page";
import { Clock } from "./clock";
import { Part } from "./part";
import { shapeOf, symbol } from "./shapes";

/** Small elements used everywhere: states, times, IDs. */

/** A state by colour, shape and word. */
export function stateBadge(state: string, word = words(state)): TemplateResult {
  return html`<span class="state ${state}">${shapeOf(state)}${word}</span>`;
}

/** "3 min. ago", kept up to date, with the absolute time on hover. */
@customElement("time-ago")
export class TimeAgo extends Part {
  @property() time = "";
  private readonly clock = new Clock(this);

  override render() {
    return html`<time datetime=${this.time} title=${at(this.time)}>${ago(this.time, this.clock.now)}</time>`;
  }
}

export const timeAgo = (time: string | null | undefined, otherwise = "–"): TemplateResult =>
  time ? html`<time-ago .time=${time}></time-ago>` : html`<span class="faint">${otherwise}</span>`;

/** A button that copies a text. */
@customElement("copy-button")
export class CopyButton extends Part {
  @property() text = "";
  @property() label = text.copying.copy;
  /** A word beside the symbol; none: the symbol alone. */
  @property() word = "";
  @state() private copied = false;

  override render() {
    return html`<button
      type="button"
      class="quiet ${this.word ? "" : "icon"}"
      aria-label=${this.copied ? text.copying.copied : this.label}
      title=${this.label}
      @click=${this.copy}
    >
      ${symbol(this.copied ? "done" : "copy")}${this.word || nothing}
    </button>`;
  }

  private async copy(event: Event): Promise<void> {
    event.preventDefault();
    await copyText(this.text);
    this.copied = true;
    setTimeout(() => (this.copied = false), 1500);
  }
}

/** Also works without the clipboard API: on pages without TLS. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) {
    return navigator.clipboard.writeText(text);
  }
  const area = document.createElement("textarea");
  area.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

/** A short ID, with a link to its page, if any, and a button that copies the full ID. */
export const idLink = (id: string, href?: string): TemplateResult =>
  html`<span class="copy-id"
    >${href
      ? html`<a class="mono" href=${href} title=${id}>${shortId(id)}</a>`
      : html`<span class="mono" title=${id}>${shortId(id)}</span>`}<copy-button
      .text=${id}
      label=${text.copying.copyId(id)}
    ></copy-button
  ></span>`;

declare global {
  interface HTMLElementTagNameMap {
    "time-ago": TimeAgo;
    "copy-button": CopyButton;
  }
}
