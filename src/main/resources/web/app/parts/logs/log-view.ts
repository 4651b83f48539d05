import { html, nothing, type PropertyValues } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { requestBlob, type Problem } from "../../core/api";
import { prefer, preference } from "../../core/drafts";
import { asProblem } from "../../core/load";
import { isOutage, Recovery } from "../../core/recovery";
import type { Connection } from "../../core/stream";
import type { LogEntry } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/logs";
import { copyText } from "../page/basics";
import { toast } from "../page/dialogs";
import type { LogEditor, Look } from "./log-editor";
import { LEVELS, LogLines, type LogLine } from "./log-lines";
import { LogReader } from "./log-reader";
import { matchTools } from "./match-tools";
import { problemNotice } from "../page/notices";
import { Part } from "../page/part";
import { saveFile } from "../page/save-file";

/** Pixels. */
const NARROW = 560;

/**
 * The log of an execution or a build, updated live. Follows new lines until the reader scrolls up;
 * searches, filters, copies and downloads.
 */
@customElement("log-view")
export class LogView extends Part {
  /** "executions/exec_…" or "builder-jobs/bjob_…". */
  @property() source = "";
  /** Whether more may come. */
  @property({ type: Boolean }) live = false;
  /** Whether it begins at the end. */
  @property({ type: Boolean }) follow = false;
  /** The number of the entry to mark and show; 0: none. */
  @property({ type: Number }) line = 0;
  @property() label = text.log;
  @state() private status: "reading" | "following" | "complete" = "reading";
  @state() private connection: Connection = "connecting";
  @state() private problem: Problem | null = null;
  @state() private total = 0;
  @state() private shown = 0;
  @state() private sought = "";
  @state() private onlyMatches = false;
  @state() private level = 0;
  @state() private look!: Look;
  private lines = new LogLines();
  private editor: LogEditor | null = null;
  private reading: AbortController | null = null;

  constructor() {
    super();
    this.addEventListener("fullscreenchange", () => this.requestUpdate());
    new Recovery(this, () => isOutage(this.problem) && void this.start());
  }

  override connectedCallback(): void {
    super.connectedCallback();
    // Where a log is narrow, half of it would be times.
    const narrow = this.clientWidth < NARROW;
    this.look ??= preference<Look>("log", { wrap: narrow, times: !narrow });
    if (this.hasUpdated) {
      void this.start();
    }
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.reading?.abort();
    this.editor?.destroy();
    this.editor = null;
  }

  protected override updated(changed: PropertyValues<this>): void {
    if (changed.has("source") && this.source) {
      void this.start();
    } else if (changed.has("line") && this.line && this.total) {
      this.reveal();
    } else if (changed.has("live") && this.live && this.status === "complete") {
      void this.start();
    }
  }

  private async start(): Promise<void> {
    this.reading?.abort();
    const reading = new AbortController();
    this.reading = reading;
    this.lines = new LogLines();
    this.total = 0;
    this.problem = null;
    this.status = "reading";
    try {
      await this.open(reading.signal);
      const reader = new LogReader({
        source: this.source,
        signal: reading.signal,
        onEntries: (entries) => this.add(entries),
        onConnection: (connection) => (this.connection = connection),
      });
      await reader.readPages();
      this.reveal();
      if (this.live) {
        this.status = "following";
        await reader.follow();
      }
      if (!reading.signal.aborted) {
        this.status = "complete";
      }
    } catch (e) {
      if (!reading.signal.aborted) {
        this.problem = asProblem(e);
      }
    }
  }

  private async open(signal: AbortSignal): Promise<void> {
    const { LogEditor } = await import("./log-editor");
    signal.throwIfAborted();
    if (this.editor === null) {
      const host = this.querySelector<HTMLElement>(".log-text")!;
      const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
      const search = () => this.querySelector<HTMLInputElement>("input")?.focus();
      this.editor = new LogEditor(root, this.label, this.look, () => this.requestUpdate(), search);
    }
    this.editor.following = this.follow && !this.line;
    this.show();
  }

  private reveal(): void {
    if (this.line && this.editor?.reveal(this.line)) {
      this.querySelector(".log-text")?.scrollIntoView({ block: "nearest" });
      this.requestUpdate();
    }
  }

  private add(entries: LogEntry[]): void {
    const { lines, extension } = this.lines.add(entries);
    this.total = this.lines.all.length;
    if (this.onlyMatches || this.level) {
      const matching = lines.filter(this.filter());
      this.shown += matching.length;
      this.editor?.append(matching);
    } else {
      this.shown = this.total;
      this.editor?.append(lines, extension);
    }
  }

  /** Shows what the filters leave. */
  private show(): void {
    const matching = this.lines.all.filter(this.filter());
    this.shown = matching.length;
    this.editor?.replace(matching);
    this.editor?.find(this.pattern());
    this.requestUpdate();
  }

  private filter(): (line: LogLine) => boolean {
    const pattern = this.onlyMatches ? this.pattern() : null;
    return (line) => line.severity >= this.level && (pattern === null || line.text.search(pattern) >= 0);
  }

  private pattern(): RegExp | null {
    return this.sought ? new RegExp(this.sought.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), "gi") : null;
  }

  override render() {
    return html`<div class="log-tools row">${this.searchTools()} ${this.viewTools()}</div>
      ${problemNotice(this.problem, () => void this.start())}
      <div class="log-text" ?hidden=${this.total === 0}></div>
      ${this.total === 0 && !this.problem
        ? html`<p class="log-none faint">${this.nothingYet()}</p>`
        : nothing}
      <div class="log-status row small faint">${this.statusLine()}</div>`;
  }

  private nothingYet(): string {
    return this.status === "reading"
      ? common.loading
      : this.status === "following"
        ? text.noOutputYet
        : text.noOutput;
  }

  private searchTools() {
    return html`<span class="row log-search"
        ><input
          type="search"
          aria-label=${text.searchLog}
          placeholder=${text.search}
          .value=${this.sought}
          @input=${(event: Event) => this.search((event.target as HTMLInputElement).value)}
          @keydown=${this.searchKey}
        />${this.sought ? matchTools(this.editor?.found, (direction) => this.step(direction)) : nothing}</span
      ><button
        class="quiet"
        aria-pressed=${this.onlyMatches}
        ?disabled=${!this.sought}
        @click=${() => {
          this.onlyMatches = !this.onlyMatches;
          this.show();
        }}
      >
        ${text.onlyMatches}
      </button>
      <select
        aria-label=${text.level}
        title=${text.levelTitle}
        @change=${(event: Event) => {
          this.level = Number((event.target as HTMLSelectElement).value);
          this.show();
        }}
      >
        ${LEVELS.map(([value, name]) => html`<option value=${value}>${name}</option>`)}
      </select>`;
  }

  private viewTools() {
    const toggle = (title: string, pressed: boolean, click: () => void) =>
      html`<button class="quiet" aria-pressed=${pressed} @click=${click}>${title}</button>`;
    return html`<span class="row log-view-tools"
      >${toggle(text.follow, this.editor?.following ?? this.follow, () => {
        this.editor!.following = !this.editor!.following;
        this.editor!.toEnd();
        this.requestUpdate();
      })}${toggle(text.wrap, this.look.wrap, () => this.change({ wrap: !this.look.wrap }))}${toggle(
        text.times,
        this.look.times,
        () => this.change({ times: !this.look.times }),
      )}${document.fullscreenEnabled ? toggle(text.fullScreen, this.isFull, this.toggleFull) : nothing}<button
        class="quiet"
        aria-label=${text.copyLog}
        ?disabled=${!this.total}
        @click=${this.copy}
      >
        ${text.copy}</button
      ><button class="quiet" aria-label=${text.downloadLog} ?disabled=${!this.total} @click=${this.download}>
        ${text.download}
      </button></span
    >`;
  }

  private statusLine() {
    const lines = this.shown === this.total ? text.lines(this.total) : text.someLines(this.shown, this.total);
    const state =
      this.status === "reading"
        ? text.loading
        : this.status === "complete"
          ? ""
          : this.connection === "lost"
            ? text.connectionLost
            : text.live;
    return html`<span>${lines}</span>${state ? html`<span>${state}</span>` : nothing}`;
  }

  private get isFull(): boolean {
    return document.fullscreenElement === this;
  }

  private readonly toggleFull = (): void =>
    void (this.isFull ? document.exitFullscreen() : this.requestFullscreen());

  private change(look: Partial<Look>): void {
    this.look = { ...this.look, ...look };
    prefer("log", this.look);
    this.editor?.look(this.look);
  }

  private search(text: string): void {
    this.sought = text;
    if (this.onlyMatches) {
      this.onlyMatches = text !== "";
      this.show();
    } else {
      this.editor?.search(this.pattern());
    }
    this.requestUpdate();
  }

  private searchKey(event: KeyboardEvent): void {
    if (event.key === "Enter") {
      event.preventDefault();
      this.step(event.shiftKey ? -1 : 1);
    }
  }

  private step(direction: 1 | -1): void {
    this.editor?.step(direction);
    this.requestUpdate();
  }

  private async copy(): Promise<void> {
    await copyText(this.editor!.text);
    toast(text.copied(this.shown));
  }

  /** The whole log as plain text, as the API gives it: with its colours. */
  private async download(): Promise<void> {
    try {
      const log = await requestBlob(`/${this.source}/logs`, "text/plain");
      saveFile(log, `${this.source.split("/")[1]}.log`);
    } catch (e) {
      toast(asProblem(e).message, { failed: true });
    }
  }
}

declare global {
  interface HTMLElementTagNameMap {
    "log-view": LogView;
  }
}
