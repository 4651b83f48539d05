import type { TemplateResult } from "lit";

export type Parameters = Record<string, string>;

export interface Route {
  /** For example "/agents/:id"; ":tab?" may be missing. */
  path: string;
  title: string;
  /** Loads the page's code; returns how to render it. */
  page: () => Promise<(parameters: Parameters) => TemplateResult>;
}

export interface Match {
  route: Route;
  parameters: Parameters;
}

/** Whether the page may be left for another address. */
type Leaving = (to: URL) => boolean | Promise<boolean>;

/** Chooses the page by the address, and handles clicks on links to other pages. */
class Router {
  private readonly listeners = new Set<() => void>();
  private readonly guards = new Set<Leaving>();
  private current = location.href;

  start(): void {
    document.addEventListener("click", (event) => this.take(event));
    window.addEventListener("popstate", () => void this.moved());
  }

  /** Calls the listener after each change of the address; returns a function that unsubscribes. */
  onMove(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Calls the guard before the page is left; returns a function that removes it. */
  guard(leaving: Leaving): () => void {
    this.guards.add(leaving);
    return () => this.guards.delete(leaving);
  }

  /** Goes to an address of this dashboard, unless a guard refuses. */
  async go(to: string, { replace = false } = {}): Promise<void> {
    const target = new URL(to, location.href);
    if (target.pathname !== location.pathname && !(await this.mayLeave(target))) {
      return;
    }
    history[replace ? "replaceState" : "pushState"](null, "", target);
    this.arrived(!replace);
  }

  /** Changes the query of this page without a history entry. */
  query(changes: Record<string, string | null | undefined>): void {
    const target = new URL(location.href);
    for (const [name, value] of Object.entries(changes)) {
      if (value) {
        target.searchParams.set(name, value);
      } else {
        target.searchParams.delete(name);
      }
    }
    history.replaceState(null, "", target);
    this.arrived(false);
  }

  match(routes: Route[], path = location.pathname): Match | null {
    for (const route of routes) {
      const parameters = matches(route.path, path);
      if (parameters) {
        return { route, parameters };
      }
    }
    return null;
  }

  private async moved(): Promise<void> {
    const target = location.href;
    if (new URL(this.current).pathname !== location.pathname && this.guards.size) {
      history.pushState(null, "", this.current);
      if (!(await this.mayLeave(new URL(target)))) {
        return;
      }
      history.replaceState(null, "", target);
    }
    this.arrived(false);
  }

  private arrived(toTop: boolean): void {
    const samePath = new URL(this.current).pathname === location.pathname;
    this.current = location.href;
    this.listeners.forEach((listener) => listener());
    if (toTop && !samePath) {
      window.scrollTo(0, 0);
    }
  }

  private async mayLeave(to: URL): Promise<boolean> {
    for (const guard of this.guards) {
      if (!(await guard(to))) {
        return false;
      }
    }
    return true;
  }

  private take(event: MouseEvent): void {
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    const link = event.composedPath().find((node) => node instanceof HTMLAnchorElement);
    if (!plain || event.defaultPrevented || !link || link.target || link.hasAttribute("download")) {
      return;
    }
    const target = new URL(link.href, location.href);
    if (target.origin !== location.origin || isElsewhere(target.pathname)) {
      return;
    }
    if (target.pathname === location.pathname && target.hash && target.search === location.search) {
      return;
    }
    event.preventDefault();
    void this.go(target.href);
  }
}

/** Paths of the server outside the dashboard. */
const isElsewhere = (path: string) => /^\/(v1|docs|help|openapi|q|static)(\/|$)/.test(path);

function matches(pattern: string, path: string): Parameters | null {
  const wanted = pattern.split("/").filter(Boolean);
  const given = path.split("/").filter(Boolean);
  const parameters: Parameters = {};
  if (given.length > wanted.length) {
    return null;
  }
  for (const [i, part] of wanted.entries()) {
    const value = given[i];
    if (part.startsWith(":")) {
      if (value === undefined && !part.endsWith("?")) {
        return null;
      }
      parameters[part.replace(/[:?]/g, "")] = value === undefined ? "" : decodeURIComponent(value);
    } else if (part !== value) {
      return null;
    }
  }
  return parameters;
}

export const router = new Router();

/** The value of a parameter of the address's query, or "". */
export const queried = (name: string): string => new URL(location.href).searchParams.get(name) ?? "";
