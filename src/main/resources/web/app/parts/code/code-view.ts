import { closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentLess, indentMore } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import {
  Annotation,
  Compartment,
  EditorState,
  Prec,
  StateEffect,
  StateField,
  type Extension,
  type Text,
} from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  placeholder,
  rectangularSelection,
  type KeyBinding,
} from "@codemirror/view";
import type { CodeEditor } from "./code-editor";
import { colours, look } from "./code-theme";
import { checkJson } from "./json-checks";
import type { Edit, Fix, Mark } from "./marks";
import { maskedValues } from "./masked-values";
import { checkPython } from "./python-checks";
import type { PythonTools } from "./python-tools";

const SETTLE = 400;

export type Shortcut = "run" | "save" | "format";

/** Callbacks to the element that holds the view. */
export interface CodeViewListener {
  changed(value: string): void;
  remarked(remarks: readonly Mark[]): void;
  /** Whether the shortcut was taken. */
  pressed(name: Shortcut): boolean;
  /** A fix was chosen that isn't one of this text. */
  fixed(fix: Fix): void;
  /** Tab has indented, or goes to the next control again. */
  indented(indented: boolean): void;
}

type Settings = Pick<
  CodeEditor,
  "value" | "language" | "label" | "placeholder" | "readonly" | "masked" | "autoHeight" | "python"
>;

/** The text was set by the page, not typed. */
const fromOutside = Annotation.define<boolean>();
const setMarks = StateEffect.define<readonly Diagnostic[]>();

/** Remarks from outside; they move with the text that they are about. */
const outerMarks = StateField.define<readonly Diagnostic[]>({
  create: () => [],
  update(diagnostics, transaction) {
    for (const effect of transaction.effects) {
      if (effect.is(setMarks)) {
        return effect.value;
      }
    }
    return transaction.docChanged
      ? diagnostics.map((diagnostic) => ({
          ...diagnostic,
          from: transaction.changes.mapPos(diagnostic.from, -1),
          to: transaction.changes.mapPos(diagnostic.to, 1),
        }))
      : diagnostics;
  },
});

/** CodeMirror with the configuration of the dashboard's editors. */
export class CodeView {
  private readonly view: EditorView;
  private readonly settings = new Compartment();
  private readonly names = new Compartment();
  private tools: PythonTools | null = null;
  private tabIndents = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    parent: HTMLElement,
    root: ShadowRoot,
    private readonly given: Settings,
    private readonly listener: CodeViewListener,
  ) {
    this.view = new EditorView({
      parent,
      root,
      state: EditorState.create({
        doc: given.value,
        extensions: [
          this.shortcuts(),
          lineNumbers(),
          lintGutter(),
          highlightSpecialChars(),
          history(),
          drawSelection(),
          EditorState.allowMultipleSelections.of(true),
          rectangularSelection(),
          indentOnInput(),
          bracketMatching(),
          closeBrackets(),
          highlightActiveLine(),
          highlightSelectionMatches(),
          search({ top: true }),
          outerMarks,
          languageOf(given),
          look(given.autoHeight),
          syntaxHighlighting(colours),
          this.settings.of(settingsOf(given)),
          this.names.of([]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) {
              this.changed(!update.transactions.some((transaction) => transaction.annotation(fromOutside)));
            }
            if (update.focusChanged) {
              if (update.view.hasFocus) {
                void this.loadTools();
              } else {
                this.setTabIndents(false);
              }
            }
          }),
        ],
      }),
    });
    this.check();
  }

  /** Shows another text, as one step that can be undone. */
  show(value: string): void {
    const { doc } = this.view.state;
    if (value !== doc.toString()) {
      this.view.dispatch({
        changes: { from: 0, to: doc.length, insert: value },
        annotations: fromOutside.of(true),
      });
    }
  }

  mark(marks: readonly Mark[]): void {
    const { doc } = this.view.state;
    this.view.dispatch({ effects: setMarks.of(marks.map((mark) => this.diagnosticOf(mark, doc))) });
    this.check();
  }

  configure(given: Settings): void {
    this.view.dispatch({ effects: this.settings.reconfigure(settingsOf(given)) });
  }

  /** Checks again, since what is known of the script's environment has changed. */
  recheck(): void {
    this.check();
  }

  /** Makes a change that a remark has offered. */
  fix(fix: Fix): void {
    if ("edits" in fix) {
      const { doc } = this.view.state;
      const changes = fix.edits.map((edit) => changeOf(edit, doc));
      this.view.dispatch({ changes, userEvent: "input.fix", scrollIntoView: true });
    } else {
      this.listener.fixed(fix);
    }
  }

  /** Formats the script, as one step that can be undone; rejected when it is no Python. */
  async format(): Promise<void> {
    const tools = await this.loadTools();
    const before = this.view.state.doc;
    const formatted = await tools.format(before.toString(), this.given.python.python);
    if (this.view.state.doc.eq(before)) {
      const changes = tools.difference(before.toString(), formatted);
      this.view.dispatch({ changes, userEvent: "input.format" });
    }
  }

  goTo(line: number, column: number): void {
    const at = offsetOf({ line, column }, this.view.state.doc);
    this.view.dispatch({
      selection: { anchor: at },
      effects: EditorView.scrollIntoView(at, { y: "center" }),
    });
    this.view.focus();
  }

  /** Scrolls a line that is out of sight to the middle of the editor; page and focus stay where they are. */
  centre(line: number): void {
    const at = offsetOf({ line }, this.view.state.doc);
    this.view.requestMeasure({
      key: this,
      read: (view) => {
        const { top, bottom } = view.lineBlockAt(at);
        const { scrollTop, clientHeight } = view.scrollDOM;
        const seen = top >= scrollTop && bottom <= scrollTop + clientHeight;
        return seen ? scrollTop : (top + bottom - clientHeight) / 2;
      },
      write: (top, view) => (view.scrollDOM.scrollTop = top),
    });
  }

  focus(): void {
    this.view.focus();
  }

  destroy(): void {
    clearTimeout(this.timer);
    this.view.destroy();
  }

  private changed(typed: boolean): void {
    if (typed) {
      this.setTabIndents(this.view.hasFocus);
      this.listener.changed(this.view.state.doc.toString());
    }
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.check(), SETTLE);
  }

  private check(): void {
    const { state } = this.view;
    const { language, readonly } = this.given;
    const text = state.doc.toString();
    if (readonly || language === "text") {
      this.publish([]);
    } else if (language === "json") {
      this.publish(checkJson(text));
    } else if (this.tools) {
      void this.checkWithTools(this.tools, text);
    } else {
      this.publish(checkPython(text));
    }
  }

  /** The remarks of before stay until the new ones are there, so that they don't blink. */
  private async checkWithTools(tools: PythonTools, text: string): Promise<void> {
    const remarks = await tools.check(text, this.given.python);
    if (this.view.state.doc.toString() === text) {
      this.publish(remarks);
    }
  }

  private publish(remarks: readonly Mark[]): void {
    const { state } = this.view;
    const diagnostics = [
      ...state.field(outerMarks),
      ...remarks.map((remark) => this.diagnosticOf(remark, state.doc)),
    ].sort((a, b) => a.from - b.from);
    this.view.dispatch(setDiagnostics(state, diagnostics));
    this.listener.remarked(remarks);
  }

  /** What only editing Python needs is loaded when a person begins with it. */
  private async loadTools(): Promise<PythonTools> {
    const tools = await import("./python-tools");
    if (!this.tools && this.given.language === "python" && !this.given.readonly) {
      this.tools = tools;
      this.view.dispatch({ effects: this.names.reconfigure(tools.pythonNames(() => this.given.python)) });
      this.check();
      if (this.tabIndents) {
        tools.completeTyped(this.view); // Typed while the names were loading.
      }
    }
    return tools;
  }

  /** A mark without a column is about its whole line. */
  private diagnosticOf(mark: Mark, doc: Text): Diagnostic {
    const line = doc.line(Math.min(Math.max(mark.line, 1), doc.lines));
    const indent = line.text.length - line.text.trimStart().length;
    const from = mark.column === undefined ? line.from + indent : offsetOf(mark, doc);
    const end =
      mark.endLine && mark.endColumn
        ? offsetOf({ line: mark.endLine, column: mark.endColumn }, doc)
        : line.to;
    return {
      from,
      to: Math.max(from, end),
      severity: mark.severity,
      message: mark.message,
      source: mark.code,
      actions: mark.fixes?.map((fix) => ({ name: fix.title, apply: () => this.fix(fix) })),
    };
  }

  /** Tab goes to the next control, as everywhere, until a person types; Escape gives it back. */
  private setTabIndents(tabIndents: boolean): void {
    this.tabIndents = tabIndents;
    if (!tabIndents) {
      this.listener.indented(false);
    }
  }

  private shortcuts(): Extension {
    const given =
      (name: Shortcut): KeyBinding["run"] =>
      () =>
        this.listener.pressed(name);
    const whenTyping =
      (command: KeyBinding["run"]): KeyBinding["run"] =>
      (view) => {
        if (!this.tabIndents) {
          return false;
        }
        this.listener.indented(true);
        return command!(view);
      };
    return [
      Prec.high(
        keymap.of([
          { key: "Mod-Enter", run: given("run"), stopPropagation: true },
          { key: "Mod-s", run: given("save"), stopPropagation: true },
          { key: "Shift-Alt-f", run: given("format"), stopPropagation: true },
          { key: "Tab", run: whenTyping(indentMore), shift: whenTyping(indentLess) },
        ]),
      ),
      keymap.of([
        ...closeBracketsKeymap,
        // The page's shortcuts come first.
        ...defaultKeymap.filter(({ key }) => key !== "Mod-Enter"),
        ...searchKeymap,
        ...historyKeymap,
        ...lintKeymap,
      ]),
      Prec.lowest(
        EditorView.domEventHandlers({
          keydown: (event) => {
            if (event.key === "Escape") {
              this.setTabIndents(false);
            }
          },
        }),
      ),
    ];
  }
}

function languageOf({ language }: Settings): Extension {
  const four = [indentUnit.of("    "), EditorState.tabSize.of(4)];
  const languages = {
    python: [python(), four],
    json: [json(), indentUnit.of("  "), EditorState.tabSize.of(2)],
    text: four,
  };
  return languages[language];
}

const settingsOf = ({ readonly, label, masked, placeholder: example }: Settings): Extension => [
  EditorState.readOnly.of(readonly),
  masked ? maskedValues((transaction) => !!transaction.annotation(fromOutside)) : [],
  example ? placeholder(example) : [],
  EditorView.contentAttributes.of({
    "aria-label": label,
    "aria-describedby": "help",
    "aria-readonly": String(readonly),
    autocapitalize: "off",
    tabindex: "0",
  }),
];

function offsetOf({ line, column = 1 }: { line: number; column?: number }, doc: Text): number {
  const found = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return Math.min(found.from + column - 1, found.to);
}

const changeOf = ({ line, column, endLine, endColumn, text }: Edit, doc: Text) => ({
  from: offsetOf({ line, column }, doc),
  to: endLine > doc.lines ? doc.length : offsetOf({ line: endLine, column: endColumn }, doc),
  insert: text,
});
