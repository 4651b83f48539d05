import { get } from "../../core/api";
import { follow, type Connection } from "../../core/stream";
import type { LogEntry, Page } from "../../core/types";

/** For how long entries of a stream are gathered before they are shown, in milliseconds. */
const GATHER = 50;
const PAGE = 1000;

export interface Reading {
  /** "executions/exec_…" or "builder-jobs/bjob_…". */
  source: string;
  signal: AbortSignal;
  onEntries(entries: LogEntry[]): void;
  onConnection(connection: Connection): void;
}

/** Reads a log: first the existing entries by page, then new ones as they arrive. */
export class LogReader {
  private last = 0;
  private ended = false;

  constructor(private readonly reading: Reading) {}

  /** Reads what there is. */
  async readPages(): Promise<void> {
    const { source, signal, onEntries } = this.reading;
    for (;;) {
      const query = { limit: PAGE, after_seq: this.last };
      const page = await get<Page<LogEntry>>(`/${source}/logs`, query, signal);
      this.last = page.data.at(-1)?.seq ?? this.last;
      onEntries(page.data);
      if (page.next_cursor === null) {
        return;
      }
    }
  }

  /** Follows until the log is complete. Pauses while the tab is hidden. */
  async follow(): Promise<void> {
    while (!this.ended && !this.reading.signal.aborted) {
      await visible(this.reading.signal);
      const hidden = new AbortController();
      const hide = () => document.hidden && hidden.abort();
      document.addEventListener("visibilitychange", hide);
      try {
        await this.followWhile(AbortSignal.any([this.reading.signal, hidden.signal]));
      } finally {
        document.removeEventListener("visibilitychange", hide);
      }
    }
  }

  private async followWhile(signal: AbortSignal): Promise<void> {
    const gathered: LogEntry[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const flush = () => {
      clearTimeout(timer);
      timer = undefined;
      if (gathered.length && !this.reading.signal.aborted) {
        this.reading.onEntries(gathered.splice(0));
      }
    };
    try {
      await follow(`/${this.reading.source}/logs`, {
        signal,
        lastEventId: String(this.last),
        onConnection: this.reading.onConnection,
        onEvent: ({ type, data }) => {
          if (type === "end") {
            this.ended = true;
          } else if (type === "log") {
            const entry = JSON.parse(data) as LogEntry;
            gathered.push(entry);
            this.last = entry.seq;
            timer ??= setTimeout(flush, GATHER);
          }
        },
      });
    } finally {
      flush();
    }
  }
}

function visible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!document.hidden || signal.aborted) {
        document.removeEventListener("visibilitychange", look);
        resolve();
      }
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look, { once: true });
    look();
  });
}
