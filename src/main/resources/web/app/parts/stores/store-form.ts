import { html } from "lit";
import { get, patch, post, Problem } from "../../core/api";
import type { DataStore, Page } from "../../core/types";
import { mistakesOf, textField } from "../forms/fields";
import { openForm } from "../forms/small-form";

/** Creates a DataStore; null if it is cancelled. */
export const createStore = (): Promise<DataStore | null> =>
  openForm({
    title: "New DataStore",
    draft: { name: "" },
    pointers: ["/name"],
    confirm: "Create DataStore",
    fields: ({ name }, take, problem) =>
      textField({
        id: "store-name",
        label: "Name",
        hint: html`Unique. Scripts with several DataStores read it as <code>request.stores["name"]</code>.
          Generated if empty.`,
        value: name,
        change: (value) => take({ name: value }),
        mistakes: mistakesOf(problem, "/name"),
      }),
    save: ({ name }) => post<DataStore>("/datastore", name ? { name } : {}),
  });

export const renameStore = (store: DataStore): Promise<DataStore | null> =>
  openForm({
    title: `Rename DataStore ${store.name}`,
    draft: { name: store.name },
    pointers: ["/name"],
    confirm: "Rename",
    fields: ({ name }, take, problem) =>
      textField({
        id: "store-name",
        label: "Name",
        hint: "Scripts that use the old name must be changed.",
        value: name,
        required: true,
        change: (value) => take({ name: value }),
        mistakes: mistakesOf(problem, "/name"),
      }),
    save: ({ name }) => patch<DataStore>(`/datastore/${store.id}`, { name }),
  });

/** Asks for an existing DataStore by name. */
export async function chooseStore(): Promise<DataStore | null> {
  const { data } = await get<Page<DataStore>>("/datastore", { limit: 200 });
  return openForm({
    title: "Add DataStore",
    draft: { name: "" },
    pointers: ["/name"],
    confirm: "Add DataStore",
    fields: ({ name }, take, problem) =>
      html`${textField({
          id: "store-name",
          label: "Name",
          hint: "Shared with the other agents that use it.",
          value: name,
          required: true,
          list: "store-names",
          change: (value) => take({ name: value }),
          mistakes: mistakesOf(problem, "/name"),
        })}<datalist id="store-names">
          ${data.map((store) => html`<option value=${store.name}></option>`)}
        </datalist>`,
    save: async ({ name }) => {
      const [found] = (await get<Page<DataStore>>("/datastore", { name })).data;
      if (!found) {
        const detail = `No DataStore named “${name}”.`;
        throw new Problem(404, "not_found", detail, detail, [
          { pointer: "/name", code: "not_found", detail },
        ]);
      }
      return found;
    },
  });
}
