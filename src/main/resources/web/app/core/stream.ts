import { Problem, problemOf, url, type Query } from "./api";
import { fetchSigned } from "./page-token";
import { pause } from "./pause";

export interface StreamEvent {
  id: string | null;
  type: string;
  data: string;
}

export type Connection = "connecting" | "open" | "lost";

export interface Following {
  query?: Query;
  lastEventId?: string;
  signal: AbortSignal;
  onEvent(event: StreamEvent): void;
  /** Called on each change; "lost" repeats while Roost can't be reached. */
  onConnection?(connection: Connection): void;
}

const FIRST_DELAY = 500;
const LONGEST_DELAY = 10_000;
/** The server sends data at least every 15 s; silence means that the connection is dead. */
const SILENCE = 40_000;

/**
 * Reads a stream of server-sent events and resumes after a lost connection. Ends when the signal aborts, when
 * the server sends an event of the type "end" (which is passed on), or with a Problem that a retry can't fix
 * (4xx).
 */
export async function follow(path: string, following: Following): Promise<void> {
  const { signal } = following;
  let lastEventId = following.lastEventId;
  let delay = FIRST_DELAY;
  following.onConnection?.("connecting");
  while (!signal.aborted) {
    try {
      const ended = await readOnce(path, following, lastEventId, (event) => {
        lastEventId = event.id ?? lastEventId;
        delay = FIRST_DELAY;
      });
      if (ended) {
        return;
      }
    } catch (e) {
      if (signal.aborted) {
        return;
      }
      if (e instanceof Problem && e.status >= 400 && e.status < 500 && e.status !== 429) {
        throw e;
      }
    }
    if (!signal.aborted) {
      following.onConnection?.("lost");
      await pause(delay * (0.75 + Math.random() / 2), signal);
      delay = Math.min(delay * 2, LONGEST_DELAY);
    }
  }
}

async function readOnce(
  path: string,
  { query, signal, onEvent, onConnection }: Following,
  lastEventId: string | undefined,
  seen: (event: StreamEvent) => void,
): Promise<boolean> {
  const attempt = new AbortController();
  const stop = () => attempt.abort();
  signal.addEventListener("abort", stop, { once: true });
  let silence = setTimeout(stop, SILENCE);
  try {
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (lastEventId !== undefined) {
      headers["Last-Event-ID"] = lastEventId;
    }
    const response = await fetchSigned(url(path, query), {
      headers,
      signal: attempt.signal,
      cache: "no-store",
    });
    if (!response.ok || response.body === null) {
      throw await problemOf(response, path);
    }
    onConnection?.("open");
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const parser = new Parser();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return false;
      }
      clearTimeout(silence);
      silence = setTimeout(stop, SILENCE);
      for (const event of parser.push(value)) {
        seen(event);
        if (event.data !== "") {
          onEvent(event);
        }
        if (event.type === "end") {
          return true;
        }
      }
    }
  } finally {
    clearTimeout(silence);
    signal.removeEventListener("abort", stop);
    attempt.abort();
  }
}

/** The event stream format of the HTML standard, as far as a server sends it. */
class Parser {
  private rest = "";
  private id: string | null = null;
  private type = "";
  private data: string[] = [];

  push(text: string): StreamEvent[] {
    const events: StreamEvent[] = [];
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop()!;
    for (const line of lines) {
      if (line === "") {
        if (this.id !== null || this.data.length) {
          events.push({ id: this.id, type: this.type || "message", data: this.data.join("\n") });
        }
        [this.id, this.type, this.data] = [null, "", []];
        continue;
      }
      const colon = line.indexOf(":");
      const name = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (name === "id") {
        this.id = value;
      } else if (name === "event") {
        this.type = value;
      } else if (name === "data") {
        this.data.push(value);
      }
    }
    return events;
  }
}
