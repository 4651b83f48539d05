import { svg, type SVGTemplateResult } from "lit";

const circle = svg`<circle cx="8" cy="8" r="6.25"></circle>`;

/** What shape a state has besides its colour and its word; drawn, since fonts lack some of them. */
const SHAPES: Record<string, SVGTemplateResult> = {
  queued: svg`<circle cx="8" cy="8" r="6.25" stroke-dasharray="2.6 2.3"></circle>`,
  starting: svg`${circle}<path d="M8 1.75a6.25 6.25 0 0 1 0 12.5z" fill="currentColor"></path>`,
  running: svg`<circle cx="8" cy="8" r="5" fill="currentColor"></circle>`,
  succeeded: svg`<path d="M2.5 8.5 6.5 12.5 13.5 4"></path>`,
  failed: svg`<path d="M3.5 3.5l9 9M12.5 3.5l-9 9"></path>`,
  timed_out: svg`${circle}<path d="M8 4.25V8l2.75 1.75"></path>`,
  cancelled: svg`${circle}<path d="M3.6 12.4l8.8-8.8"></path>`,
  lost: svg`<path d="M4.75 5.25a3.25 3.25 0 1 1 4.6 2.95C8.4 8.65 8 9.2 8 10.5M8 13.25v.5"></path>`,
  paused: svg`<path d="M5 3v10M11 3v10"></path>`,
};

const ALIKE: Record<string, string> = { active: "succeeded", pending: "queued", disabled: "paused" };

export const shapeOf = (state: string): SVGTemplateResult =>
  svg`<svg class="shape" viewBox="0 0 16 16" aria-hidden="true">${SHAPES[ALIKE[state] ?? state] ?? circle}</svg>`;

const COPY = svg`<rect x="5.5" y="5.5" width="8" height="8" rx="1.5"></rect>
  <path d="M10.5 3.5v-.5A.5.5 0 0 0 10 2.5H3a.5.5 0 0 0-.5.5v7a.5.5 0 0 0 .5.5h.5"></path>`;

/** The symbol of a button that copies, or has just done it. */
export const copySymbol = (done: boolean): SVGTemplateResult =>
  svg`<svg class="shape" viewBox="0 0 16 16" aria-hidden="true">${done ? SHAPES.succeeded : COPY}</svg>`;
