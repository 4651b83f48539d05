import type { ReactiveController, ReactiveControllerHost } from "lit";

/** Milliseconds between two ticks. */
const TICK = 1000;

const hosts = new Set<ReactiveControllerHost>();
let timer: ReturnType<typeof setInterval> | undefined;
let now = Date.now();

function tick(): void {
  now = Date.now();
  hosts.forEach((host) => host.requestUpdate());
}

/**
 * The time for what a page shows as relative to now. All hosts get the same time at the same moment, so that
 * "38 s" never is beside "started 31s ago".
 */
export class Clock implements ReactiveController {
  constructor(private readonly host: ReactiveControllerHost) {
    host.addController(this);
  }

  /** Milliseconds. */
  get now(): number {
    return now;
  }

  hostConnected(): void {
    if (hosts.size === 0) {
      now = Date.now();
      timer = setInterval(tick, TICK);
    }
    hosts.add(this.host);
  }

  hostDisconnected(): void {
    hosts.delete(this.host);
    if (hosts.size === 0) {
      clearInterval(timer);
    }
  }
}
