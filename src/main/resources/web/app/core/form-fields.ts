import type { ApprovalField, Json } from "./types";

/** A property of an object that one control of a form can show. */
export interface FormField {
  name: string;
  schema: ApprovalField;
  required: boolean;
}

type JsonObject = { [key: string]: Json };

const TYPES = ["string", "number", "integer", "boolean"];

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.getPrototypeOf(value) === Object.prototype;

/** The properties of a JSON Schema of an object that are texts, numbers, yes or no, or choices of those. */
export function formFields(schema: Json): FormField[] {
  if (!isObject(schema) || !isObject(schema.properties)) {
    return [];
  }
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties).flatMap(([name, property]) => {
    const field = fieldOf(property, schema);
    return field ? [{ name, schema: field, required: required.includes(name) }] : [];
  });
}

/** What pydantic writes of enums and optional properties is looked through. */
function fieldOf(property: Json, whole: JsonObject): ApprovalField | null {
  if (!isObject(property)) {
    return null;
  }
  const { $ref: reference, anyOf: choices, ...rest } = property;
  if (typeof reference === "string") {
    const defined = isObject(whole.$defs) ? whole.$defs[reference.replace("#/$defs/", "")] : undefined;
    return isObject(defined) && !("$ref" in defined) ? fieldOf({ ...defined, ...rest }, whole) : null;
  }
  if (Array.isArray(choices)) {
    const values = choices.filter((choice) => !isObject(choice) || choice.type !== "null");
    return values.length === 1 && isObject(values[0]) && !("anyOf" in values[0])
      ? fieldOf({ ...values[0], ...rest }, whole)
      : null;
  }
  return TYPES.includes(String(rest.type)) && (rest.enum === undefined || Array.isArray(rest.enum))
    ? (rest as unknown as ApprovalField)
    : null;
}
