import { selectAll } from "@codemirror/commands";
import { Compartment, EditorState, StateEffect, type Range } from "@codemirror/state";
import {
  Decoration,
  EditorView,
  GutterMarker,
  ViewPlugin,
  gutter,
  keymap,
  type DecorationSet,
  type ViewUpdate,
} from "@codemirror/view";
import type { LogLine } from "./log-lines";
import { logTheme } from "./log-theme";

/** How the reader wants the lines. */
export interface Look {
  wrap: boolean;
  times: boolean;
}

const redraw = StateEffect.define<null>();

/**
 * Shows lines of a log, of which only those in view are drawn. Its styles need a shadow root, since
 * the content security policy forbids style elements.
 */
export class LogEditor {
  /** Whether new lines are scrolled into view. */
  following = false;
  private lines: LogLine[] = [];
  private pattern: RegExp | null = null;
  private matches: number[] = [];
  private current = -1;
  /** The line that an address points to. */
  private marked: LogLine | null = null;
  /** The position in the text from which a search that is being typed goes on; null: none is. */
  private searchedFrom: number | null = null;
  private readonly wrapping = new Compartment();
  private readonly times = new Compartment();
  private readonly view: EditorView;
  private scrolled = 0;

  /**
   * @param onFollowing called when the reader scrolls away from the end, or back to it
   * @param onSearch called to focus the search field
   */
  constructor(root: ShadowRoot, label: string, look: Look, onFollowing: () => void, onSearch: () => void) {
    const search = () => {
      onSearch();
      return true;
    };
    this.view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        extensions: [
          EditorState.readOnly.of(true),
          EditorView.editable.of(false),
          EditorView.contentAttributes.of({ tabindex: "0", "aria-label": label }),
          keymap.of([
            { key: "Mod-a", run: selectAll },
            { key: "Mod-f", run: search },
          ]),
          logTheme,
          this.wrapping.of(look.wrap ? EditorView.lineWrapping : []),
          this.times.of(look.times ? this.timeGutter() : []),
          this.drawing(),
        ],
      }),
    });
    this.view.scrollDOM.addEventListener("scroll", () => this.scrolling(onFollowing), { passive: true });
  }

  /** Shows other lines. */
  replace(lines: LogLine[]): void {
    this.lines = [...lines];
    const insert = lines.map((line) => line.text).join("\n");
    this.view.dispatch({ changes: { from: 0, to: this.view.state.doc.length, insert } });
    this.find(this.pattern);
    this.toEnd();
  }

  /** Adds lines at the end; `extension` belongs to the line that was the last. */
  append(lines: readonly LogLine[], extension = ""): void {
    const { doc } = this.view.state;
    let insert = extension;
    let start = doc.length + insert.length;
    for (const line of lines) {
      const separator = this.lines.length ? "\n" : "";
      this.lines.push(line);
      insert += separator + line.text;
      start += separator.length;
      this.gather(line.text, start);
      start += line.text.length;
    }
    this.view.dispatch({ changes: { from: doc.length, insert } });
    this.toEnd();
  }

  look({ wrap, times }: Look): void {
    this.view.dispatch({
      effects: [
        this.wrapping.reconfigure(wrap ? EditorView.lineWrapping : []),
        this.times.reconfigure(times ? this.timeGutter() : []),
      ],
    });
    this.toEnd();
  }

  /** Marks all matches; returns their number. */
  find(pattern: RegExp | null): number {
    this.pattern = pattern;
    this.matches = [];
    this.current = -1;
    let start = 0;
    for (const line of pattern ? this.lines : []) {
      this.gather(line.text, start);
      start += line.text.length + 1;
    }
    this.view.dispatch({ effects: redraw.of(null) });
    return this.matches.length;
  }

  /** Marks all matches of a search as it is typed, and goes to the first from where the reader was. */
  search(pattern: RegExp | null): void {
    this.searchedFrom ??= this.top();
    const from = this.searchedFrom;
    if (this.find(pattern)) {
      const next = this.matches.findIndex((at) => at >= from);
      this.goTo(Math.max(next, 0));
    } else if (pattern === null) {
      this.searchedFrom = null;
    }
  }

  /** Marks the line of an entry and shows it in the middle of the log; false if it isn't there. */
  reveal(seq: number): boolean {
    // The end of a long line is part of the line before it.
    const index = this.lines.findLastIndex((line) => line.first && line.seq <= seq);
    if (index < 0) {
      return false;
    }
    this.marked = this.lines[index]!;
    this.following = false;
    const at = this.view.state.doc.line(index + 1).from;
    this.view.dispatch({
      effects: [redraw.of(null), EditorView.scrollIntoView(at, { y: "center" })],
    });
    return true;
  }

  get found(): { count: number; current: number } {
    return { count: this.matches.length, current: this.current };
  }

  /** Goes to the next match (1) or the one before (-1), beginning at what is in view. */
  step(direction: 1 | -1): void {
    const { length } = this.matches;
    if (!length) {
      return;
    }
    if (this.current < 0) {
      const next = this.matches.findIndex((at) => at >= this.top());
      this.goTo(direction === 1 ? Math.max(next, 0) : ((next < 0 ? length : next) - 1 + length) % length);
    } else {
      this.goTo((this.current + direction + length) % length);
    }
    this.searchedFrom = this.matches[this.current]!;
  }

  /** Everything that is shown, as text. */
  get text(): string {
    return this.lines.map((line) => line.text + "\n").join("");
  }

  /** Scrolls to the end and stays there, if that is wanted. */
  toEnd(): void {
    if (this.following) {
      this.view.requestMeasure({
        key: this,
        read: (view) => view.scrollDOM.scrollHeight,
        write: (height, view) => (view.scrollDOM.scrollTop = height),
      });
    }
  }

  destroy(): void {
    this.view.destroy();
  }

  private scrolling(onFollowing: () => void): void {
    const { scrollTop, scrollHeight, clientHeight } = this.view.scrollDOM;
    const before = this.following;
    if (scrollTop + clientHeight >= scrollHeight - 24) {
      this.following = this.following || scrollTop > this.scrolled;
    } else if (scrollTop < this.scrolled - 2) {
      this.following = false;
    }
    this.scrolled = scrollTop;
    if (before !== this.following) {
      onFollowing();
    }
  }

  /** The position of the first line in view. */
  private top(): number {
    return this.view.lineBlockAtHeight(this.view.scrollDOM.scrollTop).from;
  }

  /** Shows a match in the middle of the log; the page moves only if the match were out of sight. */
  private goTo(match: number): void {
    this.current = match;
    this.following = false;
    const at = this.matches[match]!;
    const { top, bottom } = this.view.lineBlockAt(at);
    const { scrollDOM } = this.view;
    scrollDOM.scrollTop = (top + bottom - scrollDOM.clientHeight) / 2;
    this.view.dispatch({ effects: [redraw.of(null), EditorView.scrollIntoView(at)] });
  }

  private gather(text: string, start: number): void {
    for (const match of this.pattern ? text.matchAll(this.pattern) : []) {
      this.matches.push(start + match.index);
    }
  }

  private timeGutter() {
    return gutter({
      class: "log-times",
      lineMarker: (view, block) => {
        const line = this.lines[view.state.doc.lineAt(block.from).number - 1];
        return line?.first ? new TimeMarker(line.time) : null;
      },
      initialSpacer: () => new TimeMarker("2000-01-01T00:00:00Z"),
    });
  }

  private drawing() {
    const decorate = (view: EditorView) => this.decorate(view);
    return ViewPlugin.fromClass(
      class {
        decorations: DecorationSet;

        constructor(view: EditorView) {
          this.decorations = decorate(view);
        }

        update(update: ViewUpdate): void {
          const redraws = update.transactions.some((t) => t.effects.some((effect) => effect.is(redraw)));
          if (redraws || update.docChanged || update.viewportChanged) {
            this.decorations = decorate(update.view);
          }
        }
      },
      { decorations: (plugin) => plugin.decorations },
    );
  }

  private decorate(view: EditorView): DecorationSet {
    const drawn: Range<Decoration>[] = [];
    for (const { from, to } of view.visibleRanges) {
      for (let at = from; at <= to; ) {
        const { number, from: start, to: end } = view.state.doc.lineAt(at);
        const line = this.lines[number - 1];
        if (line) {
          this.decorateLine(line, start, from, to, drawn);
        }
        at = end + 1;
      }
    }
    return Decoration.set(drawn, true);
  }

  private decorateLine(line: LogLine, start: number, from: number, to: number, drawn: Range<Decoration>[]) {
    if (line.kind !== "info" && start >= from) {
      drawn.push(Decoration.line({ class: `log-${line.kind}` }).range(start));
    }
    if (line === this.marked && start >= from) {
      drawn.push(
        Decoration.line({ class: "log-marked", attributes: { "aria-current": "true" } }).range(start),
      );
    }
    for (const span of line.spans) {
      if (start + span.to >= from && start + span.from <= to) {
        drawn.push(Decoration.mark({ class: span.style }).range(start + span.from, start + span.to));
      }
    }
    if (this.pattern) {
      const begin = Math.max(0, from - start - 200);
      const piece = line.text.slice(begin, to - start + 200);
      for (const match of piece.matchAll(this.pattern)) {
        const at = start + begin + match.index;
        const isCurrent = this.matches[this.current] === at;
        const name = isCurrent ? "log-match log-match-current" : "log-match";
        drawn.push(Decoration.mark({ class: name }).range(at, at + match[0].length));
      }
    }
  }
}

const clock = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
});

class TimeMarker extends GutterMarker {
  constructor(private readonly time: string) {
    super();
  }

  override eq(other: TimeMarker): boolean {
    return this.time === other.time;
  }

  override toDOM(): Node {
    const element = document.createElement("span");
    element.textContent = clock.format(new Date(this.time));
    element.title = this.time;
    return element;
  }
}
