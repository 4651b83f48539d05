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
import { common } from "../text/common";
import { text } from "../text/pages/keys";

const ROLES = Object.keys(text.permissions) as Role[];

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
        <h1>${text.title}</h1>
        <div class="actions">
          ${signedIn.may("write")
            ? html`<button class="primary" @click=${this.create}>${text.create}</button>`
            : nothing}
        </div>
      </div>
      <p class="faint">${text.use}</p>
      ${roleNotice("write", text.changing)}
      <div class="panel">${pagedTable(text.title, this.columns(), this.load, noKeys)}</div>`;
  }

  private columns(): Column<ApiKey>[] {
    return [
      {
        title: common.name,
        cell: ({ id, name }) =>
          html`<strong>${name}</strong>${id === signedIn.session?.key.id
              ? html` <span class="faint">${text.thisSession}</span>`
              : nothing}`,
      },
      { title: text.role, cell: ({ role }) => html`<code>${role}</code>` },
      {
        title: text.permissionsTitle,
        cell: ({ role }) => html`<span class="faint">${text.permissions[role]}</span>`,
      },
      { title: text.id, cell: ({ id }) => idLink(id) },
      { title: text.created, cell: ({ created_at }) => timeAgo(created_at) },
      {
        title: "",
        cell: (key) =>
          signedIn.may("write")
            ? html`<span class="row-actions"
                ><button
                  class="quiet"
                  aria-label=${text.deleteKey(key.name)}
                  @click=${() => this.delete(key)}
                >
                  ${common.delete}
                </button></span
              >`
            : nothing,
      },
    ];
  }

  private async create(): Promise<void> {
    const key = await openForm({
      title: text.createTitle,
      draft: { name: "", role: "execute" },
      pointers: ["/name", "/role"],
      confirm: text.confirmCreate,
      fields: ({ name, role }, take, problem) =>
        html`${textField({
          id: "key-name",
          label: common.name,
          hint: text.nameHint,
          value: name,
          required: true,
          change: (value) => take({ name: value }),
          mistakes: mistakesOf(problem, "/name"),
        })}${choiceField({
          id: "key-role",
          label: text.role,
          value: role,
          choices: ROLES.map((value) => [value, text.roleChoice(value)]),
          change: (value) => take({ role: value }),
          mistakes: mistakesOf(problem, "/role"),
        })}`,
      save: (draft) => post<ApiKey>("/keys", draft),
    });
    if (key?.key) {
      void this.load.again();
      await showSecret(text.secretTitle(key.name), key.key, text.storeIt);
    }
  }

  private async delete(key: ApiKey): Promise<void> {
    const own = key.id === signedIn.session?.key.id;
    const sure = await confirmAction({
      title: text.deleteTitle(key.name),
      body: html`<p>${text.refused}</p>
        ${own ? html`<p><strong>${text.signsOut}</strong></p>` : nothing}`,
      confirm: text.confirmDelete,
      danger: true,
    });
    if (!sure) {
      return;
    }
    try {
      await remove(`/keys/${key.id}`);
      toast(text.deleted(key.name));
      await this.load.again();
    } catch (e) {
      toast(asProblem(e).message, { failed: true });
    }
  }
}

const noKeys = (): TemplateResult => emptyState(text.noKeys, text.oneIsKept);
