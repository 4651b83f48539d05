/** Environment variables as text, one KEY=VALUE per line, without their values. */

export const MASK = "••••••••";

const VALUE = /^([^=\n]*=)(.+)$/gm;

/** The text with all values masked; those of a comment too, which may be a disabled variable. */
export const masked = (text: string): string => text.replaceAll(VALUE, `$1${MASK}`);

/** Two texts with masked values, in which a variable whose value has changed still differs. */
export function maskedPair(from: string, to: string): [from: string, to: string] {
  const before = new Map([...from.matchAll(VALUE)].map(([, key, value]) => [key, value]));
  const after = to.replaceAll(VALUE, (_line, key: string, value: string) =>
    before.has(key) && before.get(key) !== value ? `${key}${MASK} (changed)` : key + MASK,
  );
  return [masked(from), after];
}
