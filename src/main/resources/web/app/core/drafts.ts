/** Unsaved input, kept in this browser, without the values of variables. */

const PREFIX = "roost-draft:";

/** Storage outlives the session, and every script of the page can read it, so it holds no secrets. */
const withoutSecrets = (key: string, value: unknown): unknown => (key === "env_vars" ? undefined : value);

export function keepDraft(name: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value, withoutSecrets));
  } catch {
    // Full or forbidden: the page still holds it.
  }
}

/** The kept draft, without `env_vars` at any depth. */
export function draft<T>(name: string): T | null {
  const text = localStorage.getItem(PREFIX + name);
  try {
    return text === null ? null : (JSON.parse(text, withoutSecrets) as T);
  } catch {
    return null;
  }
}

export function dropDraft(name: string): void {
  localStorage.removeItem(PREFIX + name);
}

/** Drafts end with the session: the next user of this browser may be somebody else. */
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
