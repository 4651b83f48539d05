import { ask, askExactly, askText, toJson } from "./api";
import { RawJson, type Page, type StoreEntry } from "./types";

/** An entry with the exact text of its value. */
export interface EntryText {
  key: string;
  text: string;
  version: number;
  expires_at: string | null;
  updated_at: string;
}

const ATTEMPTS = 5;

/** Reads one entry; null when it is not there (any more). */
export async function readEntry(
  storeId: string,
  key: string,
  signal?: AbortSignal,
): Promise<EntryText | null> {
  for (let attempt = 1; ; attempt++) {
    const query = { prefix: key, start: key, limit: 1 };
    const list = await askExactly<Page<StoreEntry>>("GET", `/datastore/${storeId}/entries`, {
      query,
      signal,
    });
    const entry = list.value.data[0];
    if (entry?.key !== key) {
      return null;
    }
    const { value, ...rest } = entry;
    if (isDots(key)) {
      return { ...rest, text: toJson(value) };
    }
    const path = `/datastore/${storeId}/entries/${encodeURIComponent(key)}`;
    const exact = await askText("GET", path, { signal });
    if (exact.tag === `"${entry.version}"` || attempt === ATTEMPTS) {
      return { ...rest, text: exact.value };
    }
  }
}

/** A browser takes these out of every address, also when they are percent-encoded. */
const isDots = (key: string): boolean => key === "." || key === "..";

/**
 * Stores a value, as the text that it is, if the entry still has the version; 0: if it isn't there.
 * A transaction says so for each key that there may be, while an address can't hold all of them.
 *
 * @param seconds after which the entry is gone; null: never
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
  await ask("POST", `/datastore/${storeId}/transactions`, {
    body: { reads: [{ key, version }], writes: [write] },
  });
}

/** Deletes an entry if it still has the version; Problem 409 otherwise. */
export async function deleteEntry(storeId: string, key: string, version: number): Promise<void> {
  await ask("POST", `/datastore/${storeId}/transactions`, {
    body: { reads: [{ key, version }], writes: [{ key, delete: true }] },
  });
}

/** A key as it can be seen: what has no sign of its own gets one. */
export const shownKey = (key: string): string =>
  key.replace(/[\u0000-\u001f\u007f]/g, (c) =>
    c === "\u007f" ? "\u2421" : String.fromCharCode(0x2400 + c.charCodeAt(0)),
  );
