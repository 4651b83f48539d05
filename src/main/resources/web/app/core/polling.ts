import type { ReactiveController, ReactiveControllerHost } from "lit";
import { live } from "./live";
import type { Load } from "./load";

/** Polls a Load while a condition holds, for changes without events. */
export class Polling implements ReactiveController {
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(
    host: ReactiveControllerHost,
    private readonly load: Load<unknown>,
    private readonly goesOn: () => boolean,
    private readonly milliseconds: number,
  ) {
    host.addController(this);
  }

  hostConnected(): void {
    this.timer = setInterval(() => {
      if (!document.hidden && !this.load.loading && live.connection !== "lost" && this.goesOn()) {
        void this.load.again();
      }
    }, this.milliseconds);
  }

  hostDisconnected(): void {
    clearInterval(this.timer);
  }
}
