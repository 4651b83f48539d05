import { LitElement } from "lit";

/**
 * What every part and page of the dashboard is: an element without a shadow, so that the styles of
 * the whole page apply and labels find their controls.
 */
export class Part extends LitElement {
  protected override createRenderRoot(): HTMLElement {
    return this;
  }
}
