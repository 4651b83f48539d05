import { bytes, duration, plural } from "../../core/format";
import type { Agent, Preloaded } from "../../core/types";

/** The number of names of packages in a sentence. */
const MOST_NAMES = 12;

/** "pandas, numpy and 3 more". */
export function packageText(packages: string[]): string {
  const more = packages.length - MOST_NAMES;
  return more > 0
    ? `${packages.slice(0, MOST_NAMES).join(", ")} and ${more} more`
    : packages.join(", ") || "none";
}

/** What is imported in advance, in a few words; "" when nothing is. */
export const preloadNote = (agent: Agent): string =>
  agent.preloaded?.modules ? `${plural(agent.preloaded.modules, "module")} preloaded` : "";

/** What preloading saves and costs. */
export const savingText = ({ import_seconds, memory_bytes }: Preloaded): string =>
  `Each execution saves about ${duration(import_seconds)}. ` +
  `The imported modules use ${bytes(memory_bytes)} of memory in each executor.`;

/** Why there is nothing to show. */
export function unknownText(agent: Pick<Agent, "preload" | "running_revision">): string {
  return agent.preload === "off"
    ? "Preloading is off: each execution imports its modules itself."
    : agent.running_revision === null
      ? "Known after the first execution, which waits for the build."
      : `Known after the first execution of revision ${agent.running_revision}.`;
}
