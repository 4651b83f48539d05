import assert from "node:assert/strict";
import { test } from "node:test";
import {
  bundleContent,
  changesBetween,
  treeOf,
} from "../../main/resources/web/app/parts/files/bundle-files.ts";

const file = (path, sha256 = path, executable = false) => ({ path, size_bytes: 3, sha256, executable });

test("files are a tree with directories first", () => {
  const tree = treeOf(["b.py", "a/z.py", "a/b/c.py", "a/b/d.py", "Z/x"].map((path) => file(path)));
  const shown = (branches, depth = 0) =>
    branches.flatMap(({ name, count, file, branches }) => [
      `${" ".repeat(depth)}${name}${file ? "" : `/ ${count}`}`,
      ...shown(branches, depth + 1),
    ]);
  assert.deepEqual(shown(tree), ["Z/ 1", " x", "a/ 3", " b/ 2", "  c.py", "  d.py", " z.py", "b.py"]);
});

test("a name that objects have is a directory like any other", () => {
  const [branch] = treeOf([file("__proto__/constructor")]);
  assert.deepEqual([branch.name, branch.count, branch.branches[0].name], ["__proto__", 1, "constructor"]);
});

test("bundles differ in what is added, removed and changed, also in the mode", () => {
  const before = [file("same"), file("gone"), file("changed", "1"), file("run.sh", "s")];
  const after = [file("same"), file("changed", "2"), file("new"), file("run.sh", "s", true)];
  assert.deepEqual(
    changesBetween(before, after).map(({ path, from, to }) => [path, !!from, !!to]),
    [
      ["changed", true, true],
      ["gone", true, false],
      ["new", false, true],
      ["run.sh", true, true],
    ],
  );
});

test("the address of a file holds any path, and its type shows how it is read", () => {
  const of = (path) => bundleContent("bundle_1", file(path));
  assert.equal(of("a b/ü&c=1.py").address, "/bundles/bundle_1/content?path=a+b%2F%C3%BC%26c%3D1.py");
  const types = Object.fromEntries(
    ["a.py", "Makefile", "x.CSV", "p.parquet", "d/i.JPG", "m.pkl", "n.tar.gz"].map((path) => [
      path,
      of(path).content_type,
    ]),
  );
  assert.deepEqual(types, {
    "a.py": "text/plain",
    Makefile: "text/plain",
    "x.CSV": "text/csv",
    "p.parquet": "application/vnd.apache.parquet",
    "d/i.JPG": "image/jpeg",
    "m.pkl": "application/octet-stream",
    "n.tar.gz": "application/octet-stream",
  });
  assert.equal(of("d/i.JPG").name, "i.JPG");
});
