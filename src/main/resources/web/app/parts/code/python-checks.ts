import { pythonLanguage } from "@codemirror/lang-python";
import type { SyntaxNode, SyntaxNodeRef } from "@lezer/common";
import { text } from "../../text/parts/code";
import { placesOf, type Mark } from "./marks";

const MOST_SYNTAX_ERRORS = 3;

/** With one of these a script may define main where reading it doesn't show. */
const DYNAMIC =
  /\b(exec|globals|locals|vars|setattr|__dict__|__getattr__)\b|\bimport\s*\*|\bglobal\b.*\bmain\b/;

/**
 * What can be said about a script without running it: places that are no Python, no main, a main that
 * can't be called. Only warnings, since the grammar may be older than the Python that runs the script.
 *
 * @param syntax whether to report what is no Python; without that, nothing is reported of such a script
 */
export function checkPython(script: string, { syntax = true } = {}): Mark[] {
  if (!script.trim()) {
    return [];
  }
  const root = pythonLanguage.parser.parse(script).topNode;
  const place = placesOf(script);
  const errors = syntaxErrors(root, script).map((at) => ({
    ...place(at),
    message: text.python.notValid,
    severity: "warning" as const,
  }));
  if (errors.length) {
    return syntax ? errors : [];
  }
  const main = definitions(root, script).at(-1);
  if (main) {
    return signatureMistakes(main, script).map((message) => ({
      ...place(main.from),
      message,
      severity: "warning",
    }));
  }
  return mayHaveMain(root, script) ? [] : [{ line: 1, message: text.python.noMain, severity: "warning" }];
}

/** Where the parser gave up, one offset a line. */
function syntaxErrors(root: SyntaxNode, script: string): number[] {
  const found: number[] = [];
  const lines = new Set<number>();
  root.cursor().iterate((node) => {
    if ((node.type.isError || isOpenString(node, script)) && found.length < MOST_SYNTAX_ERRORS) {
      // An error without text stands where something is missing, often past the end of a line.
      const at = node.from === node.to ? script.slice(0, node.from).trimEnd().length : node.from;
      const line = script.slice(0, at).split("\n").length;
      if (!lines.has(line)) {
        lines.add(line);
        found.push(at);
      }
    }
  });
  return found;
}

/** A string whose end is missing; the grammar lets it pass. */
const isOpenString = ({ name, from, to }: SyntaxNodeRef, script: string): boolean =>
  (name === "String" || name === "FormatString") && !/["'].*["']$/s.test(script.slice(from, to));

/** The functions called main of the module itself, also inside if, try and with. */
function definitions(root: SyntaxNode, script: string): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  root.cursor().iterate((node) => {
    if (node.name === "FunctionDefinition") {
      const name = node.node.getChild("VariableName");
      if (name && script.slice(name.from, name.to) === "main") {
        found.push(node.node);
      }
      return false;
    }
    return node.name !== "ClassDefinition" && node.name !== "LambdaExpression";
  });
  return found;
}

function mayHaveMain(root: SyntaxNode, script: string): boolean {
  if (DYNAMIC.test(script)) {
    return true;
  }
  let found = false;
  root.cursor().iterate((node) => {
    if (node.name === "ClassDefinition") {
      const name = node.node.getChild("VariableName");
      found ||= !!name && script.slice(name.from, name.to) === "main";
      return false;
    }
    if (
      node.name === "AssignStatement" ||
      node.name === "ImportStatement" ||
      node.name === "NamedExpression"
    ) {
      found ||= /\bmain\b/.test(script.slice(node.from, node.to));
      return false;
    }
    return node.name !== "FunctionDefinition" && node.name !== "LambdaExpression";
  });
  return found;
}

/** Why Roost, which gives the request and the store in this order, couldn't call this main. */
function signatureMistakes(main: SyntaxNode, script: string): string[] {
  if (main.prevSibling?.name === "Decorator") {
    return []; // What a decorator makes of it isn't known.
  }
  const { positional, keywordOnly } = required(main.getChild("ParamList"), script);
  const extra = positional.slice(2);
  return [
    ...(extra.length ? [text.python.tooManyParameters(extra)] : []),
    ...(keywordOnly.length ? [text.python.keywordOnly(keywordOnly)] : []),
  ];
}

/** The parameters that a call has to give. */
function required(list: SyntaxNode | null, script: string): { positional: string[]; keywordOnly: string[] } {
  const positional: string[] = [];
  const keywordOnly: string[] = [];
  let into = positional;
  let starred = false;
  for (let node = list?.firstChild ?? null; node; node = node.nextSibling) {
    const part = script.slice(node.from, node.to);
    if (part === "*" || part === "**") {
      into = keywordOnly;
      starred = node.nextSibling?.name === "VariableName";
    } else if (node.name === "VariableName") {
      if (!starred) {
        into.push(part);
      }
      starred = false;
    } else if (node.name === "AssignOp") {
      into.pop();
    }
  }
  return { positional, keywordOnly };
}
