import { text } from "../text/core";

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/**
 * Indents JSON text token by token, so that numbers and the order of keys stay the same; only white space
 * between tokens changes.
 *
 * @throws SyntaxError when it isn't JSON
 */
export function indented(text: string, step = 2): string {
  JSON.parse(text);
  const tokens = text.match(TOKEN) ?? [];
  let depth = 0;
  let written = "";
  const line = () => "\n" + " ".repeat(step * depth);
  tokens.forEach((token, i) => {
    const before = tokens[i - 1];
    if (token === "}" || token === "]") {
      depth--;
      written += before === "{" || before === "[" ? token : line() + token;
    } else if (token === "," || token === ":") {
      written += token === ":" ? ": " : token;
    } else {
      written += before === "{" || before === "[" || before === "," ? line() + token : token;
      depth += token === "{" || token === "[" ? 1 : 0;
    }
  });
  return written;
}

/** Why a text is not valid JSON; null if it is. */
export function jsonMistake(json: string): string | null {
  try {
    JSON.parse(json);
    return null;
  } catch (e) {
    return json.trim() === "" ? text.jsonRequired : (e as Error).message;
  }
}

/** The exact text of the first member of that name among the objects at a depth (from 1). */
export function memberText(text: string, name: string, depth: number): string | null {
  const wanted = JSON.stringify(name);
  let inside = 0;
  let before = "";
  let start = -1;
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    if (start >= 0 && inside === depth && (token === "," || token === "}")) {
      return text.slice(start, index).trim();
    }
    if (token === "}" || token === "]") {
      inside--;
    } else if (token === "{" || token === "[") {
      inside++;
    } else if (token === ":" && inside === depth && before === wanted && start < 0) {
      start = index + 1;
    }
    before = token;
  }
  return null;
}
