import { html } from "lit";
import { count } from "../../core/format";
import type { Theme } from "../../core/theme";

/** Texts of the page of settings. */
export const text = {
  title: "Settings",
  session: {
    title: "Session",
    signOut: "Sign out",
    key: "Key",
    role: "Role",
    expires: "Expires",
    extended: (time: string) => `${time}, extended while in use`,
    withKey: "when the key is deleted",
  },
  look: {
    title: "Appearance",
    theme: "Theme",
    themes: { system: "System", light: "Light", dark: "Dark" } satisfies Record<Theme, string>,
    ofBrowser: "Applies to this browser only.",
  },
  runtime: {
    title: "Runtime",
    help: "Help",
    apiReference: "API reference",
    openApi: "OpenAPI",
    roost: "Roost",
    kind: "Kind",
    python: "Python",
    pythonVersions: (versions: string[], standard: string) => `${versions.join(", ")}; default ${standard}`,
    sandbox: "Sandbox",
    processes: "Processes",
    perExecutor: (processes: number, mechanism: string) =>
      `up to ${count(processes)} per executor, ${mechanism}`,
    executors: "Executors",
    upTo: (executors: number) => `up to ${count(executors)}`,
  },
  limits: {
    title: "Limits",
    none: "none",
  },
  server: {
    viewing: "Viewing server settings",
    title: "Server settings",
    search: "Search settings",
    howToSet: "Set when the server starts, as environment variables or on its command line.",
    setting: "Setting",
    value: "Value",
    set: "set",
    standard: "Default",
    description: "Description",
    noMatches: "No matching settings",
    noneContains: (words: string) => html`No setting contains <code>${words}</code>.`,
  },
};
