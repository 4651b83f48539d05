import { svg, type SVGTemplateResult } from "lit";

const circle = svg`<circle cx="8" cy="8" r="6.25"></circle>`;

/** The shape of a state, besides its colour and word; drawn, since fonts lack some of them. */
const SHAPES: Record<string, SVGTemplateResult> = {
  queued: svg`<circle cx="8" cy="8" r="6.25" stroke-dasharray="2.6 2.3"></circle>`,
  starting: svg`${circle}<path d="M8 1.75a6.25 6.25 0 0 1 0 12.5z" fill="currentColor"></path>`,
  running: svg`<circle cx="8" cy="8" r="5" fill="currentColor"></circle>`,
  succeeded: svg`<path d="M2.5 8.5 6.5 12.5 13.5 4"></path>`,
  failed: svg`<path d="M3.5 3.5l9 9M12.5 3.5l-9 9"></path>`,
  timed_out: svg`${circle}<path d="M8 4.25V8l2.75 1.75"></path>`,
  cancelled: svg`${circle}<path d="M3.6 12.4l8.8-8.8"></path>`,
  lost: svg`<path d="M4.75 5.25a3.25 3.25 0 1 1 4.6 2.95C8.4 8.65 8 9.2 8 10.5M8 13.25v.5"></path>`,
  open: svg`${circle}<circle cx="8" cy="8" r="1.5" fill="currentColor"></circle>`,
  paused: svg`<path d="M5 3v10M11 3v10"></path>`,
};

const ALIKE: Record<string, string> = {
  active: "succeeded",
  pending: "queued",
  waiting: "queued",
  suspended: "paused",
  disabled: "paused",
  building: "running",
  updated: "succeeded",
  completed: "succeeded",
  skipped: "cancelled",
  undone: "cancelled",
  resolved: "succeeded",
  muted: "paused",
  approved: "succeeded",
  rejected: "failed",
  expired: "timed_out",
};

export const shapeOf = (state: string): SVGTemplateResult =>
  svg`<svg class="shape" viewBox="0 0 16 16" aria-hidden="true">${SHAPES[ALIKE[state] ?? state] ?? circle}</svg>`;

const SYMBOLS = {
  copy: svg`<rect x="5.5" y="5.5" width="8" height="8" rx="1.5"></rect>
    <path d="M10.5 3.5v-.5A.5.5 0 0 0 10 2.5H3a.5.5 0 0 0-.5.5v7a.5.5 0 0 0 .5.5h.5"></path>`,
  done: SHAPES.succeeded,
  close: SHAPES.failed,
  menu: svg`<path d="M2 3.5h12M2 8h12M2 12.5h12"></path>`,
  edit: svg`<path d="M10.5 3 13 5.5 5.5 13H3v-2.5z"></path>`,
  warning: svg`<path d="M8 2 14.5 13.5h-13zM8 6.5v3M8 11.5v.1"></path>`,
  folded: svg`<path d="m6 3.5 4.5 4.5L6 12.5"></path>`,
  unfolded: svg`<path d="M3.5 6 8 10.5 12.5 6"></path>`,
};

/** A symbol of a control; the control has its words. */
export const symbol = (name: keyof typeof SYMBOLS): SVGTemplateResult =>
  svg`<svg class="shape" viewBox="0 0 16 16" aria-hidden="true">${SYMBOLS[name]}</svg>`;
