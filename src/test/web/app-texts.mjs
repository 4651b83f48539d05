// Finds the texts for people in the dashboard's sources: each belongs into a file below `text`.

import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

export const APP = fileURLToPath(new URL("../../main/resources/web/app/", import.meta.url));

const HOLE = "\u0000";
const MARKUP = new Set(["html", "svg"]);
/** Attributes and properties of elements whose values people read or hear. */
const READ =
  /^[.?]?(aria-(label|description|placeholder|valuetext)|title|placeholder|label|alt|summary|heading|caption|hint|help)$/i;
/** Single words with a capital that programs read: keys, types of events, headers. */
const NAMES =
  /^(Enter|Escape|Tab|Backspace|Delete|Home|End|PageUp|PageDown|Arrow(Up|Down|Left|Right)|Alt|Control|Ctrl|Meta|Mod|Shift|Authorization|Bearer|Accept|Location|Range|ETag|Content-[A-Za-z-]+|If-[A-Za-z-]+|Idempotency-Key|Retry-After|Roost-[A-Za-z-]+|Last-Event-ID|None|True|False)([-+].*)?$/;

const letters = (text) => /\p{L}{2,}/u.test(text);

/** Sources with names of Python's modules, packages and classes, and of the nodes of its grammar. */
const PYTHON_NAMES = /^parts\/code\/(package-names|standard-library|python-(checks|names|scope))\.ts$/;
const isPythonName = (name, text) =>
  PYTHON_NAMES.test(name) && (/^[A-Z][a-z]+$/.test(text) || /^\s/.test(text));

/** Whether a string of a program looks like a text: a word with a capital, or several words. */
const isText = (text) => {
  const plain = text.replaceAll(HOLE, "0").trim();
  if (plain.includes(".cm-")) {
    return false; // a selector of CSS
  }
  return (
    (/^[A-Z][a-z]+([-' ][\w'-]+)*[.…:?!]?$/.test(plain) && !NAMES.test(plain)) ||
    (/\p{L}[\p{L}'’-]*[,.;:…?!]? [^ ]*\p{L}{2,}/u.test(plain) &&
      /[A-Z]|[.…?!]$| (a|an|the|of|and|or|is|are|in|to|for|with|by|on|not|no|at|as|from|it) /.test(plain))
  );
};

/** Text of people in a template of markup: `[text]` of its elements and of attributes that are read. */
function* textsOfMarkup(markup) {
  const withoutComments = markup.replaceAll(/<!--.*?-->/gs, "");
  for (const piece of withoutComments.split(/(<(?:[^<>"']|"[^"]*"|'[^']*')*>)/)) {
    if (piece.startsWith("<")) {
      for (const [, name, , value] of piece.matchAll(/([.?@]?[\w-]+)=("([^"]*)"|[^\s">]+)/g)) {
        if (READ.test(name) && value && letters(value.replaceAll(HOLE, " "))) {
          yield value;
        }
      }
    } else if (letters(piece.replaceAll(/&\w+;/g, " "))) {
      yield piece.trim();
    }
  }
}

/** The text of a template with its expressions as holes. */
const joined = (template) =>
  ts.isNoSubstitutionTemplateLiteral(template)
    ? template.text
    : template.head.text + template.templateSpans.map((span) => HOLE + span.literal.text).join("");

const isModule = (node) =>
  ts.isImportDeclaration(node.parent) ||
  ts.isExportDeclaration(node.parent) ||
  ts.isLiteralTypeNode(node.parent);

/** The texts of a source, as `[line, text]`. */
export function texts(name, source) {
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true);
  const found = [];
  const add = (node, text) =>
    found.push([file.getLineAndCharacterOfPosition(node.getStart()).line + 1, text.replaceAll(HOLE, "${}")]);
  const visit = (node) => {
    if (ts.isTaggedTemplateExpression(node)) {
      const tag = node.tag.getText(file);
      if (MARKUP.has(tag)) {
        for (const text of textsOfMarkup(joined(node.template))) {
          add(node, text);
        }
      }
      if (ts.isTemplateExpression(node.template)) {
        node.template.templateSpans.forEach((span) => visit(span.expression));
      }
      return;
    }
    if (ts.isTemplateExpression(node)) {
      if (isText(joined(node))) {
        add(node, joined(node));
      }
    } else if (ts.isCallExpression(node) && node.expression.getText(file) === "plural") {
      add(node, node.getText(file)); // it takes words
    } else if (
      ts.isStringLiteralLike(node) &&
      !isModule(node) &&
      isText(node.text) &&
      !isPythonName(name, node.text)
    ) {
      add(node, node.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** The sources of the dashboard that have no texts, by their paths below `app`. */
export const sources = () =>
  readdirSync(APP, { recursive: true }).filter((path) => path.endsWith(".ts") && !path.startsWith("text/"));

export const textsOf = (path) => texts(path, readFileSync(APP + path, "utf8"));

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const begins = process.argv.slice(2);
  for (const path of sources().filter(
    (each) => !begins.length || begins.some((begin) => each.startsWith(begin)),
  )) {
    for (const [line, text] of textsOf(path)) {
      console.log(`${path}:${line}: ${text.replaceAll(/\s+/g, " ")}`);
    }
  }
}
