import type { ReactiveController, ReactiveControllerHost } from "lit";
import type { Problem } from "./api";
import { live } from "./live";

/** Whether the problem is over when Roost can be reached again. */
export const isOutage = (problem: Problem | null): boolean => problem?.status === 0;

/** Calls back each time when Roost can be reached again. */
export class Recovery implements ReactiveController {
  private end: (() => void) | undefined;

  constructor(
    host: ReactiveControllerHost,
    private readonly recovered: () => void,
  ) {
    host.addController(this);
  }

  hostConnected(): void {
    this.end = live.onConnection(() => live.connection === "open" && this.recovered());
  }

  hostDisconnected(): void {
    this.end?.();
  }
}
