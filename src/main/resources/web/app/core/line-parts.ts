/** A part of a file that consists of whole lines. */
export interface LinePart {
  blob: Blob;
  /** How many lines of the file are before it. */
  linesBefore: number;
  /** Bytes of the file up to its end. */
  end: number;
}

const LINE_FEED = 10;
/** No line of an import is longer: a value has up to 1 MiB, which as text in JSON may grow sixfold. */
const LONGEST_LINE = 32 << 20;

/** Splits a file into parts of about that many bytes, without reading all of it into memory. */
export async function* lineParts(file: Blob, about: number): AsyncGenerator<LinePart> {
  let start = 0;
  let linesBefore = 0;
  while (start < file.size) {
    let size = about;
    let bytes: Uint8Array;
    let length: number;
    do {
      bytes = new Uint8Array(await file.slice(start, start + size).arrayBuffer());
      length = start + bytes.length === file.size ? bytes.length : bytes.lastIndexOf(LINE_FEED) + 1;
      size *= 2;
    } while (length === 0 && size <= LONGEST_LINE);
    length ||= bytes.length;
    const end = start + length;
    yield { blob: file.slice(start, end), linesBefore, end };
    linesBefore += lineFeeds(bytes.subarray(0, length));
    start = end;
  }
}

function lineFeeds(bytes: Uint8Array): number {
  let found = 0;
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) {
    found++;
  }
  return found;
}

/** Renumbers the lines of a part, in a message of the API, to the lines of the whole file. */
export const aboutWhole = (detail: string, linesBefore: number): string =>
  detail.replace(
    /\b(line |The )(\d+)\b/g,
    (_all, before: string, line: string) => before + (Number(line) + linesBefore),
  );
