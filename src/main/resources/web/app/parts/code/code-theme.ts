import { HighlightStyle } from "@codemirror/language";
import type { Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/** Colours of code, by the tokens of the page. */
export const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.self], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: [tags.comment, tags.meta], color: "var(--code-comment)" },
  {
    tag: [
      tags.definition(tags.variableName),
      tags.function(tags.definition(tags.variableName)),
      tags.definition(tags.className),
      tags.propertyName,
    ],
    color: "var(--code-name)",
  },
]);

/** The theme of editors: the page's surface, fonts and accent. */
export const look = (autoHeight: boolean): Extension =>
  EditorView.theme({
    "&": {
      color: "var(--text)",
      backgroundColor: "var(--surface)",
      ...(autoHeight ? {} : { flex: "1", minHeight: "0" }),
    },
    "&.cm-focused": { outline: "none" },
    ".cm-scroller": { fontFamily: "inherit", lineHeight: "inherit", overflow: "auto" },
    ".cm-content": { padding: "6px 0", caretColor: "var(--text)" },
    ".cm-line": { padding: "0 8px" },
    ".cm-placeholder": { color: "var(--faint)" },
    ".cm-masked": { color: "var(--faint)", cursor: "pointer" },
    ".cm-cursor": { borderLeftColor: "var(--text)" },
    "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
      backgroundColor: "var(--accent-soft)",
    },
    ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--faint)", border: "0" },
    ".cm-lineNumbers .cm-gutterElement": { minWidth: "24px", padding: "0 4px 0 8px" },
    ".cm-gutter-lint": { width: "14px" },
    ".cm-gutter-lint .cm-gutterElement": { padding: "0 0 0 2px" },
    ".cm-lint-marker": { width: "0.85em", height: "0.85em", marginTop: "0.35em" },
    ".cm-activeLine": { backgroundColor: "transparent" },
    "&.cm-focused .cm-activeLine": {
      backgroundColor: "color-mix(in srgb, var(--hover) 45%, transparent)",
    },
    ".cm-selectionMatch": { backgroundColor: "var(--hover)" },
    "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-soft)" },
    "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--failed-soft)" },
    ".cm-searchMatch": { backgroundColor: "var(--waiting-soft)" },
    ".cm-searchMatch-selected": { outline: "1px solid var(--waiting)" },
    ".cm-lintRange-error": {
      backgroundImage: "none",
      textDecoration: "underline wavy var(--failed)",
      textUnderlineOffset: "3px",
    },
    ".cm-lintRange-warning": {
      backgroundImage: "none",
      textDecoration: "underline wavy var(--waiting)",
      textUnderlineOffset: "3px",
    },
    ".cm-tooltip": {
      maxWidth: "min(480px, 90vw)",
      border: "1px solid var(--line)",
      borderRadius: "var(--radius)",
      backgroundColor: "var(--raised)",
      color: "var(--text)",
      boxShadow: "var(--shadow)",
    },
    ".cm-diagnostic": { fontFamily: "var(--sans)", whiteSpace: "pre-wrap" },
    ".cm-diagnostic-error": { borderLeft: "3px solid var(--failed)" },
    ".cm-diagnostic-warning": { borderLeft: "3px solid var(--waiting)" },
    ".cm-diagnosticAction": {
      margin: "0 0 0 8px",
      padding: "1px 8px",
      borderRadius: "var(--radius-small)",
      backgroundColor: "var(--accent-fill)",
      color: "var(--on-accent)",
      font: "var(--size-small) var(--sans)",
    },
    ".cm-diagnosticSource": { color: "var(--faint)", fontSize: "var(--size-small)" },
    ".cm-tooltip.cm-tooltip-autocomplete > ul": {
      maxHeight: "13em",
      fontFamily: "var(--mono)",
      fontSize: "var(--size-table)",
    },
    ".cm-tooltip.cm-tooltip-autocomplete > ul > li": { padding: "2px 8px", lineHeight: "1.5" },
    ".cm-tooltip-autocomplete ul li[aria-selected]": {
      backgroundColor: "var(--accent-soft)",
      color: "var(--text)",
    },
    ".cm-completionIcon": { color: "var(--faint)", opacity: "1", paddingRight: "12px" },
    ".cm-completionMatchedText": { textDecoration: "none", color: "var(--accent)" },
    ".cm-tooltip.cm-completionInfo": { padding: "6px 8px", maxWidth: "min(400px, 90vw)" },
    ".cm-tooltip-hover > .cm-explained": { padding: "6px 8px" },
    ".cm-explained > code": {
      fontFamily: "var(--mono)",
      fontSize: "var(--size-small)",
      overflowWrap: "anywhere",
    },
    ".cm-explained > p": {
      margin: "4px 0 0",
      font: "var(--size-small) / 1.4 var(--sans)",
      whiteSpace: "normal",
    },
    ".cm-panels": { backgroundColor: "var(--page)", color: "var(--text)" },
    ".cm-panels-top": { borderBottom: "1px solid var(--line)" },
    ".cm-panel.cm-search": { padding: "6px 28px 6px 8px" },
    ".cm-panel.cm-search :is(label, .cm-textfield, .cm-button)": {
      minHeight: "26px",
      font: "var(--size-small) var(--sans)",
      verticalAlign: "middle",
    },
    ".cm-panel.cm-search label": { display: "inline-flex", alignItems: "center" },
    ".cm-panel.cm-search [name=close]": {
      padding: "0 8px",
      color: "var(--faint)",
      fontSize: "var(--size-large)",
    },
    ".cm-textfield": {
      color: "var(--text)",
      backgroundColor: "var(--surface)",
      border: "1px solid var(--edge)",
      borderRadius: "var(--radius-small)",
    },
    ".cm-button": {
      backgroundColor: "var(--surface)",
      backgroundImage: "none",
      border: "1px solid var(--edge)",
      borderRadius: "var(--radius-small)",
    },
  });
