import { text } from "../text/core";
import { Problem, request } from "./api";
import type { StoredFile } from "./types";

/** The size of all parts but the last, which the API sets. */
const PART_BYTES = 4 << 20;

/**
 * Stores a file, part after part, and returns its ID; throws Problems.
 *
 * @param progress is called after each part, with the number of bytes that are sent
 */
export async function uploadFile(
  file: File,
  progress: (bytes: number) => void,
  signal?: AbortSignal,
): Promise<string> {
  // A file without parts that a lost answer leaves is deleted a day later.
  const options = { repeatable: true, signal };
  const { id } = await request<StoredFile>("POST", "/files", {
    ...options,
    body: { name: file.name, content_type: file.type || "application/octet-stream" },
  });
  for (let part = 0; part * PART_BYTES < file.size; part++) {
    const end = Math.min(file.size, (part + 1) * PART_BYTES);
    await request("PUT", `/files/${id}/parts/${part}`, {
      ...options,
      blob: await read(file.slice(part * PART_BYTES, end)),
      headers: { "Content-Type": "application/octet-stream" },
    });
    progress(end);
  }
  await request("POST", `/files/${id}/complete`, { ...options, body: { size_bytes: file.size } });
  return id;
}

/** In memory: fetch reports a file that can't be read like a lost connection. */
async function read(part: Blob): Promise<Blob> {
  try {
    return new Blob([await part.arrayBuffer()]);
  } catch {
    throw new Problem(0, "not_readable", text.fileNotReadable, text.fileChanged);
  }
}
