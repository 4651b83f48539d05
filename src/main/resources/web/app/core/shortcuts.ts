/** Keyboard shortcuts and the commands of the palette. */

export interface Command {
  title: string;
  run: () => void;
  /** "g a": one key after the other. "mod+enter": with Ctrl or ⌘; "mod+shift+enter". */
  keys?: string;
  /** The group in the list of shortcuts. */
  group?: string;
}

const commands = new Set<Command>();
let pending = "";
let timer: ReturnType<typeof setTimeout> | undefined;

/** Offers commands until the returned function is called. */
export function offer(...offered: Command[]): () => void {
  offered.forEach((command) => commands.add(command));
  return () => offered.forEach((command) => commands.delete(command));
}

export const offered = (): Command[] => [...commands];

/** ⌘ on a Mac, Ctrl elsewhere. */
export const modifier = /Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘" : "Ctrl";

/** The labels of the keys: "mod+enter" → "Ctrl", "Enter"; "g a" → "g", "a". */
export const keyCaps = (keys: string): string[] =>
  keys.split(/[+ ]/).map((key) => {
    if (key === "mod") {
      return modifier;
    }
    return key.length > 1
      ? key[0]!.toUpperCase() + key.slice(1)
      : keys.startsWith("mod+")
        ? key.toUpperCase()
        : key;
  });

export const keysText = (keys: string): string => keyCaps(keys).join(" ");

export function startShortcuts(): void {
  document.addEventListener("keydown", (event) => {
    const typing = isTyping(event);
    const key = event.key.toLowerCase();
    const mod = event.ctrlKey || event.metaKey;
    const pressed = (mod ? "mod+" : "") + key;
    if (event.altKey || (typing && !mod) || document.querySelector("dialog[open]")) {
      return;
    }
    const wanted = pending ? `${pending} ${pressed}` : pressed;
    const shifted = mod && event.shiftKey ? `mod+shift+${key}` : "";
    const all = [...commands].reverse();
    const found =
      all.find(({ keys }) => !!shifted && keys === shifted) ??
      all.find((command) => command.keys === wanted) ??
      all.find((c) => c.keys === pressed);
    clearTimeout(timer);
    pending = "";
    if (found) {
      event.preventDefault();
      found.run();
    } else if (all.some((command) => command.keys?.startsWith(pressed + " "))) {
      pending = pressed;
      timer = setTimeout(() => (pending = ""), 1000);
    }
  });
}

function isTyping(event: KeyboardEvent): boolean {
  const target = event.composedPath()[0];
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) &&
    !(target instanceof HTMLInputElement && target.type === "checkbox")
  );
}
