import {
  autocompletion,
  startCompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from "@codemirror/autocomplete";
import { globalCompletion, localCompletionSource } from "@codemirror/lang-python";
import { syntaxTree } from "@codemirror/language";
import type { EditorState, Extension } from "@codemirror/state";
import { hoverTooltip, type EditorView } from "@codemirror/view";
import type { PythonSymbol } from "../../core/types";
import type { PythonContext } from "./python-context";
import { expressionBefore, Scope } from "./python-scope";
import { standardModules } from "./standard-library";

const WORD = /^[\p{L}\p{N}_]*$/u;
/** CodeMirror's names of kinds, which choose the icon. */
const ICONS: Record<PythonSymbol["kind"], string> = {
  class: "class",
  function: "function",
  method: "method",
  module: "namespace",
  property: "property",
  variable: "variable",
};

/** Names after a dot and in imports, and what a name under the mouse is. */
export const pythonNames = (context: () => PythonContext): Extension => [
  autocompletion({ override: [(at) => complete(at, context())], maxRenderedOptions: 60 }),
  hoverTooltip(async (view, position) => {
    const expression = expressionAt(view.state, position);
    const symbol = expression && (await scopeOf(view.state, context()).symbolOf(expression.text, position));
    return symbol
      ? {
          pos: expression.from,
          end: expression.to,
          above: true,
          create: () => ({ dom: explained(symbol) }),
        }
      : null;
  }),
];

/** Offers names for what is before the cursor, as if that were typed now. */
export function completeTyped(view: EditorView): void {
  const { head } = view.state.selection.main;
  if (/[\p{L}\p{N}_.]$/u.test(view.state.sliceDoc(Math.max(0, head - 1), head))) {
    startCompletion(view);
  }
}

const scopeOf = (state: EditorState, context: PythonContext): Scope =>
  new Scope(state.doc.toString(), syntaxTree(state), (module) => context.symbols(module));

async function complete(at: CompletionContext, context: PythonContext): Promise<CompletionResult | null> {
  const { text, from: lineStart } = at.state.doc.lineAt(at.pos);
  const before = text.slice(0, at.pos - lineStart);
  const inImport = await completeImport(before, at, context);
  if (inImport) {
    return inImport;
  }
  if (isText(at)) {
    return null;
  }
  const dot = /\.\s*([\p{L}\p{N}_]*)$/u.exec(before);
  if (dot) {
    const word = dot[1]!;
    const script = at.state.sliceDoc(0, lineStart + dot.index);
    const expression = expressionBefore(script);
    const scope = scopeOf(at.state, context);
    const members = expression ? await scope.membersOf(await scope.typeOf(expression, at.pos)) : null;
    return members && { from: at.pos - word.length, options: optionsOf(members, word), validFor: WORD };
  }
  const typed = at.matchBefore(/[\p{L}\p{N}_]+/u);
  if (!typed && !at.explicit) {
    return null;
  }
  const options = [
    ...(localCompletionSource(at)?.options ?? []),
    ...((await globalCompletion(at))?.options ?? []),
  ];
  return { from: typed?.from ?? at.pos, options, validFor: WORD };
}

async function completeImport(
  before: string,
  at: CompletionContext,
  context: PythonContext,
): Promise<CompletionResult | null> {
  const member = /^\s*from\s+([\w.]+)\s+import\s+(?:\(?.*,\s*|\(?)(\w*)$/.exec(before);
  if (member) {
    const symbols = await context.symbols(member[1]!);
    return (
      symbols && { from: at.pos - member[2]!.length, options: optionsOf(symbols, member[2]!), validFor: WORD }
    );
  }
  const module = /^\s*(?:from|import)\s+(?:[\w.]+(?:\s+as\s+\w+)?\s*,\s*)*([\w.]*)$/.exec(before);
  if (!module) {
    return null;
  }
  const [parent, word] = /^(?:(.*)\.)?(\w*)$/.exec(module[1]!)!.slice(1) as [string | undefined, string];
  const symbols = parent
    ? ((await context.symbols(parent)) ?? []).filter(({ kind }) => kind === "module")
    : [...new Set([...(context.modules ?? []), ...standardModules(context.python)])]
        .filter((name) => word.startsWith("_") || !name.startsWith("_"))
        .map((name): PythonSymbol => ({ name, kind: "module" }));
  return { from: at.pos - word.length, options: optionsOf(symbols, word), validFor: WORD };
}

/** Private names only where a person has begun with an underscore. */
const optionsOf = (symbols: readonly PythonSymbol[], word: string): Completion[] =>
  symbols
    .filter(({ name }) => !name.startsWith("_") || word.startsWith("_"))
    .map((symbol) => ({
      label: symbol.name,
      type: ICONS[symbol.kind],
      ...(symbol.signature || symbol.doc ? { info: () => explained(symbol) } : {}),
    }));

/** Strings and comments have no names; the braces of f-strings do. */
function isText(at: CompletionContext): boolean {
  for (let node = syntaxTree(at.state).resolveInner(at.pos, -1); node.parent; node = node.parent) {
    if (node.name === "FormatReplacement") {
      return false;
    }
    if (node.name === "Comment" || node.name === "String" || node.name === "FormatString") {
      return true;
    }
  }
  return false;
}

/** The name at a position with what comes before it, as in "store.get". */
function expressionAt(
  state: EditorState,
  position: number,
): { text: string; from: number; to: number } | null {
  const node = syntaxTree(state).resolveInner(position, 1);
  if (node.name !== "VariableName" && node.name !== "PropertyName") {
    return null;
  }
  const text = expressionBefore(state.sliceDoc(0, node.to));
  return text ? { text, from: node.from, to: node.to } : null;
}

/** The signature and documentation of a name, as text. */
function explained({ name, kind, signature, type, doc }: PythonSymbol): HTMLElement {
  const element = document.createElement("div");
  element.className = "cm-explained";
  const head = element.appendChild(document.createElement("code"));
  head.textContent = signature
    ? `${kind === "class" ? "class " : ""}${name}${signature}`
    : `${kind === "class" || kind === "module" ? `${kind} ` : ""}${name}${type ? `: ${type}` : ""}`;
  if (doc) {
    element.appendChild(document.createElement("p")).textContent = doc;
  }
  return element;
}
