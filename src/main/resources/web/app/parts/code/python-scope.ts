import { pythonLanguage } from "@codemirror/lang-python";
import type { SyntaxNode, Tree } from "@lezer/common";
import { importsOf } from "./python-imports";
import type { PythonSymbol } from "../../core/types";
import api from "./script-api.json" with { type: "json" };

/** What is known of a value: a module, a class, an object of one, or what `main` gets. */
export type Type =
  | { kind: "module"; module: string }
  | { kind: "class" | "instance"; path: string }
  | { kind: "script"; name: ScriptClass }
  | { kind: "stores" }
  | { kind: "returns"; type: Type | null };

type ScriptClass = keyof typeof api;
type Symbols = (module: string) => Promise<readonly PythonSymbol[] | null>;

/** A name in a script from its place on, and what it stands for. */
interface Binding {
  name: string;
  from: number;
  /** The function whose name it is; null: the module's. */
  within: SyntaxNode | null;
  value: Type | SyntaxNode | null;
  /** The value is an annotation: the name stands for an object of that class. */
  annotation?: boolean;
}

const DEEPEST = 12;
const PARAMETERS: readonly ScriptClass[] = ["Request", "Store"];
/** What methods of the store return. */
const RETURNED: Record<string, ScriptClass> = { transaction: "Transaction", lock: "Lock", entry: "Entry" };

const isNode = (value: Type | SyntaxNode | null): value is SyntaxNode =>
  !!value && "type" in value && "from" in value;

/**
 * What the names of a script stand for, read from its text alone: imports, what `main` gets, and what is assigned from
 * those. An approximation, for completion and hover: nothing is said of what it doesn't know.
 */
export class Scope {
  private readonly bindings: Binding[] = [];

  constructor(
    private readonly script: string,
    tree: Tree,
    private readonly symbols: Symbols,
  ) {
    for (const { module, member, name, line } of importsOf(script, tree)) {
      const whole = member ? `${module}.${member}` : module;
      // "import a.b" defines a, "import a.b as c" defines a.b.
      const value: Type = member
        ? { kind: "class", path: whole }
        : { kind: "module", module: name === module.split(".")[0] ? name : module };
      const from = script.split("\n", line - 1).reduce((sum, text) => sum + text.length + 1, 0);
      this.bindings.push({ name, from, within: null, value });
    }
    tree.iterate({ enter: ({ node }) => this.bind(node) });
    this.bindings.sort((a, b) => a.from - b.from);
  }

  /** What an expression stands for at a place. */
  async typeOf(expression: string, at: number): Promise<Type | null> {
    const node = pythonLanguage.parser.parse(expression).topNode.firstChild?.firstChild;
    return node ? this.resolve(node, expression, at, 0) : null;
  }

  /** The names that a value has; null: they are not known. */
  async membersOf(type: Type | null): Promise<PythonSymbol[] | null> {
    switch (type?.kind) {
      case "script":
        return scriptMembers(type.name);
      case "module":
        return (await this.symbols(type.module))?.slice() ?? null;
      case "class":
      case "instance":
        return this.classMembers(type.path, new Set());
      case "stores":
      case "returns":
      case undefined:
        return null;
    }
  }

  /** The symbol of a name, or of a member after a dot; null: it is not known. */
  async symbolOf(expression: string, at: number): Promise<PythonSymbol | null> {
    const dot = expression.lastIndexOf(".");
    if (dot > 0) {
      const owner = await this.typeOf(expression.slice(0, dot), at);
      const name = expression.slice(dot + 1);
      return (await this.membersOf(owner))?.find((member) => member.name === name) ?? null;
    }
    const value = this.lookUp(expression, at)?.value ?? null;
    const type = isNode(value) || !value ? await this.typeOf(expression, at) : value;
    switch (type?.kind) {
      case "script":
        return { name: expression, kind: "variable", type: type.name, doc: api[type.name].doc };
      case "module":
        return { name: type.module, kind: "module" };
      case "class":
        return this.described(type.path);
      case "instance":
        return { name: expression, kind: "variable", type: type.path };
      default:
        return null;
    }
  }

  private bind(node: SyntaxNode): void {
    const text = (part: SyntaxNode) => this.script.slice(part.from, part.to);
    if (node.name === "AssignStatement") {
      const [target, next, value] = [node.firstChild, node.firstChild?.nextSibling, node.lastChild];
      if (target?.name === "VariableName" && value && value !== target) {
        const annotation = next?.name === "TypeDef";
        const within = enclosing(node);
        this.bindings.push({
          name: text(target),
          from: node.to,
          within,
          value: annotation ? (next.lastChild ?? null) : value,
          annotation,
        });
      }
    } else if (node.name === "WithStatement") {
      for (let part = node.firstChild; part; part = part.nextSibling) {
        if (part.name === "as" && part.prevSibling && part.nextSibling?.name === "VariableName") {
          const { nextSibling: target, prevSibling: value } = part;
          this.bindings.push({ name: text(target), from: target.from, within: enclosing(node), value });
        }
      }
    } else if (node.name === "ParamList" && node.parent) {
      this.bindParameters(node, node.parent);
    }
  }

  private bindParameters(list: SyntaxNode, definition: SyntaxNode): void {
    const text = (part: SyntaxNode) => this.script.slice(part.from, part.to);
    const name = definition.getChild("VariableName");
    const isMain =
      definition.name === "FunctionDefinition" && !!name && text(name) === "main" && !enclosing(definition);
    const callee = definition.parent?.name === "ArgList" ? definition.parent.prevSibling : null;
    const isTransact = definition.name === "LambdaExpression" && !!callee && /\.transact$/.test(text(callee));
    list.getChildren("VariableName").forEach((parameter, i) => {
      const annotation = parameter.nextSibling?.name === "TypeDef" ? parameter.nextSibling.lastChild : null;
      const given: ScriptClass | undefined = isMain
        ? PARAMETERS[i]
        : isTransact && i === 0
          ? "Transaction"
          : undefined;
      this.bindings.push({
        name: text(parameter),
        from: parameter.from,
        within: definition,
        value: given ? { kind: "script", name: given } : annotation,
        annotation: !given,
      });
    });
  }

  /** The latest binding of a name that is seen at a place, of the innermost function that has one. */
  private lookUp(name: string, at: number): Binding | null {
    const seen = this.bindings.filter(
      (binding) =>
        binding.name === name &&
        (!binding.within || (binding.within.from <= at && at <= binding.within.to + 1)),
    );
    const before = seen.filter(({ from, within }) => from <= at || !within);
    const size = ({ within }: Binding) => (within ? within.to - within.from : Infinity);
    return before.reduce<Binding | null>(
      (best, next) => (!best || size(next) <= size(best) ? next : best),
      null,
    );
  }

  private async resolve(node: SyntaxNode, text: string, at: number, depth: number): Promise<Type | null> {
    const follow = (next: SyntaxNode | null) =>
      next && depth < DEEPEST ? this.resolve(next, text, at, depth + 1) : null;
    switch (node.name) {
      case "VariableName":
        return this.variable(text.slice(node.from, node.to), at, depth);
      case "ParenthesizedExpression":
      case "AwaitExpression":
        return follow(node.firstChild?.nextSibling ?? null);
      case "CallExpression":
        return called(await follow(node.firstChild));
      case "MemberExpression": {
        const owner = await follow(node.firstChild);
        const property = node.lastChild;
        if (property?.name === "PropertyName") {
          return this.member(owner, text.slice(property.from, property.to));
        }
        return owner?.kind === "stores" ? { kind: "script", name: "Store" } : null;
      }
      default:
        return null;
    }
  }

  private async variable(name: string, at: number, depth: number): Promise<Type | null> {
    const binding = this.lookUp(name, at);
    if (!binding?.value || depth >= DEEPEST) {
      return null;
    }
    const { value } = binding;
    if (!isNode(value)) {
      return value.kind === "class" ? this.imported(value.path) : value;
    }
    const found = await this.resolve(value, this.script, Math.min(at, value.from), depth + 1);
    return binding.annotation && found?.kind === "class" ? { ...found, kind: "instance" } : found;
  }

  /** What a "from" import has brought. */
  private async imported(path: string): Promise<Type | null> {
    const symbol = await this.described(path);
    return symbol ? typeOfSymbol(symbol, path) : { kind: "module", module: path };
  }

  private async member(owner: Type | null, name: string): Promise<Type | null> {
    if (owner?.kind === "script") {
      if (owner.name === "Request" && name === "stores") {
        return { kind: "stores" };
      }
      const returned = owner.name === "Store" ? RETURNED[name] : undefined;
      return returned ? { kind: "returns", type: { kind: "script", name: returned } } : null;
    }
    const symbol = (await this.membersOf(owner))?.find((member) => member.name === name);
    const path = owner?.kind === "module" ? `${owner.module}.${name}` : "";
    return symbol ? typeOfSymbol(symbol, path) : null;
  }

  /** The symbol of a whole name such as "pandas.DataFrame". */
  private async described(path: string): Promise<PythonSymbol | null> {
    const dot = path.lastIndexOf(".");
    const symbols = dot > 0 ? await this.symbols(path.slice(0, dot)) : null;
    return symbols?.find(({ name }) => name === path.slice(dot + 1)) ?? null;
  }

  /** The members of a class and of its base classes, the nearest of each name. */
  private async classMembers(path: string, seen: Set<string>): Promise<PythonSymbol[] | null> {
    if (seen.has(path) || seen.size >= DEEPEST) {
      return null;
    }
    seen.add(path);
    const found = await this.described(path);
    if (found?.from && found.from !== path) {
      return this.classMembers(found.from, seen);
    }
    if (!found) {
      return null;
    }
    const members = new Map<string, PythonSymbol>();
    for (const member of found.members ?? []) {
      members.set(member.name, member);
    }
    for (const base of found.bases ?? []) {
      for (const member of (await this.classMembers(base, seen)) ?? []) {
        members.set(member.name, members.get(member.name) ?? member);
      }
    }
    return [...members.values()];
  }
}

/** The innermost function around a node. */
function enclosing(node: SyntaxNode): SyntaxNode | null {
  let above = node.parent;
  while (above && above.name !== "FunctionDefinition" && above.name !== "LambdaExpression") {
    above = above.parent;
  }
  return above;
}

function called(type: Type | null): Type | null {
  switch (type?.kind) {
    case "class":
      return { kind: "instance", path: type.path };
    case "returns":
      return type.type;
    default:
      return null;
  }
}

function typeOfSymbol(symbol: PythonSymbol, path: string): Type | null {
  switch (symbol.kind) {
    case "module":
      return { kind: "module", module: symbol.from ?? path };
    case "class":
      return { kind: "class", path: symbol.from ?? path };
    case "function":
    case "method":
      return { kind: "returns", type: symbol.type ? { kind: "instance", path: symbol.type } : null };
    case "property":
    case "variable":
      return symbol.type ? { kind: "instance", path: symbol.type } : null;
  }
}

const scriptMembers = (name: ScriptClass): PythonSymbol[] =>
  Object.entries(api[name].members).map(([member, described]) => ({
    name: member,
    ...(described as Described),
  }));

type Described = Omit<PythonSymbol, "name">;

const OPENING: Record<string, string> = { ")": "(", "]": "[" };

/**
 * The expression that ends at the end of a text: names, calls and subscripts, joined by dots. Empty: there is none.
 */
export function expressionBefore(text: string): string {
  let at = text.length;
  for (;;) {
    const closing = text[at - 1] ?? "";
    if (closing in OPENING) {
      const opened = openingOf(text, at - 1);
      if (opened < 0) {
        return "";
      }
      at = opened;
      continue;
    }
    const name = /[\p{L}\p{N}_]+$/u.exec(text.slice(0, at))?.[0] ?? "";
    if (!name || /^\d/.test(name)) {
      return name || at === text.length || text[at - 1] === "." ? "" : text.slice(at);
    }
    at -= name.length;
    const dot = /\s*\.\s*$/.exec(text.slice(0, at))?.[0] ?? "";
    if (!dot || /\n/.test(dot)) {
      return text.slice(at);
    }
    at -= dot.length;
  }
}

/** Where the bracket opens that closes at a place; strings are skipped. */
function openingOf(text: string, closing: number): number {
  const open: string[] = [];
  for (let at = closing; at >= 0; at--) {
    const character = text[at]!;
    if (character === '"' || character === "'") {
      at = text.lastIndexOf(character, at - 1);
      if (at < 0) {
        return -1;
      }
    } else if (character in OPENING) {
      open.push(OPENING[character]!);
    } else if (character === "(" || character === "[") {
      if (open.pop() !== character) {
        return -1;
      }
      if (!open.length) {
        return at;
      }
    }
  }
  return -1;
}
