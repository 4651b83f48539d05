import { html } from "lit";
import { get, patch, post, Problem } from "../../core/api";
import type { DataStore, Page } from "../../core/types";
import { common } from "../../text/common";
import { text } from "../../text/parts/stores";
import { mistakesOf, textField } from "../forms/fields";
import { openForm } from "../forms/small-form";

/** Creates a DataStore; null if it is cancelled. */
export const createStore = (): Promise<DataStore | null> =>
  openForm({
    title: text.form.create,
    draft: { name: "" },
    pointers: ["/name"],
    confirm: text.form.confirmCreate,
    fields: ({ name }, take, problem) =>
      textField({
        id: "store-name",
        label: common.name,
        hint: text.form.nameHint,
        value: name,
        change: (value) => take({ name: value }),
        mistakes: mistakesOf(problem, "/name"),
      }),
    save: ({ name }) => post<DataStore>("/datastore", name ? { name } : {}),
  });

export const renameStore = (store: DataStore): Promise<DataStore | null> =>
  openForm({
    title: text.form.rename(store.name),
    draft: { name: store.name },
    pointers: ["/name"],
    confirm: common.rename,
    fields: ({ name }, take, problem) =>
      textField({
        id: "store-name",
        label: common.name,
        hint: text.form.renameHint,
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
    title: text.form.add,
    draft: { name: "" },
    pointers: ["/name"],
    confirm: text.form.add,
    fields: ({ name }, take, problem) =>
      html`${textField({
          id: "store-name",
          label: common.name,
          hint: text.form.addHint,
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
        const detail = text.form.notFound(name);
        throw new Problem(404, "not_found", detail, detail, [
          { pointer: "/name", code: "not_found", detail },
        ]);
      }
      return found;
    },
  });
}
