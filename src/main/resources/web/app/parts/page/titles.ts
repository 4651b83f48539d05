import { words } from "../../core/format";
import { text } from "../../text/parts/page";
import { nameOf } from "../agents/agent-link";

/** States in the title of a tab, where no shapes can be drawn. */
const SYMBOLS: Record<string, string> = {
  queued: "○",
  running: "●",
  succeeded: "✓",
  failed: "✕",
  timed_out: "⏱",
  cancelled: "⊘",
  lost: "?",
};

/** Titles the page after an agent and the state of what is shown: "✕ billing_sync · failed · Roost". */
export async function titlePage(agentId: string, state: string, word = words(state)): Promise<void> {
  const path = location.pathname;
  const name = await nameOf(agentId);
  if (path === location.pathname) {
    document.title = text.tabTitle(SYMBOLS[state] ?? "", name, word).trimStart();
  }
}
