import { html } from "lit";
import { customElement, property } from "lit/decorators.js";
import "../parts/execution-result";
import { Part } from "../parts/part";

@customElement("execution-page")
export class ExecutionPage extends Part {
  @property() executionId = "";
  override render() {
    return html`<div class="page-head"><h1>Execution</h1></div>
      <execution-result .executionId=${this.executionId}></execution-result>`;
  }
}
