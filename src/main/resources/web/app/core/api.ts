import { text } from "../text/core";
import { fetchSigned } from "./page-token";
import { pause } from "./pause";
import { ExactNumber, RawJson, type Json, type Page } from "./types";

export interface FieldMistake {
  pointer: string;
  line?: number;
  column?: number;
  code: string;
  detail: string;
}

/** A failed request, as the API describes it. `status` 0: no response. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly title: string,
    readonly detail: string,
    readonly mistakes: FieldMistake[] = [],
    readonly requestId: string | null = null,
  ) {
    super(detail || title);
  }

  /** Whether the same request may succeed later: Roost could not be reached or was not able to respond. */
  get isTransient(): boolean {
    return this.code === "unreachable" || this.status >= 500;
  }

  /** The mistakes of one field of the body, for example "/requirements", and of its members. */
  of(pointer: string): FieldMistake[] {
    return this.mistakes.filter((m) => m.pointer === pointer || m.pointer.startsWith(pointer + "/"));
  }
}

export type Query = Record<string, string | number | boolean | null | undefined>;

export interface Options {
  query?: Query;
  body?: unknown;
  /** A body that is text already, for exact JSON. */
  text?: string;
  /** A body that is not JSON; its type is in the headers. */
  blob?: Blob;
  /** A request with the header of `once` is sent again when its response is lost. */
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** The request is idempotent, and is sent again when its response is lost. */
  repeatable?: boolean;
}

/** A response with its entity tag. */
export interface Answer<T> {
  value: T;
  tag: string | null;
}

/**
 * Milliseconds before each retry. Browsers abort pending requests when the machine's network changes, which
 * takes a moment.
 */
const PAUSES = [100, 400, 1_500];

type Listener = () => void;
const signedOut = new Set<Listener>();

/** Calls the listener when a response reports that the session has ended. */
export function onSignedOut(listener: Listener): void {
  signedOut.add(listener);
}

export function url(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") {
      parameters.set(name, String(value));
    }
  }
  const queries = parameters.toString();
  return `/v1${path}${queries ? `?${queries}` : ""}`;
}

/** The header of a request that the server processes once, even if it is sent again. */
export function once(): Record<string, string> {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return { "Idempotency-Key": Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("") };
}

/**
 * Sends a request and reads its response. A lost connection, also in the middle of the response, is a
 * Problem, after retries of an idempotent request.
 */
async function exchange<T>(
  method: string,
  path: string,
  options: Options,
  read: (response: Response) => Promise<T>,
): Promise<T> {
  const repeatable =
    method === "GET" || options.repeatable || options.headers?.["Idempotency-Key"] !== undefined;
  const pauses = repeatable ? [...PAUSES] : [];
  for (;;) {
    try {
      return await read(await send(method, path, options));
    } catch (e) {
      if (!isLost(e)) {
        throw e;
      }
    }
    const wait = pauses.shift();
    if (wait === undefined) {
      throw new Problem(0, "unreachable", text.unreachable, text.isItRunning);
    }
    await pause(wait, options.signal);
  }
}

/** What `fetch` throws for a lost connection; any other error is an abort or a bug. */
const isLost = (e: unknown): boolean => e instanceof TypeError;

async function send(method: string, path: string, options: Options): Promise<Response> {
  const json = options.text ?? (options.body === undefined ? undefined : toJson(options.body as Json));
  const response = await fetchSigned(url(path, options.query), {
    method,
    body: options.blob ?? json,
    headers: {
      Accept: "application/json",
      ...(json === undefined ? {} : { "Content-Type": "application/json" }),
      ...options.headers,
    },
    signal: options.signal,
  });
  if (response.ok) {
    return response;
  }
  throw await problemOf(response, path);
}

/** The problem document of an error response. */
export async function problemOf(response: Response, path: string): Promise<Problem> {
  const document = (await response.json().catch(() => ({}))) as Record<string, unknown>;
  if (response.status === 401 && !path.startsWith("/session")) {
    signedOut.forEach((listener) => listener());
  }
  return new Problem(
    response.status,
    (document.code as string) ?? "unknown",
    (document.title as string) ?? response.statusText,
    (document.detail as string) ?? text.returnedStatus(response.status),
    (document.errors as FieldMistake[]) ?? [],
    (document.request_id as string) ?? response.headers.get("X-Request-Id"),
  );
}

export const request = <T>(method: string, path: string, options: Options = {}): Promise<T> =>
  exchange(
    method,
    path,
    options,
    async (response) => (response.status === 204 ? undefined : await response.json()) as T,
  );

export const get = <T>(path: string, query?: Query, signal?: AbortSignal) =>
  request<T>("GET", path, { query, signal });
export const post = <T>(path: string, body?: unknown, headers?: Record<string, string>) =>
  request<T>("POST", path, { body, headers });
export const patch = <T>(path: string, body: unknown) => request<T>("PATCH", path, { body });
export const remove = (path: string, query?: Query) => request<void>("DELETE", path, { query });

export const requestTagged = <T>(method: string, path: string, options: Options = {}): Promise<Answer<T>> =>
  exchange(method, path, options, async (response) => tagged(response, (await response.json()) as T));

/** A response as text. */
export const requestText = (method: string, path: string, options: Options = {}): Promise<Answer<string>> =>
  exchange(method, path, options, async (response) => tagged(response, await response.text()));

/** The members of responses that hold JSON of scripts and users. The numbers of all others are the API's own. */
const FOREIGN = new Set(["payload", "return_value", "value", "request"]);

/** A response whose JSON values (payload, return value, entries) keep their exact numbers. */
export const requestExactly = <T>(method: string, path: string, options: Options = {}): Promise<Answer<T>> =>
  exchange(method, path, options, async (response) =>
    tagged(response, parseResponse(await response.text()) as T),
  );

/** Parses a response, so that only what it holds of scripts and users has exact numbers: 0.0 seconds are 0. */
export const parseResponse = (text: string): Json => withPlainNumbers(parseExactly(text));

function withPlainNumbers(value: Json): Json {
  if (value instanceof ExactNumber) {
    return Number(value.source);
  }
  if (Array.isArray(value)) {
    return value.map(withPlainNumbers);
  }
  if (value !== null && typeof value === "object") {
    for (const [name, member] of Object.entries(value)) {
      if (!FOREIGN.has(name)) {
        value[name] = withPlainNumbers(member);
      }
    }
  }
  return value;
}

/** A response to be saved as a file. */
export const requestBlob = (path: string, type: string, query?: Query): Promise<Blob> =>
  exchange("GET", path, { query, headers: { Accept: type } }, (response) => response.blob());

/** Bytes of a response, from `start` up to but not including `end`. */
export const requestBytes = (
  path: string,
  start: number,
  end: number,
  signal?: AbortSignal,
): Promise<ArrayBuffer> =>
  exchange(
    "GET",
    path,
    { headers: { Accept: "*/*", Range: `bytes=${start}-${end - 1}` }, signal },
    (response) => response.arrayBuffer(),
  );

const tagged = <T>(response: Response, value: T): Answer<T> => ({
  value,
  tag: response.headers.get("ETag"),
});

/** All pages of a list, for lists that are known to be short. */
export async function all<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T[]> {
  const found: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<T> = await get<Page<T>>(path, { limit: 200, ...query, cursor }, signal);
    found.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return found;
}

/** Null if the resource was deleted. */
export async function kept<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (e) {
    if (e instanceof Problem && e.status === 404) {
      return null;
    }
    throw e;
  }
}

/**
 * Parses JSON so that numbers whose text would change become ExactNumber, where the browser provides a
 * number's text (the `context` of a reviver, ECMAScript proposal JSON.parse source text access).
 */
export function parseExactly(text: string): Json {
  const reviver = (_key: string, value: unknown, context?: { source?: string }) =>
    typeof value === "number" && context?.source !== undefined && context.source !== String(value)
      ? new ExactNumber(context.source)
      : value;
  return JSON.parse(text, reviver as (key: string, value: unknown) => unknown) as Json;
}

/** The text of a value, with the exact text of its numbers. */
export function toJson(value: Json | RawJson, indent = 0, depth = 0): string {
  const next = indent ? "\n" + " ".repeat(indent * (depth + 1)) : "";
  const end = indent ? "\n" + " ".repeat(indent * depth) : "";
  if (value instanceof ExactNumber || value instanceof RawJson) {
    return value.source;
  }
  if (Array.isArray(value)) {
    const items = value.map((item) => next + toJson(item, indent, depth + 1));
    return items.length ? `[${items.join(",")}${end}]` : "[]";
  }
  if (value !== null && typeof value === "object") {
    const colon = indent ? ": " : ":";
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => next + JSON.stringify(key) + colon + toJson(member, indent, depth + 1));
    return members.length ? `{${members.join(",")}${end}}` : "{}";
  }
  return JSON.stringify(value);
}
