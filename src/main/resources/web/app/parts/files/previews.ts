import { parseExactly, requestBytes } from "../../core/api";
import type { Json } from "../../core/types";
import { text } from "../../text/parts/files";
import { delimiterOf, parseCsv } from "./csv";
import { mediaType, previewKind, type Previewed } from "./kinds";
import { readParquet } from "./parquet";
import { COLUMNS, ROWS, type Table } from "./table";

/** What is read of a text, in bytes. */
const TEXT_BYTES = 64 * 1024;
const IMAGE_BYTES = 20 * 1024 * 1024;
/** A drawing is text, and its address contains it. */
const SVG_BYTES = 2 * 1024 * 1024;

/** What can be shown of a file. The page revokes the address of an image that begins with "blob:". */
export type Preview =
  | { kind: "image"; url: string }
  | { kind: "text"; text: string; note: string }
  | { kind: "json"; value: Json }
  | { kind: "table"; table: Table }
  | { kind: "message"; message: string };

const message = (text: string): Preview => ({ kind: "message", message: text });

/** Reads as much of a file as is shown; throws Problems. */
export async function previewOf(file: Previewed, signal: AbortSignal): Promise<Preview> {
  const kind = previewKind(file);
  if (file.size_bytes === 0) {
    return message(text.preview.empty);
  }
  if (kind === "parquet") {
    const read = await readParquet(file, signal);
    return typeof read === "string" ? message(read) : { kind: "table", table: read };
  }
  return kind === "image" ? image(file, signal) : textual(file, kind, signal);
}

async function image(file: Previewed, signal: AbortSignal): Promise<Preview> {
  const type = mediaType(file);
  const isDrawing = type === "image/svg+xml";
  const limit = isDrawing ? SVG_BYTES : IMAGE_BYTES;
  if (file.size_bytes > limit) {
    return message(text.preview.tooLarge(limit));
  }
  const bytes = await requestBytes(file.address, 0, file.size_bytes, signal);
  const blob = new Blob([bytes], { type });
  // A drawing may contain scripts. An <img> runs none; opened in a tab of its own, a blob would be a page of the
  // dashboard's origin, a data: address is not.
  return { kind: "image", url: isDrawing ? await dataUrl(blob) : URL.createObjectURL(blob) };
}

const dataUrl = (blob: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error!);
    reader.readAsDataURL(blob);
  });

async function textual(file: Previewed, kind: string | null, signal: AbortSignal): Promise<Preview> {
  const size = file.size_bytes;
  const isWhole = size <= TEXT_BYTES;
  const shown = Math.min(size, TEXT_BYTES);
  const bytes = await requestBytes(file.address, 0, shown, signal);
  // A character that the end cuts is left out.
  const content = new TextDecoder().decode(bytes, { stream: !isWhole });
  if (content.includes("\0")) {
    return message(text.preview.notText);
  }
  if (kind === "csv" || kind === "tsv") {
    const delimiter = kind === "tsv" ? "\t" : delimiterOf(content);
    return { kind: "table", table: csvTable(content, delimiter, isWhole) };
  }
  const value = kind === "json" && isWhole ? jsonOf(content) : undefined;
  return value === undefined
    ? { kind: "text", text: content, note: isWhole ? "" : text.preview.beginning(shown, size) }
    : { kind: "json", value };
}

function jsonOf(content: string): Json | undefined {
  try {
    return parseExactly(content);
  } catch {
    return undefined;
  }
}

/** The first row has the names of the columns. */
export function csvTable(content: string, delimiter: string, isWhole: boolean): Table {
  const { rows, more } = parseCsv(content, delimiter, isWhole, 1 + ROWS);
  const [names = [], ...data] = rows;
  const width = rows.reduce((widest, row) => Math.max(widest, row.length), 0);
  const columns = Array.from({ length: Math.min(width, COLUMNS) }, (_, i) => ({ name: names[i] ?? "" }));
  return {
    columns,
    rows: data,
    notes: [
      more ? text.preview.firstRows(data.length) : text.preview.rows(data.length),
      ...(width > COLUMNS ? [text.preview.columns(COLUMNS, width)] : []),
    ],
  };
}
