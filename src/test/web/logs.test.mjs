import assert from "node:assert/strict";
import { test } from "node:test";
import { folded, lineIn } from "../../main/resources/web/app/parts/code/diff-lines.ts";
import { LogLines, styled } from "../../main/resources/web/app/parts/logs/log-lines.ts";
import {
  buildMarks,
  failureMarks,
  unplaced,
} from "../../main/resources/web/app/parts/executions/run-marks.ts";
import { Problem } from "../../main/resources/web/app/core/api.ts";

const entry = (message, more = {}) => ({
  time: "2026-01-01T00:00:00Z",
  stream: "stdout",
  level: null,
  continued: false,
  message,
  ...more,
});

test("a message of several lines makes several, a line that was split makes one", () => {
  const log = new LogLines();
  assert.deepEqual(
    log
      .add([entry("a\nb"), entry("long ", { continued: true })])
      .lines.map(({ text, first }) => [text, first]),
    [
      ["a", true],
      ["b", false],
      ["long ", true],
    ],
  );
  const added = log.add([entry("\x1b[31mline"), entry("next")]);
  assert.equal(added.extension, "line");
  assert.deepEqual(
    log.all.map(({ text }) => text),
    ["a", "b", "long line", "next"],
  );
  assert.deepEqual(log.all[2].spans, [{ from: 5, to: 9, style: "ansi-red" }]);
});

test("a line of another stream does not end a split one", () => {
  const log = new LogLines();
  log.add([entry("out ", { continued: true }), entry("err", { stream: "stderr" }), entry("put")]);
  assert.deepEqual(
    log.all.map(({ text }) => text),
    ["out ", "err", "put"],
  );
});

test("levels are of logging, of the stream, or of Roost itself", () => {
  const log = new LogLines();
  log.add([
    entry("d", { stream: "logging", level: "DEBUG" }),
    entry("w", { stream: "logging", level: "WARNING" }),
    entry("c", { stream: "logging", level: "CRITICAL" }),
    entry("own", { stream: "logging", level: "NOTICE" }),
    entry("o"),
    entry("e", { stream: "stderr" }),
    entry("s", { stream: "system" }),
  ]);
  assert.deepEqual(
    log.all.map(({ kind }) => kind),
    ["debug", "warning", "error", "info", "info", "stderr", "system"],
  );
  assert.deepEqual(
    log.all.map(({ severity }) => severity),
    [10, 30, 50, 20, 20, 40, 40],
  );
});

test("terminal colours become names, other control sequences are removed", () => {
  const { text, spans } = styled(
    "\x1b[1;31mred\x1b[22m still\x1b[0m plain\x1b[2K\x1b]0;title\x07\x1b[?25l \x1b[38;5;196mx\x1b[39m\x07",
  );
  assert.equal(text, "red still plain x");
  assert.deepEqual(spans, [
    { from: 0, to: 3, style: "ansi-bold ansi-red" },
    { from: 3, to: 9, style: "ansi-red" },
    { from: 16, to: 17, style: "ansi-red" },
  ]);
  assert.equal(styled("\x1b[48;2;0;0;250mx").spans[0].style, "ansi-on-blue");
  assert.equal(styled("\x1b[38;5;250mx").spans[0].style, "ansi-white");
});

test("a progress bar shows its last state", () => {
  assert.equal(styled("10 %\r50 %\r100 %\r").text, "100 %");
});

test("equal lines far from a change are folded", () => {
  const same = (n) => ({ before: n, after: n, text: `${n}` });
  const lines = [...Array(10).keys()].map(same);
  lines.splice(5, 0, { before: null, after: 99, text: "new" });
  const shown = folded(lines);
  assert.deepEqual(
    shown.map((part) => ("lines" in part ? part.lines.length : part.text)),
    [2, "2", "3", "4", "new", "5", "6", "7", 2],
  );
  assert.deepEqual(folded([]), []);
});

test("a failure is marked at its line", () => {
  const error = { type: "KeyError", message: "'a'", line: 3, column: null };
  assert.deepEqual(failureMarks({ error }), [
    { line: 3, column: undefined, message: "The latest run failed here: KeyError: 'a'", severity: "error" },
  ]);
  assert.deepEqual(failureMarks({ error: { ...error, line: null } }), []);
  assert.deepEqual(failureMarks(null), []);
});

test("the requirements of a failed build are marked where they are written now", () => {
  const failed = {
    id: "bjob_1",
    requirements: "httpx==0.28\nhumanize==99.0",
    message: "Because there is no version of humanize==99.0 and you require humanize==99.0, …",
  };
  const agent = { latest_builder_job_id: "bjob_1" };
  const marked = (text, of = agent) => buildMarks(failed, of, text).map(({ line }) => line);
  assert.deepEqual(marked("Humanize == 99.0  # the newest\nhttpx==0.28\n# humanize==99.0\n"), [1]);
  assert.deepEqual(marked("# pinned\nhttpx==0.28\nhumanize==99.0; python_version > '3'"), [3]);
  assert.deepEqual(marked("humanize==9\nhumanize==99.0.1"), [], "the line was edited");
  assert.deepEqual(marked("humanize==99.0", { latest_builder_job_id: "bjob_2" }), [], "a later build");
  assert.deepEqual(buildMarks(null, agent, "humanize==99.0"), []);
});

test("a line of one text is found in another", () => {
  const before = "import a\n\ndef main():\n    return a.b\n";
  assert.equal(lineIn(before, 4, before), 4);
  assert.equal(lineIn(before, 4, `"""Says b."""\n\n${before}`), 6);
  assert.equal(lineIn(before, 4, before.replace("a.b", "a.c")), null);
});

test("an error without a field is reported above the fields", () => {
  const problem = (...pointers) =>
    new Problem(
      422,
      "validation_failed",
      "Invalid",
      "",
      pointers.map((pointer) => ({ pointer, code: "", detail: "" })),
    );
  const fields = ["/memory", "/never_retry"];
  assert.equal(unplaced(problem("/memory", "/never_retry/0"), fields), null);
  assert.notEqual(unplaced(problem("/memory", "/name"), fields), null);
  assert.notEqual(unplaced(problem(), fields), null);
  assert.equal(unplaced(null, fields), null);
});
