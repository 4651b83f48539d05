import { html } from "lit";
import { keyCaps, offered } from "../core/shortcuts";
import { open } from "../parts/page/dialogs";
import { common } from "../text/common";
import { text } from "../text/shell";

/** Shows every keyboard shortcut that works here. */
export function openHelp(): Promise<void> {
  const commands = offered().filter((command) => command.keys);
  const groups = [...new Set(commands.map((command) => command.group ?? text.shortcuts.thisPage))];
  return open<void>(
    (close) =>
      html`<div class="body">
        <h2 id="dialog-title">${text.shortcuts.title}</h2>
        ${groups.map(
          (group) =>
            html`<section class="column shortcuts">
              <h3>${group}</h3>
              <dl>
                ${commands
                  .filter((command) => (command.group ?? text.shortcuts.thisPage) === group)
                  .map(
                    (command) =>
                      html`<dt>${command.title}</dt>
                        <dd>${keyCaps(command.keys!).map((key) => html`<kbd>${key}</kbd> `)}</dd>`,
                  )}
              </dl>
            </section>`,
        )}
        <div class="actions"><button autofocus @click=${() => close()}>${common.close}</button></div>
      </div>`,
    () => undefined,
  );
}
