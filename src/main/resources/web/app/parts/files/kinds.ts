import type { StoredFile } from "../../core/types";

/** A file, and where the API serves its content: an address that begins after /v1. */
export type Previewed = Pick<StoredFile, "name" | "content_type" | "size_bytes"> & { address: string };

/** A file of a job, with its address. */
export const storedContent = (file: StoredFile): Previewed => ({
  ...file,
  address: `/files/${file.id}/content`,
});

/** How a file can be shown. */
export type PreviewKind = "image" | "text" | "json" | "csv" | "tsv" | "parquet";

const IMAGES = ["png", "jpeg", "gif", "webp", "avif", "svg+xml"].map((type) => `image/${type}`);
const PARQUET = ["application/vnd.apache.parquet", "application/x-parquet"];
/** Types of text beside text/*. */
const TEXTS = [
  ...["xml", "yaml", "x-yaml", "toml", "javascript", "ecmascript", "sql", "x-sh", "x-python"],
  ...["x-ndjson", "ndjson", "jsonl", "jsonlines", "graphql", "x-httpd-php", "x-tex", "rtf"],
].map((type) => `application/${type}`);
/** The type of an archive's name is often that of its content. */
const COMPRESSED = /\.(gz|bz2|xz|zst|br|z|lz4)$/;
/** The types that programs give files which they don't know. */
const VAGUE = ["application/octet-stream", "text/plain", "binary/octet-stream"];

/** The media type without parameters. */
export const mediaType = ({ content_type }: Pick<StoredFile, "content_type">): string =>
  content_type.split(";")[0]!.trim().toLowerCase();

/** How a file can be shown, by its media type and its name; null: not at all. */
export function previewKind(file: Pick<StoredFile, "name" | "content_type">): PreviewKind | null {
  const type = mediaType(file);
  const name = file.name.toLowerCase();
  if (COMPRESSED.test(name)) {
    return null;
  }
  if (PARQUET.includes(type) || name.endsWith(".parquet")) {
    return "parquet";
  }
  if (IMAGES.includes(type)) {
    return "image";
  }
  const isVague = VAGUE.includes(type);
  if (type === "text/csv" || type === "application/csv" || (isVague && name.endsWith(".csv"))) {
    return "csv";
  }
  if (type === "text/tab-separated-values" || (isVague && name.endsWith(".tsv"))) {
    return "tsv";
  }
  if (type === "application/json" || type.endsWith("+json") || (isVague && name.endsWith(".json"))) {
    return "json";
  }
  return type.startsWith("text/") || type.endsWith("+xml") || TEXTS.includes(type) ? "text" : null;
}
