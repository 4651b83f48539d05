import { Problem } from "./api";
import { follow, type Connection } from "./stream";
import type { Change } from "./types";

type ChangeListener = (change: Change) => void;

/**
 * All state changes in Roost, for every part of the page. One connection serves all tabs of a browser, since
 * browsers allow only a few per host: the tab that holds the lock reads, and broadcasts to the others.
 */
class Live {
  connection: Connection = "connecting";
  private readonly changes = new Set<ChangeListener>();
  private readonly connections = new Set<() => void>();
  private readonly resyncs = new Set<() => void>();
  private channel: BroadcastChannel | null = null;
  private stopping: AbortController | null = null;

  /** Starts reading; does nothing if it is already started. */
  start(): void {
    if (this.stopping) {
      return;
    }
    const stopping = new AbortController();
    this.stopping = stopping;
    this.channel = new BroadcastChannel("roost-live");
    this.channel.onmessage = (message: MessageEvent<Message>) => this.hear(message.data);
    this.channel.postMessage({ question: true } satisfies Message);
    if ("locks" in navigator) {
      // Granted when the tab that has it is closed.
      navigator.locks
        .request("roost-live", { signal: stopping.signal }, () => this.read(stopping.signal))
        .catch(() => undefined);
    } else {
      void this.read(stopping.signal);
    }
  }

  stop(): void {
    this.stopping?.abort();
    this.channel?.close();
    this.stopping = null;
    this.channel = null;
  }

  /** Calls the listener for each change; returns a function that unsubscribes. */
  onChange(listener: ChangeListener): () => void {
    this.changes.add(listener);
    return () => this.changes.delete(listener);
  }

  onConnection(listener: () => void): () => void {
    this.connections.add(listener);
    return () => this.connections.delete(listener);
  }

  /** Calls the listener when changes may have been missed and data has to be read again. */
  onResync(listener: () => void): () => void {
    this.resyncs.add(listener);
    return () => this.resyncs.delete(listener);
  }

  private async read(signal: AbortSignal): Promise<void> {
    // The tab that read before may have missed changes.
    this.broadcast({ resync: true });
    while (!signal.aborted) {
      try {
        await follow("/events", {
          signal,
          onEvent: (event) => this.broadcast({ change: JSON.parse(event.data) as Change }),
          onConnection: (connection) => this.broadcast({ connection }),
        });
      } catch (e) {
        if (e instanceof Problem && (e.status === 401 || e.status === 403)) {
          return;
        }
        // 410: offline for longer than events are kept.
        this.broadcast({ resync: true });
      }
    }
  }

  private broadcast(message: Message): void {
    this.channel?.postMessage(message);
    this.hear(message, true);
  }

  private hear(message: Message, reading = false): void {
    if (message.question && this.connection !== "connecting") {
      this.channel?.postMessage({ connection: this.connection } satisfies Message);
    }
    if (message.change) {
      const change = message.change;
      this.changes.forEach((listener) => listener(change));
    }
    if (message.resync) {
      this.resyncs.forEach((listener) => listener());
    }
    if (message.connection && message.connection !== this.connection) {
      const wasLost = this.connection === "lost";
      this.connection = message.connection;
      this.connections.forEach((listener) => listener());
      if (wasLost && message.connection === "open" && !reading) {
        this.resyncs.forEach((listener) => listener());
      }
    }
  }
}

interface Message {
  change?: Change;
  connection?: Connection;
  resync?: boolean;
  question?: boolean;
}

export const live = new Live();
