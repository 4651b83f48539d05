import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { afterEach, test } from "node:test";
import { uploadFile } from "../../main/resources/web/app/core/upload.ts";
import { delimiterOf, parseCsv } from "../../main/resources/web/app/parts/files/csv.ts";
import { previewKind } from "../../main/resources/web/app/parts/files/kinds.ts";
import {
  cellText,
  isNumber,
  PARSERS,
  typeOf,
} from "../../main/resources/web/app/parts/files/parquet-values.ts";
import { COMPRESSORS_VERSION, FZSTD_VERSION } from "../../main/resources/web/app/parts/files/compression.ts";
import { HYPARQUET_VERSION } from "../../main/resources/web/app/parts/files/parquet.ts";
import { csvTable } from "../../main/resources/web/app/parts/files/previews.ts";
import { answers, json, lost, problem, restore } from "./server.mjs";

afterEach(restore);

const rows = (text, delimiter = ",") => parseCsv(text, delimiter, true, 100).rows;

test("fields of a CSV file may be quoted, as RFC 4180 has it", () => {
  assert.deepEqual(rows('a,"b ""c"" d",e\r\n"1,\r\n2",,3\r\n'), [
    ["a", 'b "c" d', "e"],
    ["1,\r\n2", "", "3"],
  ]);
  assert.deepEqual(rows('""\n"a"\n'), [[""], ["a"]]);
});

test("CSV files of programs that know no standard are read, too", () => {
  assert.deepEqual(rows("a,b\nc,d"), [
    ["a", "b"],
    ["c", "d"],
  ]);
  assert.deepEqual(rows("a\rb"), [["a"], ["b"]]);
  assert.deepEqual(rows('5" disk,"x" y'), [['5" disk', "x y"]]);
  assert.deepEqual(rows('a,"b\nc'), [["a", "b\nc"]]);
  assert.deepEqual(rows("a,\n,"), [
    ["a", ""],
    ["", ""],
  ]);
  assert.deepEqual(rows(""), []);
  assert.deepEqual(rows("a\tb,c\n", "\t"), [["a", "b,c"]]);
  assert.equal(delimiterOf("a;b;c\n1,5;2;3"), ";");
  assert.equal(delimiterOf('"a;b",c\n'), ",");
});

test("the last row of a cut CSV file is left out", () => {
  assert.deepEqual(parseCsv("a,b\nc,d\ne,", ",", false, 100), {
    rows: [
      ["a", "b"],
      ["c", "d"],
    ],
    more: true,
  });
  assert.deepEqual(parseCsv("a,b", ",", false, 100), { rows: [["a", "b"]], more: true });
  assert.deepEqual(parseCsv("a\nb\nc\n", ",", true, 2), { rows: [["a"], ["b"]], more: true });
  assert.deepEqual(parseCsv("a\nb\n", ",", true, 2), { rows: [["a"], ["b"]], more: false });
});

test("a table has at most 100 rows and 50 columns, and says so", () => {
  const line = (n) => Array.from({ length: 60 }, (_, i) => `${n}.${i}`).join(",");
  const { columns, rows, notes } = csvTable(
    Array.from({ length: 200 }, (_, n) => line(n)).join("\n"),
    ",",
    true,
  );
  assert.deepEqual([columns.length, columns[49].name, rows.length, rows[99][0]], [50, "0.49", 100, "100.0"]);
  assert.deepEqual(notes, ["The first 100 rows.", "The first 50 of 60 columns."]);
});

test("the type and the name say how a file can be shown", () => {
  const kinds = {
    image: ["image/png a.png", "image/svg+xml a", "IMAGE/JPEG; q=1 a"],
    text: ["text/plain a", "text/html; charset=utf-8 a.html", "application/xml a", "application/atom+xml a"],
    json: ["application/json a", "application/geo+json a", "application/octet-stream a.json"],
    csv: ["text/csv a", "text/plain a.CSV", "application/octet-stream a.csv"],
    tsv: ["text/tab-separated-values a", "text/plain a.tsv"],
    parquet: ["application/vnd.apache.parquet a", "application/octet-stream a.parquet"],
    null: ["application/pdf a.csv", "image/tiff a", "text/csv a.csv.gz", "application/octet-stream a"],
  };
  for (const [kind, files] of Object.entries(kinds)) {
    for (const file of files) {
      const [, content_type, name] = /^(.*) (\S+)$/.exec(file);
      assert.equal(String(previewKind({ name, content_type })), kind, file);
    }
  }
});

test("the dashboard loads the version of hyparquet that packaging brings", () => {
  const script = readFileSync(new URL("../../main/scripts/npm_packages.py", import.meta.url), "utf-8");
  assert.equal(/hyparquet",\s+version="(.*?)"/.exec(script)[1], HYPARQUET_VERSION);
  assert.ok(script.includes(`"hyparquet/${HYPARQUET_VERSION}"`));
  assert.ok(script.includes(`"hyparquet-compressors/${COMPRESSORS_VERSION}"`));
  assert.ok(script.includes(`"fzstd/${FZSTD_VERSION}"`));
});

const column = (element, children = []) => ({ element: { name: "a", ...element }, children });

test("types of Parquet columns have their usual names", () => {
  for (const [tree, type, number] of [
    [column({ type: "INT64" }), "int64", true],
    [
      column({ type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } }),
      "string",
      false,
    ],
    [column({ type: "BYTE_ARRAY" }), "binary", false],
    [column({ type: "INT96" }), "timestamp", false],
    [
      column({ type: "INT64", logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" } }),
      "timestamp UTC",
      false,
    ],
    [column({ type: "INT32", converted_type: "DATE" }), "date", false],
    [column({ type: "INT32", converted_type: "INT_8" }), "int8", true],
    [
      column({ type: "INT32", logical_type: { type: "INTEGER", bitWidth: 16, isSigned: false } }),
      "uint16",
      true,
    ],
    [column({ type: "INT64", converted_type: "DECIMAL", precision: 20, scale: 2 }), "decimal(20, 2)", true],
    [column({ type: "INT32", repetition_type: "REPEATED" }), "list of int32", true],
    [column({ converted_type: "LIST" }, [column({})]), "list", false],
    [column({}, [column({})]), "struct", false],
  ]) {
    assert.deepEqual([typeOf(tree), isNumber(tree)], [type, number]);
  }
});

test("values of Parquet files keep their digits", () => {
  const element = { name: "a" };
  for (const [value, shown] of [
    [undefined, null],
    ["<b>", "<b>"],
    [9007199254740993n, "9007199254740993"],
    [{ a: [1n, null, "x"], b: true }, '{"a":[1,null,"x"],"b":true}'],
    [new TextEncoder().encode("Åsele"), "Åsele"],
    [new Uint8Array([0, 255]), "0x00ff"],
    [new Uint8Array(40), `0x${"00".repeat(32)}…`],
  ]) {
    assert.equal(cellText(value, element), shown);
  }
  assert.equal(cellText(1.1, { name: "a", converted_type: "DECIMAL", scale: 2 }), "1.10");
  assert.equal(PARSERS.timestampFromMicroseconds(1_768_383_000_250_000n), "2026-01-14 09:30:00.25");
  assert.equal(PARSERS.timestampFromNanoseconds(-1n), "1969-12-31 23:59:59.999999999");
  assert.equal(PARSERS.timestampFromMilliseconds(10n ** 18n), "1000000000000000000");
  assert.equal(PARSERS.dateFromDays(20_467), "2026-01-14");
});

test("a file is sent in parts, and a part again when its answer is lost", async () => {
  const parts = [];
  const part = async ({ body }) => {
    parts.push(body.size);
    return json({});
  };
  const sent = answers([() => json({ id: "file_1" }), part, lost, part, () => json({})]);
  const progress = [];
  const file = new File([new Uint8Array(5 << 20)], "a.csv", { type: "text/csv" });
  assert.equal(await uploadFile(file, (bytes) => progress.push(bytes)), "file_1");
  assert.deepEqual(parts, [4 << 20, 1 << 20]);
  assert.deepEqual(progress, [4 << 20, 5 << 20]);
  assert.deepEqual(
    sent.map(({ method, url }) => `${method} ${url}`),
    [
      "POST /v1/files",
      "PUT /v1/files/file_1/parts/0",
      "PUT /v1/files/file_1/parts/1",
      "PUT /v1/files/file_1/parts/1",
      "POST /v1/files/file_1/complete",
    ],
  );
  assert.deepEqual(JSON.parse(sent[0].body), { name: "a.csv", content_type: "text/csv" });
  assert.deepEqual(JSON.parse(sent[4].body), { size_bytes: 5 << 20 });
});

test("an empty file has no parts, and a refusal ends an upload", async () => {
  const sent = answers([() => json({ id: "file_1" }), () => json({})]);
  await uploadFile(new File([], "empty"), () => assert.fail());
  assert.deepEqual(JSON.parse(sent[0].body), { name: "empty", content_type: "application/octet-stream" });
  answers([() => problem(409, "conflict")]);
  await assert.rejects(
    uploadFile(new File(["a"], "a"), () => {}),
    { status: 409 },
  );
});
