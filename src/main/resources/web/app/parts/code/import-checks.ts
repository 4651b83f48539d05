import { text } from "../../text/parts/code";
import type { Mark } from "./marks";
import { mayProvide, normalised, packageOf } from "./package-names";
import type { PythonContext } from "./python-context";
import type { Import } from "./python-imports";
import { requirementsIn } from "./requirement-lines";
import { changeOf, isStandard } from "./standard-library";

/** Roost's own SDK, which needs no version. */
const SDK = "roost";

/**
 * Imports that neither Python nor a required package provides. What a Build has installed decides where it fits the
 * requirements; for packages that no Build has installed yet their names decide, in favour of the script.
 */
export function importMarks(imports: readonly Import[], context: PythonContext): Mark[] {
  const required = requirementsIn(context.requirements).map(({ name }) => name);
  const installed = (context.installed ?? []).map(({ name }) => name);
  const names = new Set(installed.map(normalised));
  const unknown = required.filter((name) => !names.has(normalised(name)));
  const candidates = context.modules ? unknown : [...required, ...installed];
  const seen = new Set<string>();
  return imports.flatMap(({ module, member, line, column, endColumn, optional }) => {
    const top = module.split(".")[0]!;
    const whole = member && member !== "*" ? `${module}.${member}` : module;
    if (
      optional ||
      seen.has(module) ||
      isStandard(top, context.python) ||
      context.modules?.includes(top) ||
      candidates.some((name) => mayProvide(name, whole))
    ) {
      return [];
    }
    seen.add(module);
    const name = packageOf(whole);
    const mark = { line, column, endLine: line, endColumn, severity: "warning" as const };
    const message = messageOf(top, context.python);
    return [
      { ...mark, message, fixes: [{ title: text.imports.add(name), requirement: pinned(name, context) }] },
    ];
  });
}

/** A requirement with the version to pin; without a known one it ends with "==". */
export const pinned = (name: string, { versionOf }: Pick<PythonContext, "versionOf">): string =>
  name === SDK ? name : `${name}==${versionOf(name) ?? ""}`;

function messageOf(module: string, python: string): string {
  const { since, until } = changeOf(module);
  if (until) {
    return text.imports.removed(python, module, until);
  }
  if (since) {
    return text.imports.added(python, module, since);
  }
  return text.imports.notProvided(module);
}

/** Requirements without a version, which Roost doesn't accept. */
export function pinMarks(context: Pick<PythonContext, "requirements" | "versionOf">): Mark[] {
  return requirementsIn(context.requirements).flatMap(({ line, name, extras, version, rest }) => {
    if (version !== null || normalised(name) === SDK) {
      return [];
    }
    const known = context.versionOf(name);
    const end = context.requirements.split(/\r?\n/)[line - 1]!.length + 1;
    const replacement = `${name}${extras}==${known}${/^[;#]/.test(rest) ? " " : ""}${rest}`;
    return [
      {
        line,
        message: known ? text.requirements.notPinned(name, known) : text.requirements.withoutVersion(name),
        severity: "warning",
        ...(known && {
          fixes: [
            {
              title: text.requirements.pin(known),
              edits: [{ line, column: 1, endLine: line, endColumn: end, text: replacement }],
            },
          ],
        }),
      },
    ];
  });
}
