import assert from "node:assert/strict";
import { test } from "node:test";
import { formFields } from "../../main/resources/web/app/core/form-fields.ts";

const fieldsOf = (properties, more = {}) =>
  formFields({ type: "object", properties, ...more }).map(({ name, schema, required }) => [
    name,
    schema.type,
    required,
  ]);

test("simple properties become fields, in their order", () => {
  const properties = { name: { type: "string" }, size: { type: "number" }, urgent: { type: "boolean" } };
  assert.deepEqual(fieldsOf(properties, { required: ["size"] }), [
    ["name", "string", false],
    ["size", "number", true],
    ["urgent", "boolean", false],
  ]);
});

test("enums and optional properties of pydantic are looked through", () => {
  const [color, note] = formFields({
    $defs: { Color: { enum: ["red", "blue"], type: "string", title: "Color" } },
    properties: {
      color: { $ref: "#/$defs/Color", default: "red" },
      note: { anyOf: [{ type: "string" }, { type: "null" }], title: "Note" },
    },
  });
  assert.deepEqual(color.schema, { enum: ["red", "blue"], type: "string", title: "Color", default: "red" });
  assert.deepEqual(note.schema, { type: "string", title: "Note" });
});

test("what a form can't show is left to the editor", () => {
  const properties = {
    list: { type: "array" },
    either: { anyOf: [{ type: "string" }, { type: "number" }] },
    item: { $ref: "#/$defs/Item" },
    gone: { $ref: "#/$defs/Gone" },
    round: { $ref: "#/$defs/Round" },
    anything: true,
  };
  const $defs = { Item: { type: "object" }, Round: { $ref: "#/$defs/Round" } };
  assert.deepEqual(fieldsOf(properties, { $defs }), []);
  for (const schema of [null, true, [], {}, { properties: [] }, { properties: null }]) {
    assert.deepEqual(formFields(schema), []);
  }
});
