import { pythonLanguage } from "@codemirror/lang-python";
import type { SyntaxNode, Tree } from "@lezer/common";
import { placesOf } from "./marks";

/** A module that a script imports, and the name that it gets. */
export interface Import {
  /** The whole name, for example "os.path". */
  module: string;
  /** What is imported from the module, with `from`; "*" for all. */
  member: string | null;
  /** What the script calls it. */
  name: string;
  /** Where the module is named. */
  line: number;
  column: number;
  endColumn: number;
  /** The script goes on without it: it is in a `try`, or only for a type checker. */
  optional: boolean;
}

const IMPORT = /^import\s+(.+)$/su;
const FROM = /^from\s+([\p{L}\p{N}_.]+)\s+import\s+\(?\s*(.+?),?\s*\)?$/su;
const NAMED = /^([\p{L}\p{N}_.*]+)(?:\s+as\s+([\p{L}\p{N}_]+))?$/u;

/** The imports of a script, in its order; relative ones are left out, since a script is in no package. */
export function importsOf(script: string, tree: Tree = pythonLanguage.parser.parse(script)): Import[] {
  const place = placesOf(script);
  const found: Import[] = [];
  tree.iterate({
    enter: ({ name, node, from, to }) => {
      if (name !== "ImportStatement") {
        return;
      }
      const optional = isOptional(node, script);
      for (const { module, member, name } of namesIn(script.slice(from, to))) {
        const at = place(from + Math.max(0, script.slice(from, to).indexOf(module)));
        found.push({ module, member, name, ...at, endColumn: at.column + module.length, optional });
      }
      return false;
    },
  });
  return found;
}

function namesIn(statement: string): Pick<Import, "module" | "member" | "name">[] {
  const text = statement
    .replaceAll(/#[^\n]*/g, "")
    .replaceAll("\\\n", " ")
    .trim();
  const modules = IMPORT.exec(text)?.[1];
  if (modules) {
    return parts(modules).map(([module, alias]) => ({
      module,
      member: null,
      name: alias ?? module.split(".")[0]!,
    }));
  }
  const [, module = "", members = ""] = FROM.exec(text) ?? [];
  return module && !module.startsWith(".")
    ? parts(members).map(([member, alias]) => ({ module, member, name: alias ?? member }))
    : [];
}

const parts = (list: string): [string, string | undefined][] =>
  list.split(",").flatMap((part) => {
    const found = NAMED.exec(part.trim());
    return found ? [[found[1]!, found[2]] as [string, string | undefined]] : [];
  });

function isOptional(node: SyntaxNode, script: string): boolean {
  for (let above = node.parent; above; above = above.parent) {
    const condition = above.name === "IfStatement" && script.slice(above.from, above.from + 80);
    if (above.name === "TryStatement" || (condition && /^if\s+(\w+\.)?TYPE_CHECKING\b/.test(condition))) {
      return true;
    }
  }
  return false;
}
