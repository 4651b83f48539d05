import type { ReactiveController, ReactiveControllerHost } from "lit";
import { get } from "../../core/api";
import type { Build, BuildModule, BuildModules, Page, PythonSymbol } from "../../core/types";
import { normalised } from "../code/package-names";
import type { PythonContext } from "../code/python-context";

/** So many of the latest Builds are looked through for versions of packages. */
const BUILDS = 50;

/**
 * What an agent's Build has installed, and which versions of packages other Builds have. Nothing is read before `begin`,
 * and without an answer the checks just know less.
 */
export class Environment implements ReactiveController {
  private begun = false;
  private readId = "";
  private build: Build | null = null;
  private modules: readonly string[] | null = null;
  private read = new Map<string, Promise<readonly PythonSymbol[] | null>>();
  private others: readonly Build[] = [];
  private latest: PythonContext | null = null;

  constructor(
    private readonly host: ReactiveControllerHost,
    private readonly buildId: () => string,
  ) {
    host.addController(this);
  }

  /** Reads what is known; once for each Build. */
  begin(): void {
    if (!this.begun) {
      this.begun = true;
      void this.readOthers();
      void this.readBuild();
    }
  }

  hostUpdate(): void {
    if (this.begun && this.buildId() !== this.readId) {
      void this.readBuild();
    }
  }

  /** Whether a context has all that is known now. */
  isCurrent(context: PythonContext): boolean {
    return context === this.latest;
  }

  /** What is known, for that Python version and these requirements. */
  context(python: string, requirements: string): PythonContext {
    const own = this.build?.python_version === python ? this.build : null;
    const versions = versionsOf([...(own ? [own] : []), ...this.others]);
    this.latest = {
      python,
      requirements,
      installed: own?.packages ?? null,
      modules: own && this.modules,
      symbols: async (module) => (own ? this.symbols(own.id, module) : null),
      versionOf: (name) => versions.get(normalised(name)) ?? null,
    };
    return this.latest;
  }

  private async readBuild(): Promise<void> {
    const id = this.buildId();
    this.readId = id;
    const [build, names] = id
      ? await Promise.all([
          get<Build>(`/builds/${id}`).catch(() => null),
          get<BuildModules>(`/builds/${id}/modules`).catch(() => null),
        ])
      : [null, null];
    if (id === this.readId) {
      this.build = build;
      this.modules = names?.modules ?? null;
      this.read = new Map();
      this.changed();
    }
  }

  /** The names of a module; read once, and again after a failure. */
  private symbols(id: string, module: string): Promise<readonly PythonSymbol[] | null> {
    if (!this.modules?.includes(module.split(".")[0]!)) {
      return Promise.resolve(null);
    }
    const known = this.read;
    const reading =
      known.get(module) ??
      get<BuildModule>(`/builds/${id}/modules/${encodeURIComponent(module)}`).then(
        ({ symbols }) => symbols,
        () => {
          known.delete(module);
          return null;
        },
      );
    known.set(module, reading);
    return reading;
  }

  private async readOthers(): Promise<void> {
    const page = await get<Page<Build>>("/builds", { limit: BUILDS }).catch(() => null);
    this.others = page?.data ?? [];
    this.changed();
  }

  private changed(): void {
    this.latest = null;
    this.host.requestUpdate();
  }
}

/** The version of each package in the first Build that has it. */
function versionsOf(builds: readonly Build[]): Map<string, string> {
  const versions = new Map<string, string>();
  for (const { name, version } of builds.flatMap(({ packages }) => packages)) {
    const key = normalised(name);
    versions.set(key, versions.get(key) ?? version);
  }
  return versions;
}
