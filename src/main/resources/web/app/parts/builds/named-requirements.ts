const REQUIREMENT = /^([a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)(.*)$/;

/**
 * The requirement of a line as uv writes it, without spaces, comment and marker: "Foo_Bar == 1.0  # new" is
 * "foo-bar==1.0" (names as in PEP 503). Null: the line has none.
 */
function requirementOf(line: string): string | null {
  const text = line.replace(/;.*|(^|\s)#.*/, "").replaceAll(/\s/g, "");
  const [, name, rest] = REQUIREMENT.exec(text.toLowerCase()) ?? [];
  return name === undefined ? null : name.replaceAll(/[-_.]+/g, "-") + rest;
}

/** The numbers of the lines, from 1, whose requirements an explanation of uv names with their versions. */
export function namedLines(requirements: string, explanation: string): number[] {
  const words = explanation.toLowerCase().match(/[\w.[\],=<>!~+*-]+/g) ?? [];
  const named = new Set<string | null>(words.map((word) => word.replace(/[.,]+$/, "")));
  return requirements.split("\n").flatMap((line, i) => (named.has(requirementOf(line)) ? [i + 1] : []));
}
