import type { Query } from "../../core/api";
import { STATES } from "../../core/states";
import { text } from "../../text/parts/executions";
import { executionReasons } from "./reasons";

/**
 * The filter of the executions as text: `state:failed agent:crawl* since:1d reason:timeout`. Words without a key
 * are of the agent's name.
 */

/** Queued jobs have no execution yet, and are listed above the executions. */
export const FILTERED_STATES: readonly string[] = ["queued", ...STATES.Execution];

export interface Key {
  name: string;
  hint: string;
  /** What may be chosen; a closed list, unless it is `open`. */
  values: readonly string[];
  open?: boolean;
}

export const KEYS: readonly Key[] = [
  { name: "state", hint: text.filter.hints.state, values: FILTERED_STATES },
  { name: "agent", hint: text.filter.hints.agent, values: [], open: true },
  { name: "tag", hint: text.filter.hints.tag, values: [], open: true },
  { name: "reason", hint: text.filter.hints.reason, values: executionReasons },
  { name: "since", hint: text.filter.hints.since, values: ["1h", "24h", "7d"], open: true },
  { name: "before", hint: text.filter.hints.before, values: ["1h", "24h", "7d"], open: true },
  { name: "revision", hint: text.filter.hints.revision, values: [], open: true },
  { name: "draft", hint: text.filter.hints.draft, values: ["yes", "no"] },
];

const TOKEN = /(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/g;
const UNITS: Record<string, number> = { m: 60, h: 3600, d: 86_400, w: 604_800 };

export interface Token {
  /** "": of no key. */
  key: string;
  value: string;
}

export interface Parsed {
  tokens: Token[];
  mistakes: string[];
}

export function parse(filter: string): Parsed {
  const tokens: Token[] = [];
  const mistakes: string[] = [];
  for (const [, key, quoted, bare] of filter.matchAll(TOKEN)) {
    const value = quoted ?? bare ?? "";
    const known = KEYS.find(({ name }) => name === key);
    if (!key && KEYS.some(({ name }) => value === `${name}:`)) {
      continue; // Its value is still to come.
    }
    if (key && !known) {
      const names = KEYS.map(({ name }) => name);
      mistakes.push(text.filter.unknownKey(key, names));
    } else {
      tokens.push({ key: key ?? "", value });
      mistakes.push(...mistakesOf(key, value, known));
    }
  }
  return { tokens, mistakes };
}

function mistakesOf(key: string | undefined, value: string, known: Key | undefined): string[] {
  if (!known) {
    return [];
  }
  if (!known.open) {
    const wrong = value.split(",").filter((part) => !known.values.includes(expanded(known, part)));
    return wrong.map((part) => text.filter.unknownValue(known.name, part));
  }
  const isTime = key === "since" || key === "before";
  if (isTime && timeOf(value, 0) === null) {
    return [text.filter.noTime(key)];
  }
  return key === "revision" && !/^\d{1,9}$/.test(value) ? [text.filter.noRevision] : [];
}

/** "timeout" → "deadline_exceeded": what is meant by a value that is no code. */
const ALIASES: Record<string, string> = {
  timeout: "deadline_exceeded",
  oom: "out_of_memory",
  error: "exception",
};

function expanded(key: Key, value: string): string {
  const code = value.toLowerCase().replaceAll("-", "_");
  return key.values.includes(code) ? code : (ALIASES[code] ?? code);
}

/** A time; a length of time is counted back from now (milliseconds). */
export function timeOf(value: string, now: number): string | null {
  const relative = /^(\d{1,5})([mhdw])$/.exec(value);
  if (relative) {
    return new Date(now - Number(relative[1]) * UNITS[relative[2]!]! * 1000).toISOString();
  }
  const time = /^\d{4}-\d\d/.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

/** The values of a key, without commas. */
export const valuesOf = (tokens: readonly Token[], key: string): string[] => {
  const known = KEYS.find(({ name }) => name === key);
  const values = tokens.filter((token) => token.key === key).map(({ value }) => value);
  return known && !known.open
    ? values.flatMap((value) => value.split(",")).map((value) => expanded(known, value))
    : values;
};

const truth: Record<string, string> = { yes: "true", no: "false" };

/** The filters of GET /executions and, as far as it has them, GET /executor-jobs; without `state`. */
export function queryOf(tokens: readonly Token[], now: number): Query {
  const last = (key: string) => valuesOf(tokens, key).at(-1);
  const time = (key: string) => timeOf(last(key) ?? "", now);
  return {
    agent: [...valuesOf(tokens, "agent"), ...valuesOf(tokens, "")].join(" "),
    tag: valuesOf(tokens, "tag").join(","),
    reason: last("reason"),
    started_after: time("since"),
    started_before: time("before"),
    agent_revision: last("revision"),
    draft: truth[last("draft") ?? ""],
  };
}

/** The text with another value of a key; "": without the key. */
export function withValue(text: string, key: string, value: string): string {
  const others = parse(text).tokens.filter((token) => token.key !== key);
  return textOf(value ? [...others, { key, value }] : others);
}

export const textOf = (tokens: readonly Token[]): string =>
  tokens
    .map(({ key, value }) => (key ? `${key}:` : "") + (/\s/.test(value) ? `"${value}"` : value))
    .join(" ");

/** The filter of an address; older addresses have a parameter for each key. */
export function ofAddress(parameter: (name: string) => string): string {
  const hours = parameter("hours");
  const older: Token[] = [
    { key: "state", value: parameter("state") },
    { key: "agent", value: parameter("agent_id") },
    { key: "reason", value: parameter("reason") },
    { key: "since", value: parameter("after") || (hours && `${hours}h`) },
    { key: "before", value: parameter("before") },
  ].filter(({ value }) => value);
  return [parameter("q"), textOf(older)].filter(Boolean).join(" ");
}

/** What may follow at the end of the text: the rest of a key or of a value, as the whole new text. */
export interface Completion {
  text: string;
  title: string;
  hint: string;
}

export function completions(
  text: string,
  agents: readonly string[],
  tags: readonly string[] = [],
): Completion[] {
  const start = text.search(/\S*$/);
  const before = text.slice(0, start);
  const word = text.slice(start);
  const colon = word.indexOf(":");
  if (colon < 0) {
    return KEYS.filter(({ name }) => name.startsWith(word)).map(({ name, hint }) => ({
      text: `${before}${name}:`,
      title: `${name}:`,
      hint,
    }));
  }
  const key = KEYS.find(({ name }) => name === word.slice(0, colon));
  const given = word.slice(colon + 1);
  const comma = key && !key.open ? given.lastIndexOf(",") + 1 : 0;
  const values = key?.name === "agent" ? agents : key?.name === "tag" ? tags : (key?.values ?? []);
  return values
    .filter((value) => key?.name === "agent" || value.includes(given.slice(comma)))
    .map((value) => ({
      text: `${before}${textOf([{ key: key!.name, value: given.slice(0, comma) + value }])} `,
      title: value,
      hint: key!.name,
    }));
}
