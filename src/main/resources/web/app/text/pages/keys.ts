import { html } from "lit";
import type { Role } from "../../core/types";

/** What a key may do, by its role. */
const permissions: Record<Role, string> = {
  read: "read everything except the values of variables",
  execute: "read everything except those values, run agents, cancel runs",
  write: "read, run and change everything",
};

/** Texts of the page of API keys. */
export const text = {
  title: "API keys",
  create: "New key",
  use: html`Programs send a key as <code>Authorization: Bearer roost_…</code>; people sign in with one.`,
  changing: "Creating or deleting keys",
  thisSession: "· this session",
  role: "Role",
  permissionsTitle: "Permissions",
  permissions,
  id: "ID",
  created: "Created",
  deleteKey: (name: string) => `Delete ${name}`,
  noKeys: "No keys",
  oneIsKept: "Roost always keeps one key with the role write.",
  createTitle: "New key",
  confirmCreate: "Create key",
  nameHint: "For example the program that uses it.",
  roleChoice: (role: Role) => `${role}: ${permissions[role]}`,
  secretTitle: (name: string) => `Key ${name}`,
  storeIt: "Store it where your program can read it.",
  deleteTitle: (name: string) => `Delete key ${name}?`,
  refused: "Requests with this key are refused within five seconds, and its sessions end.",
  signsOut: "This session uses the key: you will be signed out.",
  confirmDelete: "Delete key",
  deleted: (name: string) => `Key ${name} deleted.`,
};
