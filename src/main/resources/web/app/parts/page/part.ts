import { LitElement } from "lit";

/**
 * The base of all parts and pages: an element without a shadow root, so that the page's styles apply and
 * labels find their controls.
 */
export class Part extends LitElement {
  protected override createRenderRoot(): HTMLElement {
    return this;
  }
}
