import { EditorView } from "@codemirror/view";

const COLOURS = {
  black: "var(--faint)",
  red: "var(--failed)",
  green: "var(--succeeded)",
  yellow: "var(--waiting)",
  blue: "var(--running)",
  magenta: "var(--code-keyword)",
  cyan: "var(--code-number)",
  white: "var(--text)",
};

const BACKS = {
  black: "var(--sunken)",
  red: "var(--failed-soft)",
  green: "var(--succeeded-soft)",
  yellow: "var(--waiting-soft)",
  blue: "var(--running-soft)",
  magenta: "var(--accent-soft)",
  cyan: "var(--accent-soft)",
  white: "var(--ended-soft)",
};

const ansi: Record<string, Record<string, string>> = {
  ".ansi-bold": { fontWeight: "700" },
  ".ansi-dim": { color: "var(--faint)" },
  ".ansi-italic": { fontStyle: "italic" },
  ".ansi-underline": { textDecoration: "underline" },
  ".ansi-struck": { textDecoration: "line-through" },
};
for (const [name, color] of Object.entries(COLOURS)) {
  ansi[`.ansi-${name}`] = { color };
}
for (const [name, backgroundColor] of Object.entries(BACKS)) {
  ansi[`.ansi-on-${name}`] = { backgroundColor };
}

/** How a log looks; all values are tokens, which reach into the shadow root. */
export const logTheme = EditorView.theme({
  "&": { maxHeight: "var(--log-height, 320px)", color: "var(--text)", fontSize: "var(--size-small)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "20px", fontVariantLigatures: "none" },
  ".cm-content": { padding: "var(--space-2) 0" },
  ".cm-line": { padding: "0 var(--space-2)", marginLeft: "var(--space-2)", overflowWrap: "anywhere" },
  ".cm-gutters": { border: "0", backgroundColor: "var(--surface)", color: "var(--faint)" },
  ".log-times .cm-gutterElement": { padding: "0 0 0 var(--space-3)", userSelect: "none" },
  ".log-debug": { color: "var(--faint)" },
  ".log-warning": { color: "var(--waiting)" },
  ".log-error": { color: "var(--failed)" },
  ".log-stderr": { boxShadow: "inset 2px 0 var(--failed)" },
  ".log-system": { color: "var(--faint)", fontStyle: "italic" },
  ".log-marked": { backgroundColor: "var(--waiting-soft)", boxShadow: "inset 3px 0 var(--waiting)" },
  ".log-match": { backgroundColor: "var(--accent-soft)", outline: "1px solid var(--accent)" },
  ".log-match-current": { backgroundColor: "var(--accent-fill)", color: "var(--on-accent)" },
  ".log-match-current *": { color: "var(--on-accent)" },
  ...ansi,
});
