import { html, nothing, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import { onSignedOut, Problem } from "../core/api";
import { live } from "../core/live";
import { asProblem } from "../core/load";
import { hasFreshPageToken, onOthersPageToken } from "../core/page-token";
import { pause } from "../core/pause";
import { visited } from "../core/recent";
import { router, type Match } from "../core/router";
import { signedIn } from "../core/session";
import { keysText, offer, startShortcuts } from "../core/shortcuts";
import { applyTheme } from "../core/theme";
import "../parts/approvals/approvals";
import "../parts/issues/issues";
import { toast } from "../parts/page/dialogs";
import { offerRowKeys } from "../parts/page/row-keys";
import { problemNotice } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { symbol } from "../parts/page/shapes";
import { common } from "../text/common";
import { text } from "../text/shell";
import { openHelp } from "./help";
import { openPalette } from "./palette";
import { routes } from "./routes";
import "./sign-in";

const NAVIGATION = [
  ["/", text.pages.overview, "g o"],
  ["/agents", text.pages.agents, "g a"],
  ["/executions", text.pages.executions, "g e"],
  ["/search", text.pages.searchLogs, "g l"],
  ["/approvals", text.pages.approvals, "g p"],
  ["/issues", text.pages.issues, "g i"],
  ["/builds", text.pages.builds, "g b"],
  ["/rollouts", text.pages.rollouts, "g r"],
  ["/schedules", text.pages.schedules, "g s"],
  ["/stores", text.pages.stores, "g d"],
  ["/notifications", text.pages.notifications, "g n"],
  ["/webhooks", text.pages.webhooks, "g w"],
  ["/keys", text.pages.keys, "g k"],
  ["/settings", text.pages.settings, "g t"],
] as const;

/** What is shown beside an entry of the navigation. */
const COUNTS: Record<string, TemplateResult> = {
  "/approvals": html`<approval-count class="count"></approval-count>`,
  "/issues": html`<issue-count class="count"></issue-count>`,
};

/** Pages of the navigation that others belong to. */
const ELSEWHERE: Record<string, string> = {
  create: "/agents",
  templates: "/agents",
  "executor-jobs": "/executions",
};

const FAILED = "/executions?q=state%3Afailed%2Ctimed_out%2Clost+since%3A24h";

const RETRY = 500;
/** Milliseconds until the next attempt while Roost can't be reached. */
const UNREACHABLE_RETRY = 3_000;

/** The dashboard: navigation and a page, or the sign-in. */
@customElement("roost-app")
export class App extends Part {
  @state() private status: "starting" | "unreachable" | "signed-out" | "signed-in" | "linked" = "starting";
  @state() private content: unknown = nothing;
  /** Why there is no session. */
  @state() private problem: Problem | null = null;
  @state() private menuOpen = false;
  private shown = "";
  /** The code of the page could not be loaded. */
  private missing = false;

  override connectedCallback(): void {
    this.replaceChildren(); // The document's text while the code loads.
    super.connectedCallback();
    applyTheme();
    router.start();
    router.onMove(() => void this.show());
    live.onConnection(() => {
      this.requestUpdate();
      if (this.missing && live.connection === "open") {
        void this.show();
      }
    });
    onSignedOut(() => this.signedOut());
    onOthersPageToken(() => void this.resume());
    startShortcuts();
    offerRowKeys();
    offer(
      ...NAVIGATION.map(([path, title, keys]) => ({
        title: text.commands.goTo(title),
        keys,
        group: text.commands.navigation,
        run: () => void router.go(path),
      })),
      { title: text.commands.failedExecutions, run: () => void router.go(FAILED) },
      { title: text.commands.browseTemplates, run: () => void router.go("/templates") },
      {
        title: text.commands.createAgent,
        keys: "c",
        group: text.commands.navigation,
        run: () => void router.go("/create"),
      },
      {
        title: text.commands.searchEverything,
        keys: "mod+k",
        group: text.commands.general,
        run: () => void openPalette(),
      },
      { title: text.commands.searchPage, keys: "/", group: text.commands.general, run: () => this.search() },
      {
        title: text.commands.showShortcuts,
        keys: "?",
        group: text.commands.general,
        run: () => void openHelp(),
      },
      { title: text.commands.signOut, group: text.commands.general, run: () => void this.signOut() },
    );
    void this.begin();
  }

  private async begin(): Promise<void> {
    const address = new URL(location.href);
    const token = address.searchParams.get("token");
    if (location.pathname === "/login" && token) {
      // Removed from the address and the history before any other request.
      address.searchParams.delete("token");
      history.replaceState(null, "", address.pathname + address.search);
      await signedIn.signIn({ token }).catch((e: unknown) => (this.problem = asProblem(e)));
    }
    if (location.pathname === "/approve") {
      await import("./linked-approval");
      this.status = "linked";
      return;
    }
    await this.restore();
  }

  /** Shows the page of the address again when another tab has signed in. */
  private async resume(): Promise<void> {
    if (this.status === "signed-out" && hasFreshPageToken()) {
      await this.restore();
    }
  }

  private async restore(): Promise<void> {
    try {
      if (signedIn.session !== null || (await signedIn.find())) {
        this.enter();
      } else {
        this.status = "signed-out";
      }
    } catch (e) {
      this.problem = asProblem(e);
      this.status = "unreachable";
      setTimeout(() => this.status === "unreachable" && void this.restore(), UNREACHABLE_RETRY);
    }
  }

  private enter(): void {
    this.status = "signed-in";
    this.problem = null;
    this.shown = "";
    if (location.pathname === "/login") {
      const to = new URL(location.href).searchParams.get("to") ?? "/";
      history.replaceState(null, "", to.startsWith("/") && !to.startsWith("//") ? to : "/");
    }
    void this.show();
  }

  private signedOut(): void {
    if (this.status === "signed-in") {
      this.problem = new Problem(401, "unauthenticated", text.signedOut, text.sessionEnded);
    }
    live.stop();
    signedIn.session = null;
    this.status = "signed-out";
    void this.resume(); // The other tab may have stored its token since the request was sent.
  }

  private async signOut(): Promise<void> {
    try {
      await signedIn.signOut();
    } catch (e) {
      toast(text.stillSignedIn(asProblem(e).message), { failed: true });
      return;
    }
    this.status = "signed-out";
    this.problem = null;
    history.replaceState(null, "", "/login");
  }

  /** Shows the page of the address; the one before stays until its code is there. */
  private async show(): Promise<void> {
    const match = router.match(routes);
    const path = location.pathname;
    this.menuOpen = false;
    if (path !== this.shown) {
      this.remember(); // Now, since the search may be opened before the code is there.
    }
    if (!match) {
      this.content = html`<div>
        <div class="page-head"><h1>${text.pageNotFound}</h1></div>
        <p>${text.noPageAt(path)} <a href="/">${text.goToOverview}</a></p>
      </div>`;
    } else {
      try {
        // Retried: browsers abort requests when the machine's network changes.
        const page = await match.route.page().catch(() => pause(RETRY).then(match.route.page));
        if (path !== location.pathname) {
          return;
        }
        this.content = page(match.parameters);
        this.missing = false;
      } catch (e) {
        // After an upgrade the old files are gone.
        this.content = problemNotice(asProblem(e), () => location.reload());
        this.missing = true;
      }
    }
    this.announce(match);
  }

  /** Sets the title for screen readers, and focuses the new page. */
  private announce(match: Match | null): void {
    if (this.shown === location.pathname) {
      return;
    }
    const first = this.shown === "";
    this.shown = location.pathname;
    document.title = text.tabTitle(match?.route.title ?? text.pages.notFound);
    if (!first) {
      void this.updateComplete.then(() => this.querySelector<HTMLElement>("main")?.focus());
    }
  }

  /** Keeps the page that is left for the palette, if it is one of an agent, an execution or the like. */
  private remember(): void {
    const title = this.querySelector("main h1")?.textContent?.trim();
    if (title && this.shown.split("/").length > 2) {
      visited(this.shown, title);
    }
  }

  private search(): void {
    this.querySelector<HTMLElement>("main input[type=search]")?.focus();
  }

  override render(): unknown {
    if (this.status === "starting") {
      return html`<p class="skeleton" aria-busy="true">${common.loading}</p>`;
    }
    if (this.status === "linked") {
      return html`<linked-approval></linked-approval>`;
    }
    if (this.status === "unreachable") {
      return html`<main class="sign-in">${problemNotice(this.problem, () => location.reload())}</main>`;
    }
    if (this.status === "signed-out") {
      return html`<sign-in .problem=${this.problem} @signed-in=${() => this.enter()}></sign-in>`;
    }
    return html`<a class="skip" href="#main">${text.skip}</a>
      <div class="shell">
        ${this.side()}
        <div class="page">
          ${this.connectionBar()}
          <main id="main" tabindex="-1">${this.content}</main>
        </div>
      </div>`;
  }

  private side(): TemplateResult {
    return html`<header class="side ${this.menuOpen ? "open" : ""}">
      <div class="row brand">
        <a class="logo" href="/"
          ><img src="/static/icon.svg" alt="" width="24" height="24" /><strong>${text.roost}</strong></a
        >
        <button
          class="quiet menu-button"
          aria-expanded=${this.menuOpen}
          aria-controls="navigation"
          @click=${() => (this.menuOpen = !this.menuOpen)}
        >
          ${symbol("menu")} ${text.menu}
        </button>
      </div>
      <nav id="navigation" aria-label=${text.navigation}>
        <button class="find" @click=${() => void openPalette()}>
          <span class="grow">${text.search}</span><kbd>${keysText("mod+k")}</kbd>
        </button>
        <ul>
          ${NAVIGATION.map(
            ([path, title]) =>
              html`<li>
                <a href=${path} aria-current=${this.isHere(path) ? "page" : nothing}
                  >${title}${COUNTS[path] ?? nothing}</a
                >
              </li>`,
          )}
        </ul>
        <div class="foot">
          <a href="/help/" target="_blank" rel="noopener">${text.help}</a>
          <a href="/docs/" target="_blank" rel="noopener">${text.apiReference}</a>
          <button class="quiet" @click=${() => void openHelp()}>${text.openShortcuts}</button>
          <button class="quiet" title=${text.signedInWith(signedIn.session?.key.name)} @click=${this.signOut}>
            ${text.signOut}
          </button>
          <span class="faint small"
            >${text.runtime(signedIn.runtime?.kind)}<br />${text.version(signedIn.runtime?.version)}</span
          >
        </div>
      </nav>
    </header>`;
  }

  private isHere(path: string): boolean {
    const here = ELSEWHERE[location.pathname.split("/")[1]!] ?? location.pathname;
    return path === "/" ? here === "/" : here === path || here.startsWith(path + "/");
  }

  private connectionBar(): unknown {
    return html`<div role="status" class="connection">
      ${live.connection === "lost" ? html`<p>${symbol("warning")} ${text.connectionLost}</p>` : nothing}
    </div>`;
  }
}
