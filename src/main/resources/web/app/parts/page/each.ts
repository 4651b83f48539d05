import { asProblem } from "../../core/load";

/** At the same time: more would wait in the browser anyway. */
const AT_ONCE = 4;

/** Does something with each item, also after failures; returns the messages of the failures. */
export async function each<T>(
  items: readonly T[],
  act: (item: T, index: number) => Promise<unknown>,
): Promise<string[]> {
  const failures: string[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      await act(items[index]!, index).catch((e: unknown) => failures.push(asProblem(e).message));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return failures;
}
