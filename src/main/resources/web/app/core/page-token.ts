import { pause } from "./pause";

/**
 * The second secret of the session. Browsers send the session's cookie to every port of this host, where
 * other programs may listen; localStorage belongs to this origin alone, its port included. All tabs share it.
 */
const NAME = "roost-page-token";
const HEADER = "Roost-Page-Token";

/** A tab that signs in has the cookie before it has stored its token. */
const SIGN_IN_MILLISECONDS = 300;

/** Used when the storage is full. */
let unstored: string | null = null;

/** The token that the server refused last. */
let refused: string | null = null;

export const pageToken = (): string | null => localStorage.getItem(NAME) ?? unstored;

export function keepPageToken(token: string): void {
  dropPageToken();
  try {
    localStorage.setItem(NAME, token);
  } catch {
    unstored = token;
  }
}

export function dropPageToken(): void {
  localStorage.removeItem(NAME);
  unstored = null;
}

/** Whether there is a token that the server hasn't refused. */
export const hasFreshPageToken = (): boolean => pageToken() !== null && pageToken() !== refused;

/** Calls the listener when another tab has stored a token: somebody has signed in there. */
export function onOthersPageToken(listener: () => void): void {
  addEventListener("storage", ({ key, newValue }) => {
    if (key === NAME && newValue !== null) {
      listener();
    }
  });
}

/** Fetches with the page token, and retries once after a 401 with a newer token of another tab. */
export async function fetchSigned(url: string, init: RequestInit): Promise<Response> {
  const token = pageToken();
  const response = await fetch(url, withToken(init, token));
  if (response.status !== 401 || token === null) {
    return response;
  }
  await pause(SIGN_IN_MILLISECONDS, init.signal ?? undefined);
  refused = token;
  const newer = pageToken();
  if (newer === null || newer === token) {
    return response;
  }
  const retried = await fetch(url, withToken(init, newer));
  if (retried.status === 401) {
    refused = newer;
  }
  return retried;
}

const withToken = (init: RequestInit, token: string | null): RequestInit =>
  token === null
    ? init
    : { ...init, headers: { ...(init.headers as Record<string, string>), [HEADER]: token } };
