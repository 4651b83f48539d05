import { toJson } from "../../core/api";
import { ExactNumber, type Json } from "../../core/types";
import { text } from "../../text/parts/files";

/** An element of a Parquet schema, as far as the dashboard uses it. */
export interface SchemaElement {
  name: string;
  type?: string;
  type_length?: number;
  repetition_type?: string;
  converted_type?: string;
  logical_type?: { type: string; isAdjustedToUTC?: boolean; bitWidth?: number; isSigned?: boolean };
  scale?: number;
  precision?: number;
}

export interface SchemaTree {
  element: SchemaElement;
  children: SchemaTree[];
}

/** How many bytes of a binary value are shown. */
const SHOWN_BYTES = 32;
const DAY_MILLISECONDS = 86_400_000;

const PHYSICAL: Record<string, string> = {
  BYTE_ARRAY: "binary",
  FIXED_LEN_BYTE_ARRAY: "binary",
  INT96: "timestamp",
};
const CONVERTED: Record<string, string> = {
  UTF8: "string",
  TIMESTAMP_MILLIS: "timestamp",
  TIMESTAMP_MICROS: "timestamp",
  TIME_MILLIS: "time",
  TIME_MICROS: "time",
};
const NUMBERS = ["INT32", "INT64", "FLOAT", "DOUBLE"];
const NO_NUMBERS = ["timestamp", "time", "date", "null"];

/** A column's type, as people know it: "string", "int64", "decimal(20, 2)", "list". */
export function typeOf({ element, children }: SchemaTree): string {
  const { logical_type: logical, converted_type: converted, type = "" } = element;
  if (logical?.type === "DECIMAL" || converted === "DECIMAL") {
    return `decimal(${element.precision ?? "?"}, ${element.scale ?? 0})`;
  }
  if (logical?.type === "INTEGER") {
    return `${logical.isSigned ? "" : "u"}int${logical.bitWidth}`;
  }
  if (logical?.type === "TIMESTAMP") {
    return logical.isAdjustedToUTC ? text.types.timestampUtc : "timestamp";
  }
  if (logical) {
    return logical.type.toLowerCase();
  }
  if (converted) {
    return CONVERTED[converted] ?? converted.toLowerCase().replace("int_", "int");
  }
  if (children.length) {
    return "struct";
  }
  const plain = PHYSICAL[type] ?? type.toLowerCase();
  return element.repetition_type === "REPEATED" ? text.types.listOf(plain) : plain;
}

export function isNumber(column: SchemaTree): boolean {
  const type = typeOf(column);
  const isOne = NUMBERS.includes(column.element.type ?? "") || type.startsWith("decimal");
  return isOne && !NO_NUMBERS.some((other) => type.startsWith(other));
}

/** How values are decoded: times with all their digits, JSON as it is written. */
export const PARSERS = {
  timestampFromMilliseconds: (n: bigint) => timeText(n, 3),
  timestampFromMicroseconds: (n: bigint) => timeText(n, 6),
  timestampFromNanoseconds: (n: bigint) => timeText(n, 9),
  dateFromDays: (days: number) => dateText(new Date(days * DAY_MILLISECONDS), 10) ?? String(days),
  jsonFromBytes: (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes),
};

/** "2026-01-14 09:30:00.25", from fractions of a second since 1970. */
function timeText(fractions: bigint, digits: number): string {
  const second = 10n ** BigInt(digits);
  const all = BigInt(fractions);
  const rest = ((all % second) + second) % second;
  const date = dateText(new Date(Number((all - rest) / second) * 1000), 19);
  const fraction = String(rest).padStart(digits, "0").replace(/0+$/, "");
  return date === null ? String(fractions) : date.replace("T", " ") + (fraction ? `.${fraction}` : "");
}

/** The beginning of the date in ISO 8601, without its fraction; null: no year that JavaScript has. */
function dateText(date: Date, length: number): string | null {
  if (Number.isNaN(date.getTime())) {
    return null;
  }
  const whole = date.toISOString();
  return whole.slice(0, whole.length - (24 - length));
}

/** A value as the text of a cell; null: there is none. */
export function cellText(value: unknown, { scale = 0, ...element }: SchemaElement): string | null {
  if (value === null || value === undefined) {
    return null;
  }
  if (typeof value === "number" && element.converted_type === "DECIMAL") {
    return value.toFixed(Math.min(Math.max(scale, 0), 100));
  }
  if (value instanceof Uint8Array) {
    return bytesText(value);
  }
  return typeof value === "object" ? toJson(jsonOf(value)) : String(value);
}

function jsonOf(value: unknown): Json {
  if (value === undefined || value === null || typeof value === "string" || typeof value === "boolean") {
    return value ?? null;
  }
  if (typeof value === "number" || typeof value === "bigint") {
    return new ExactNumber(String(value));
  }
  if (value instanceof Uint8Array) {
    return bytesText(value);
  }
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    return Array.from(value as ArrayLike<unknown>, jsonOf);
  }
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, jsonOf(member)]));
}

/** Text where the bytes are one, which older programs don't say; otherwise hexadecimal digits. */
function bytesText(bytes: Uint8Array): string {
  try {
    const decoded = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!/[\0-\x08]/.test(decoded)) {
      return decoded;
    }
  } catch {
    // These are other bytes.
  }
  const shown = Array.from(bytes.subarray(0, SHOWN_BYTES), (byte) => byte.toString(16).padStart(2, "0"));
  return "0x" + shown.join("") + (bytes.length > SHOWN_BYTES ? "…" : "");
}
