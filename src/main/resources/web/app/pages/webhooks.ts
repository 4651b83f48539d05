import { html } from "lit";
import { customElement } from "lit/decorators.js";
import { Part } from "../parts/part";

@customElement("webhooks-page")
export class Page extends Part {
  override render() {
    return html`<h1>webhooks</h1>`;
  }
}
