import { request, get, once, Problem } from "./api";
import { dropAllDrafts } from "./drafts";
import { live } from "./live";
import { dropPageToken, keepPageToken, pageToken } from "./page-token";
import type { NewSession, Role, Runtime, Session } from "./types";

const ROLES: Role[] = ["read", "execute", "write"];

/** The session and the runtime; known before any page is shown. */
class SignedIn {
  session: Session | null = null;
  runtime: Runtime | null = null;

  /** Restores the session of this browser, if it exists; throws other Problems. */
  async find(): Promise<boolean> {
    if (pageToken() === null) {
      return false;
    }
    try {
      await this.begin(await get<Session>("/session"));
      return true;
    } catch (e) {
      if (e instanceof Problem && e.status === 401) {
        return false;
      }
      throw e;
    }
  }

  /** Signs in with a key or a one-time token; throws the Problem. */
  async signIn(credentials: { key: string } | { token: string }): Promise<void> {
    const session = await request<NewSession>("POST", "/session", { body: credentials, headers: once() });
    keepPageToken(session.page_token);
    await this.begin(session);
  }

  /** Ends the session; throws the Problem when it may not have ended. */
  async signOut(): Promise<void> {
    await request("DELETE", "/session", { repeatable: true });
    live.stop();
    dropPageToken();
    dropAllDrafts();
    this.session = null;
  }

  may(role: Role): boolean {
    return this.session !== null && ROLES.indexOf(this.session.key.role) >= ROLES.indexOf(role);
  }

  private async begin(session: Session): Promise<void> {
    this.runtime = await get<Runtime>("/runtime");
    this.session = session;
    live.start();
  }
}

export const signedIn = new SignedIn();
