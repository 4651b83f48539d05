import type { ReactiveController, ReactiveControllerHost } from "lit";
import { text } from "../text/core";
import { Problem, get, type Query } from "./api";
import { live } from "./live";
import type { Change, Page } from "./types";

const SETTLE = 150;
/** Milliseconds until a request that failed for a transient reason is sent again. */
const RETRY = 5_000;
/** Under a constant stream of changes, reading takes at most this fraction of the time. */
const SHARE = 4;

/** Whether a change concerns what a Load shows; types as in "execution.*". */
export type Concerns = (change: Change) => boolean;

export const typed =
  (...prefixes: string[]): Concerns =>
  (change) =>
    prefixes.some((prefix) => change.type.startsWith(prefix + "."));

/**
 * Reads data for a page, and again when a change concerns it, when the connection is restored, and on
 * request. The previous value stays visible in the meantime. Outdated responses are dropped.
 */
export class Load<T> implements ReactiveController {
  value: T | undefined;
  problem: Problem | null = null;
  loading = false;
  private request: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  /** A change arrived while reading. */
  private stale = false;
  private lasted = 0;
  private readonly ends: (() => void)[] = [];

  constructor(
    private readonly host: ReactiveControllerHost,
    private readonly read: (signal: AbortSignal) => Promise<T>,
    private readonly concerns: Concerns = () => false,
    /** Whether it is to be read at all now. */
    private readonly wanted: () => boolean = () => true,
  ) {
    host.addController(this);
  }

  hostConnected(): void {
    this.ends.push(
      live.onChange((change) => this.concerns(change) && this.soon()),
      live.onResync(() => this.soon()),
      live.onConnection(() => this.problem && live.connection === "open" && this.soon()),
    );
    if (this.wanted()) {
      void this.again();
    }
  }

  hostDisconnected(): void {
    this.ends.splice(0).forEach((end) => end());
    clearTimeout(this.timer);
    this.timer = undefined;
    this.request?.abort();
  }

  /** Reads again now; `forget` drops the value, for another resource. */
  async again(forget = false): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.request?.abort();
    const request = new AbortController();
    this.request = request;
    this.loading = true;
    this.stale = false;
    const began = performance.now();
    if (forget) {
      this.value = undefined;
      this.problem = null;
    }
    this.host.requestUpdate();
    try {
      this.value = await this.read(request.signal);
      this.problem = null;
    } catch (e) {
      if (request.signal.aborted) {
        return;
      }
      this.problem = asProblem(e);
    }
    if (this.request === request) {
      this.loading = false;
      this.lasted = performance.now() - began;
      this.host.requestUpdate();
      if (this.stale) {
        this.soon();
      } else if (this.problem?.isTransient) {
        this.timer ??= setTimeout(() => void this.again(), RETRY);
      }
    }
  }

  /**
   * Reads again after a delay: many changes at once cost one request, and a constant stream of changes does
   * not overlap requests.
   */
  private soon(): void {
    if (!this.wanted()) {
      return;
    }
    if (this.loading) {
      this.stale = true;
    } else {
      if (this.problem) {
        clearTimeout(this.timer); // Sooner than the retry.
        this.timer = undefined;
      }
      this.timer ??= setTimeout(() => void this.again(), Math.max(SETTLE, this.lasted * SHARE));
    }
  }
}

/** A paged list; reads again as many rows as are shown. */
export class PagedLoad<T> extends Load<Page<T>> {
  /** @param rowLimit how many rows are shown at first */
  constructor(
    host: ReactiveControllerHost,
    path: () => string,
    query: () => Query,
    concerns: Concerns,
    wanted?: () => boolean,
    private rowLimit = 50,
  ) {
    super(host, (signal) => this.readPages(path(), query(), signal), concerns, wanted);
  }

  more(): void {
    void this.upTo(this.rowLimit + 50);
  }

  /** Shows at least so many rows, if there are. */
  upTo(rows: number): Promise<void> {
    this.rowLimit = Math.max(this.rowLimit, rows);
    return this.again();
  }

  private async readPages(path: string, query: Query, signal: AbortSignal): Promise<Page<T>> {
    const data: T[] = [];
    let cursor: string | null = null;
    do {
      const limit = Math.min(200, this.rowLimit - data.length);
      const page: Page<T> = await get<Page<T>>(path, { ...query, limit, cursor }, signal);
      data.push(...page.data);
      cursor = page.next_cursor;
    } while (cursor !== null && data.length < this.rowLimit);
    return { data, next_cursor: cursor };
  }
}

export function asProblem(e: unknown): Problem {
  if (e instanceof Problem) {
    return e;
  }
  if (e instanceof TypeError && /dynamically imported module|module script/i.test(e.message)) {
    return new Problem(0, "not_loaded", text.notLoaded, text.reload);
  }
  console.error(e);
  return new Problem(0, "dashboard", text.pageFailed, text.pageFailedWith(String(e)));
}
