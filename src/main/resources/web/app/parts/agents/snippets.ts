import { ExactNumber, type Json } from "../../core/types";
import { parseExactly } from "../../core/api";
import { text } from "../../text/parts/agents";

/** How a program runs an agent. */
export interface Snippet {
  title: string;
  /** Prerequisites and behaviour. */
  needs: string;
  code: string;
}

/**
 * The ways to run an agent from outside. `payload` is JSON text, or "" for none; `origin` is where this
 * Roost is, for example "https://roost.example.org".
 */
export function snippets(agentId: string, payload: string, origin: string): Snippet[] {
  const { curl, python, asynchronous, commandLine } = text.snippets;
  const json = payload.trim();
  const literal = json ? `payload=${pythonLiteral(parseExactly(payload))}, ` : "";
  const body = json ? `{"payload": ${json}}` : "{}";
  const option = json ? ` --payload ${shellQuoted(json)}` : "";
  return [
    { ...curl, code: curl.code(origin, agentId, shellQuoted(body)) },
    { ...python, code: python.code(origin, agentId, literal) },
    { ...asynchronous, code: asynchronous.code(origin, agentId, literal) },
    { ...commandLine, code: commandLine.code(origin, agentId, option) },
  ];
}

/** What a client of the Model Context Protocol is given, for an agent that is a tool. */
export function toolSnippet(toolName: string, origin: string): Snippet {
  const { title, needs, code } = text.snippets.tool;
  return { title, needs: needs(toolName), code: code(origin) };
}

/** A word of a shell, whatever is in it. */
export const shellQuoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** A JSON value as Python writes it; strings have the same escapes. */
export function pythonLiteral(value: Json): string {
  if (value === null) {
    return "None";
  }
  if (typeof value === "boolean") {
    return value ? "True" : "False";
  }
  if (value instanceof ExactNumber) {
    return value.source;
  }
  if (Array.isArray(value)) {
    return `[${value.map(pythonLiteral).join(", ")}]`;
  }
  if (typeof value === "object") {
    const members = Object.entries(value).map(
      ([key, member]) => `${JSON.stringify(key)}: ${pythonLiteral(member)}`,
    );
    return `{${members.join(", ")}}`;
  }
  return JSON.stringify(value);
}
