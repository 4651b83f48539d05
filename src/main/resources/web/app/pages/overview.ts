import { html } from "lit";
import { customElement } from "lit/decorators.js";
import { Part } from "../parts/part";

@customElement("overview-page")
export class Page extends Part {
  override render() {
    return html`<h1>overview</h1>`;
  }
}
