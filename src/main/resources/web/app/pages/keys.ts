import { html, nothing, type TemplateResult } from "lit";
import { customElement } from "lit/decorators.js";
import { post, remove } from "../core/api";
import { asProblem, PagedLoad } from "../core/load";
import { signedIn } from "../core/session";
import type { ApiKey, Role } from "../core/types";
import { idLink, timeAgo } from "../parts/page/basics";
import { confirmAction, toast } from "../parts/page/dialogs";
import { choiceField, mistakesOf, textField } from "../parts/forms/fields";
import { emptyState, roleNotice } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { showSecret } from "../parts/page/secret";
import { openForm } from "../parts/forms/small-form";
import { pagedTable, type Column } from "../parts/page/tables";

const ROLES: Record<Role, string> = {
  read: "read everything except the values of variables",
  execute: "read everything except those values, run agents, cancel runs",
  write: "read, run and change everything",
};

/** API keys and their roles. */
@customElement("keys-page")
export class KeysPage extends Part {
  private readonly load = new PagedLoad<ApiKey>(
    this,
    () => "/keys",
    () => ({}),
    () => false,
  );

  override render() {
    return html`<div class="page-head">
        <h1>API keys</h1>
        <div class="actions">
          ${signedIn.may("write")
            ? html`<button class="primary" @click=${this.create}>New key</button>`
            : nothing}
        </div>
      </div>
      <p class="faint">
        Programs send a key as <code>Authorization: Bearer roost_…</code>; people sign in with one.
      </p>
      ${roleNotice("write", "Creating or deleting keys")}
      <div class="panel">${pagedTable("API keys", this.columns(), this.load, noKeys)}</div>`;
  }

  private columns(): Column<ApiKey>[] {
    return [
      {
        title: "Name",
        cell: ({ id, name }) =>
          html`<strong>${name}</strong>${id === signedIn.session?.key.id
              ? html` <span class="faint">· this session</span>`
              : nothing}`,
      },
      { title: "Role", cell: ({ role }) => html`<code>${role}</code>` },
      { title: "Permissions", cell: ({ role }) => html`<span class="faint">${ROLES[role]}</span>` },
      { title: "ID", cell: ({ id }) => idLink(id) },
      { title: "Created", cell: ({ created_at }) => timeAgo(created_at) },
      {
        title: "",
        cell: (key) =>
          signedIn.may("write")
            ? html`<span class="row-actions"
                ><button class="quiet" aria-label="Delete ${key.name}" @click=${() => this.delete(key)}>
                  Delete
                </button></span
              >`
            : nothing,
      },
    ];
  }

  private async create(): Promise<void> {
    const key = await openForm({
      title: "New key",
      draft: { name: "", role: "execute" },
      pointers: ["/name", "/role"],
      confirm: "Create key",
      fields: ({ name, role }, take, problem) =>
        html`${textField({
          id: "key-name",
          label: "Name",
          hint: "For example the program that uses it.",
          value: name,
          required: true,
          change: (value) => take({ name: value }),
          mistakes: mistakesOf(problem, "/name"),
        })}${choiceField({
          id: "key-role",
          label: "Role",
          value: role,
          choices: Object.entries(ROLES).map(([value, may]) => [value, `${value}: ${may}`]),
          change: (value) => take({ role: value }),
          mistakes: mistakesOf(problem, "/role"),
        })}`,
      save: (draft) => post<ApiKey>("/keys", draft),
    });
    if (key?.key) {
      void this.load.again();
      await showSecret(`Key ${key.name}`, key.key, "Store it where your program can read it.");
    }
  }

  private async delete(key: ApiKey): Promise<void> {
    const own = key.id === signedIn.session?.key.id;
    const sure = await confirmAction({
      title: `Delete key ${key.name}?`,
      body: html`<p>Requests with this key are refused within five seconds, and its sessions end.</p>
        ${own ? html`<p><strong>This session uses the key: you will be signed out.</strong></p>` : nothing}`,
      confirm: "Delete key",
      danger: true,
    });
    if (!sure) {
      return;
    }
    try {
      await remove(`/keys/${key.id}`);
      toast(`Key ${key.name} deleted.`);
      await this.load.again();
    } catch (e) {
      toast(asProblem(e).message, { failed: true });
    }
  }
}

const noKeys = (): TemplateResult => emptyState("No keys", "Roost always keeps one key with the role write.");
