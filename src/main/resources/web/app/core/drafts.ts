/** What a person has typed and not sent yet, kept in this browser. */

const PREFIX = "roost-draft:";

export function keepDraft(name: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Full or forbidden: the page still holds it.
  }
}

export function draft<T>(name: string): T | null {
  const text = localStorage.getItem(PREFIX + name);
  try {
    return text === null ? null : (JSON.parse(text) as T);
  } catch {
    return null;
  }
}

export function dropDraft(name: string): void {
  localStorage.removeItem(PREFIX + name);
}

/** Sessions end, and so do drafts: they may hold values of variables. */
export function dropAllDrafts(): void {
  Object.keys(localStorage)
    .filter((key) => key.startsWith(PREFIX))
    .forEach((key) => localStorage.removeItem(key));
}

/** A choice of the reader, for example whether log lines wrap. */
export function preference<T>(name: string, otherwise: T): T {
  const text = localStorage.getItem("roost-preference:" + name);
  return text === null ? otherwise : (JSON.parse(text) as T);
}

export function prefer(name: string, value: unknown): void {
  localStorage.setItem("roost-preference:" + name, JSON.stringify(value));
}
