import { Problem, requestBytes } from "../../core/api";
import { text } from "../../text/parts/files";
import { decompressors, type Decompress } from "./compression";
import type { Previewed } from "./kinds";
import { cellText, isNumber, PARSERS, typeOf, type SchemaTree } from "./parquet-values";
import { COLUMNS, ROWS, type Table } from "./table";

/** As in src/main/scripts/npm_packages.py, which brings the files. */
export const HYPARQUET_VERSION = "1.33.0";

const ADDRESS = `/static/hyparquet/${HYPARQUET_VERSION}/index.js`;
const MIB = 1024 * 1024;
/** The most that is read of a file, in bytes. */
const MOST_BYTES = 32 * MIB;
/** The most memory that the rows may take. */
const MOST_MEMORY = 128 * MIB;
/** Of a column with an index of its pages, only those with the rows are read. */
const PAGE_BYTES = MIB;

interface Chunk {
  offset_index_length?: number;
  meta_data?: {
    path_in_schema: string[];
    codec: string;
    total_compressed_size: bigint;
    total_uncompressed_size: bigint;
  };
}

interface Metadata {
  num_rows: bigint;
  row_groups: { num_rows: bigint; columns: Chunk[] }[];
}

interface Source {
  byteLength: number;
  slice(start: number, end?: number): Promise<ArrayBuffer>;
}

interface Options {
  file: Source;
  parsers: typeof PARSERS;
  geoparquet: false;
}

/** What the dashboard uses of hyparquet, https://github.com/hyparam/hyparquet. */
interface Hyparquet {
  parquetMetadataAsync(file: Source, options: Omit<Options, "file">): Promise<Metadata>;
  parquetSchema(metadata: Metadata): SchemaTree;
  parquetRead(
    options: Options & {
      metadata: Metadata;
      columns: string[];
      rowEnd: number;
      compressors: Record<string, Decompress>;
      utf8: false;
      useOffsetIndex: true;
      onComplete(rows: unknown[][]): void;
    },
  ): Promise<void>;
}

/** The first rows of a Parquet file, or why they can't be shown; throws Problems. */
export async function readParquet(file: Previewed, signal: AbortSignal): Promise<Table | string> {
  const library = await loaded(ADDRESS);
  if (typeof library === "string") {
    return library;
  }
  const options: Options = { file: source(file, signal), parsers: PARSERS, geoparquet: false };
  let metadata: Metadata;
  let columns: SchemaTree[];
  try {
    metadata = await library.parquetMetadataAsync(options.file, options);
    columns = library.parquetSchema(metadata).children;
  } catch (e) {
    throwOthers(e, signal);
    return text.preview.notParquet;
  }
  if (!columns.length) {
    return text.preview.noColumns;
  }
  try {
    return await rowsOf(library, options, metadata, columns);
  } catch (e) {
    throwOthers(e, signal);
    const why = e instanceof Error ? e.message : String(e);
    return tableOf(columns.slice(0, COLUMNS), [], [text.preview.notRead(why.replace(/^parquet /, ""))]);
  }
}

/** The library, by an address that the bundler doesn't know; or why there is none. */
async function loaded(address: string): Promise<Hyparquet | string> {
  try {
    return (await import(address)) as Hyparquet;
  } catch {
    const { status } = await fetch(address, { method: "HEAD" }).catch(() => ({ status: 0 }));
    return status === 404 ? text.preview.noParquet : text.preview.notLoaded;
  }
}

/** Anything that isn't about the content of the file. */
function throwOthers(e: unknown, signal: AbortSignal): void {
  if (e instanceof Problem || signal.aborted) {
    throw e;
  }
}

/** The bytes of a file, by one request at a time. */
function source({ address, size_bytes: size }: Previewed, signal: AbortSignal): Source {
  let last: Promise<unknown> = Promise.resolve();
  return {
    byteLength: size,
    slice(start, end = size) {
      if (start < 0 || end > size || end < start) {
        return Promise.reject(new Error(text.preview.beyondEnd));
      }
      if (end - start > MOST_BYTES) {
        return Promise.reject(new Error(text.preview.tooManyBytes(MOST_BYTES)));
      }
      const read =
        start === end
          ? Promise.resolve(new ArrayBuffer(0))
          : last.then(() => requestBytes(address, start, end, signal));
      last = read.catch(() => undefined);
      return read;
    },
  };
}

async function rowsOf(
  library: Hyparquet,
  options: Options,
  metadata: Metadata,
  columns: SchemaTree[],
): Promise<Table> {
  const total = Number(metadata.num_rows);
  const shown = columns.slice(0, COLUMNS);
  const chunks = chunksOf(metadata);
  const codecs = new Set(chunks.flatMap(({ meta_data: data }) => data?.codec ?? []));
  const compressors = await decompressors(codecs, MOST_MEMORY);
  if (typeof compressors === "string") {
    return tableOf(shown, [], [text.preview.rows(total), text.preview.codec(compressors)]);
  }
  const read = shown.slice(0, affordable(chunks, shown));
  if (!read.length) {
    return tableOf(shown, [], [text.preview.rows(total), text.preview.rowsTooLarge(MOST_BYTES)]);
  }
  let rows: unknown[][] = [];
  await library.parquetRead({
    ...options,
    metadata,
    columns: read.map(({ element }) => element.name),
    rowEnd: ROWS,
    compressors,
    utf8: false,
    useOffsetIndex: true,
    onComplete: (all) => (rows = all),
  });
  const notes = [
    rows.length < total ? text.preview.firstOf(rows.length, total) : text.preview.rows(total),
    ...(read.length < columns.length ? [text.preview.columns(read.length, columns.length)] : []),
  ];
  return tableOf(read, rows, notes);
}

/** The parts of the file that have the first rows. */
function chunksOf({ row_groups: groups }: Metadata): Chunk[] {
  const chunks: Chunk[] = [];
  let rows = 0;
  for (const group of groups) {
    if (rows >= ROWS) {
      break;
    }
    rows += Number(group.num_rows);
    chunks.push(...group.columns);
  }
  return chunks;
}

/** How many columns can be read within the limits. */
function affordable(chunks: Chunk[], columns: SchemaTree[]): number {
  let bytes = 0;
  let memory = 0;
  const beyond = columns.findIndex(({ element }) => {
    for (const { meta_data: data, offset_index_length: index } of chunks) {
      if (data?.path_in_schema[0] === element.name) {
        const most = index ? PAGE_BYTES : Infinity;
        bytes += Math.min(most, Number(data.total_compressed_size));
        memory += Math.min(most, Number(data.total_uncompressed_size));
      }
    }
    return bytes > MOST_BYTES || memory > MOST_MEMORY;
  });
  return beyond < 0 ? columns.length : beyond;
}

const tableOf = (columns: SchemaTree[], rows: unknown[][], notes: string[]): Table => ({
  columns: columns.map((column) => ({
    name: column.element.name,
    type: typeOf(column),
    isNumber: isNumber(column),
  })),
  rows: rows.map((row) => columns.map(({ element }, i) => cellText(row[i], element))),
  notes,
});
