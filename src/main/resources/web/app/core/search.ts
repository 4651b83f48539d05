/** The search for names in the browser, as the API does it (`q`). */

const words = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[\s_.-]+/)
    .filter(Boolean);

/** Whether a title has all words of a search, in any order; "x*" has to begin a word. */
export function matches(title: string, search: string): boolean {
  const text = " " + title.toLowerCase().replaceAll(/[_.-]/g, " ");
  return words(search).every((word) =>
    text.includes(word.endsWith("*") ? " " + word.replace(/\*+$/, "") : word),
  );
}

/** The best matches first: the same name, then names that begin with the text, then those with words that do. */
export function ranked<T extends { name: string }>(found: readonly T[], search: string): T[] {
  const sought = words(search).join(" ");
  const rank = ({ name }: T): number => {
    const text = words(name).join(" ");
    if (text === sought) {
      return 0;
    }
    return text.startsWith(sought) ? 1 : ` ${text}`.includes(` ${sought}`) ? 2 : 3;
  };
  return found
    .map((item) => ({ item, rank: rank(item) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}
