import { request, requestText, once } from "./api";
import { memberText } from "./json-text";
import { RawJson, type Page, type StoreEntry } from "./types";

/** An entry with the exact text of its value. */
export interface EntryText {
  key: string;
  text: string;
  version: number;
  expires_at: string | null;
  updated_at: string;
}

/** How deep the members of an entry are in a page: {"data":[{"key":…,"value":… */
const DEPTH = 3;

/** Reads one entry; null if it does not exist. */
export async function readEntry(
  storeId: string,
  key: string,
  signal?: AbortSignal,
): Promise<EntryText | null> {
  // A list, since an address can't end in the key "..".
  const query = { prefix: key, start: key, limit: 1 };
  const { value: text } = await requestText("GET", `/datastore/${storeId}/entries`, { query, signal });
  const [entry] = (JSON.parse(text) as Page<StoreEntry>).data;
  if (entry?.key !== key) {
    return null;
  }
  const { version, expires_at, updated_at } = entry;
  return { key, text: memberText(text, "value", DEPTH)!, version, expires_at, updated_at };
}

/**
 * Stores a value, as the text that it is, if the entry still has the version; 0: if it isn't there.
 * Sent as a transaction, since an address can't hold every key.
 *
 * @param seconds until the entry expires; null: never
 * @throws Problem 409: it has another version
 */
export async function writeEntry(
  storeId: string,
  key: string,
  text: string,
  version: number,
  seconds: number | null,
): Promise<void> {
  const write = { key, value: new RawJson(text), ...(seconds === null ? {} : { ttl: seconds }) };
  await request("POST", `/datastore/${storeId}/transactions`, {
    body: { reads: [{ key, version }], writes: [write] },
    headers: once(),
  });
}

/** Deletes an entry if it still has the version; Problem 409 otherwise. */
export async function deleteEntry(storeId: string, key: string, version: number): Promise<void> {
  await request("POST", `/datastore/${storeId}/transactions`, {
    body: { reads: [{ key, version }], writes: [{ key, delete: true }] },
    headers: once(),
  });
}

/** A key for display: control characters get visible symbols. */
export const shownKey = (key: string): string =>
  key.replace(/[\u0000-\u001f\u007f]/g, (c) =>
    c === "\u007f" ? "\u2421" : String.fromCharCode(0x2400 + c.charCodeAt(0)),
  );
