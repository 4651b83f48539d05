/** The beginning of a table as text: the fields of its rows. */
export interface CsvRows {
  rows: string[][];
  /** Whether rows follow. */
  more: boolean;
}

/**
 * Parses comma-separated values (RFC 4180), or those with another delimiter. A line feed alone ends a row, too; a quote
 * within a field that begins with none is a character of the field.
 *
 * @param delimiter one character
 * @param isWhole false: the text is cut, so its last row is left out, unless it is the only one
 * @param most how many rows are read
 */
export function parseCsv(text: string, delimiter: string, isWhole: boolean, most: number): CsvRows {
  const rows: string[][] = [];
  let at = 0;
  while (at < text.length && rows.length < most) {
    const { fields, end } = rowAt(text, at, delimiter);
    rows.push(fields);
    at = end;
  }
  const isCut = !isWhole && at >= text.length && rows.length > 1;
  return { rows: isCut ? rows.slice(0, -1) : rows, more: !isWhole || at < text.length };
}

/** Semicolons where commas are decimal points: spreadsheets write them in many countries. */
export function delimiterOf(text: string): "," | ";" {
  const fields = (delimiter: string) => rowAt(text, 0, delimiter).fields.length;
  return fields(";") > fields(",") ? ";" : ",";
}

function rowAt(text: string, start: number, delimiter: string): { fields: string[]; end: number } {
  const fields: string[] = [];
  const plain = new RegExp(`[^${delimiter}\r\n]*`, "y");
  for (let at = start; ; at += 1) {
    const quoted = text[at] === '"' ? quotedAt(text, at) : { content: "", end: at };
    plain.lastIndex = quoted.end;
    const rest = plain.exec(text)?.[0] ?? "";
    fields.push(quoted.content + rest);
    at = quoted.end + rest.length;
    if (text[at] !== delimiter) {
      return { fields, end: at + (text.startsWith("\r\n", at) ? 2 : 1) };
    }
  }
}

/** What is between the quotes; to the end of the text if there is only one. */
function quotedAt(text: string, start: number): { content: string; end: number } {
  let content = "";
  let at = start + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) {
      return { content: content + text.slice(at), end: text.length };
    }
    content += text.slice(at, quote);
    if (text[quote + 1] !== '"') {
      return { content, end: quote + 1 };
    }
    content += '"';
    at = quote + 2;
  }
}
