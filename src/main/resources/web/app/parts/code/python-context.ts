import type { PythonSymbol } from "../../core/types";

/** What the editor knows about the environment that a script will run in. */
export interface PythonContext {
  /** For example "3.13". */
  python: string;
  /** The requirements as they are in their editor. */
  requirements: string;
  /** What the latest Build installed; null: there is none. */
  installed: readonly { name: string; version: string }[] | null;
  /** The top-level modules of that Build; null: the Build doesn't know them. */
  modules: readonly string[] | null;
  /** The names of one of its modules; null: it is not known. */
  symbols(module: string): Promise<readonly PythonSymbol[] | null>;
  /** The version to pin; null: none is known. */
  versionOf(name: string): string | null;
}

/** Nothing is known but Python itself. */
export const NO_CONTEXT: PythonContext = {
  python: "3.13",
  requirements: "",
  installed: null,
  modules: null,
  symbols: async () => null,
  versionOf: () => null,
};
