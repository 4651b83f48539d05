import { get, url } from "../../core/api";
import type { BundleFile } from "../../core/types";
import { mediaType, type Previewed } from "./kinds";

/** The files of a bundle, sorted by their paths. */
export const filesOf = async (bundleId: string, signal?: AbortSignal): Promise<BundleFile[]> =>
  (await get<{ files: BundleFile[] }>(`/bundles/${bundleId}/manifest`, {}, signal)).files;

/** A directory with what is in it, or a file. */
export interface Branch {
  name: string;
  /** Null: a directory. */
  file: BundleFile | null;
  branches: Branch[];
  /** How many files are in it, at any depth. */
  count: number;
}

/** The files as a tree: directories first, each by name. */
export function treeOf(files: readonly BundleFile[]): Branch[] {
  const root = directory("");
  for (const file of files) {
    const names = file.path.split("/");
    let at = root;
    for (const name of names.slice(0, -1)) {
      let next = at.branches.find((branch) => branch.name === name && !branch.file);
      if (!next) {
        next = directory(name);
        at.branches.push(next);
      }
      next.count += 1;
      at = next;
    }
    at.branches.push({ name: names.at(-1)!, file, branches: [], count: 1 });
  }
  return sorted(root.branches);
}

const directory = (name: string): Branch => ({ name, file: null, branches: [], count: 0 });

const sorted = (branches: Branch[]): Branch[] =>
  branches
    .map((branch) => ({ ...branch, branches: sorted(branch.branches) }))
    .sort((one, other) => Number(!!one.file) - Number(!!other.file) || (one.name < other.name ? -1 : 1));

/** How a file differs between two bundles; null: the bundle hasn't got it. */
export interface FileChange {
  path: string;
  from: BundleFile | null;
  to: BundleFile | null;
}

/** The files that differ, by path. */
export function changesBetween(from: readonly BundleFile[], to: readonly BundleFile[]): FileChange[] {
  const before = new Map(from.map((file) => [file.path, file]));
  const after = new Map(to.map((file) => [file.path, file]));
  return [...new Set([...before.keys(), ...after.keys()])]
    .sort()
    .map((path) => ({ path, from: before.get(path) ?? null, to: after.get(path) ?? null }))
    .filter(
      (change) =>
        change.from?.sha256 !== change.to?.sha256 || change.from?.executable !== change.to?.executable,
    );
}

/** Types by the ends of names, for those that a preview can show. */
const TYPES: Record<string, string> = {
  ...Object.fromEntries(["png", "gif", "webp", "avif", "jpeg"].map((end) => [end, `image/${end}`])),
  jpg: "image/jpeg",
  svg: "image/svg+xml",
  csv: "text/csv",
  tsv: "text/tab-separated-values",
  json: "application/json",
  parquet: "application/vnd.apache.parquet",
};

/** Names that end like this are never text. */
const BINARY =
  /\.(so|pyd|dll|whl|zip|gz|bz2|xz|zst|7z|tar|pkl|npy|npz|pt|onnx|bin|db|sqlite3?|pdf|xlsx?|docx?)$/i;

/** A file of a bundle, as a preview reads it. A file of an unknown type may be text. */
export function bundleContent(bundleId: string, { path, size_bytes }: BundleFile): Previewed {
  const name = path.split("/").at(-1)!;
  const end = name.split(".").at(-1)!.toLowerCase();
  const content_type = TYPES[end] ?? (BINARY.test(name) ? "application/octet-stream" : "text/plain");
  const address = url(`/bundles/${bundleId}/content`, { path }).replace(/^\/v1/, "");
  return { name, content_type, size_bytes, address };
}

/** Whether it can be shown, or only downloaded. */
export const isShown = (file: Previewed): boolean => mediaType(file) !== "application/octet-stream";
