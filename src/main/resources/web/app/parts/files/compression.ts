import { text } from "../../text/parts/files";

/** As in src/main/scripts/npm_packages.py, which brings the files. */
export const COMPRESSORS_VERSION = "1.1.2";
export const FZSTD_VERSION = "0.1.1";

/** Gives the uncompressed bytes of a page, whose number is known; throws Errors. */
export type Decompress = (input: Uint8Array, length: number) => Uint8Array;

type Module = Record<string, (input: Uint8Array, output: Uint8Array | number) => Uint8Array>;

const COMPRESSORS = `/static/hyparquet-compressors/${COMPRESSORS_VERSION}`;

/** The modules and functions of the codecs that hyparquet doesn't have. "buffer": they fill one that they get. */
const CODECS: Record<string, [address: string, name: string, gets: "buffer" | "length"]> = {
  BROTLI: [`${COMPRESSORS}/brotli.js`, "decompressBrotli", "length"],
  GZIP: [`${COMPRESSORS}/gzip.js`, "gunzip", "buffer"],
  LZ4: [`${COMPRESSORS}/lz4.js`, "decompressLz4", "length"],
  LZ4_RAW: [`${COMPRESSORS}/lz4.js`, "decompressLz4Raw", "length"],
  ZSTD: [`/static/fzstd/${FZSTD_VERSION}/index.mjs`, "decompress", "buffer"],
};
const BUILT_IN = ["UNCOMPRESSED", "SNAPPY"];

/** Loads what these codecs need; or the first of them that can't be read. */
export async function decompressors(
  codecs: Iterable<string>,
  mostBytes: number,
): Promise<Record<string, Decompress> | string> {
  const found: Record<string, Decompress> = {};
  for (const codec of codecs) {
    if (BUILT_IN.includes(codec)) {
      continue;
    }
    const [address = "", name = "", gets] = CODECS[codec] ?? [];
    const module = await loaded(address);
    if (!module) {
      return codec;
    }
    found[codec] = (input, length) => {
      // A page's header can say anything.
      if (length > mostBytes) {
        throw new Error(text.preview.pageTooLarge);
      }
      return module[name]!(input, gets === "buffer" ? new Uint8Array(length) : length);
    };
  }
  return found;
}

/** A module, by an address that the bundler doesn't know; null if there is none. */
async function loaded(address: string): Promise<Module | null> {
  try {
    return address ? ((await import(address)) as Module) : null;
  } catch {
    return null;
  }
}
