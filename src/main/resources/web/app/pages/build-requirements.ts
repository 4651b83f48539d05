import { html, nothing, type TemplateResult } from "lit";

/** "Foo.bar_baz" and "foo-bar-baz" are the same package (PEP 503). */
const normal = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, "-");

/** The package that a line of requirements asks for, or null. */
export const packageOf = (line: string): string | null => {
  const name = /^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)/.exec(line)?.[1];
  return name === undefined ? null : normal(name);
};

/** The numbers of the lines whose packages an explanation names, from 1. */
export function concernedLines(requirements: string, explanation: string): number[] {
  const named = new Set((explanation.match(/[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?/g) ?? []).map(normal));
  return requirements.split("\n").flatMap((line, i) => {
    const name = packageOf(line);
    return name !== null && named.has(name) ? [i + 1] : [];
  });
}

/** Requirements with their line numbers; those that the explanation names are marked. */
export function requirementList(requirements: string, explanation: string): TemplateResult {
  const concerned = new Set(concernedLines(requirements, explanation));
  return html`<ol class="requirement-lines mono">
    ${requirements.split("\n").map(
      (line, i) =>
        html`<li class=${concerned.has(i + 1) ? "concerned" : ""}>
          <span class="faint">${i + 1}</span> <code>${line}</code>
          ${concerned.has(i + 1) ? html`<span class="unseen">named in the error</span>` : nothing}
        </li>`,
    )}
  </ol>`;
}
