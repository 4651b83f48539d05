import { html } from "lit";

/** Texts of the page that creates an agent. */
export const text = {
  title: "Create agent",
  schedule: "Schedule",
  callFromCode: "Call from code",
  openAgent: "Open agent",
  mayNotCreate: "This key can't create agents",
  signedInWith: (key: string, role: string) =>
    html`You are signed in with the key <strong>${key}</strong> (role ${role}). Creating and changing agents
      requires the role <code>write</code>.`,
  viewAgents: "View agents",
  optional: "Optional",
  tags: "Tags",
  tagsPlaceholder: "Optional, for example billing, team/crawlers",
  template: "Template",
  moreTemplates: "More templates…",
  templateNeeds: "what the template needs",
  steps: "Steps",
  createStep: "Create the agent",
  installStep: "Install requirements",
  prepareStep: "Prepare Python",
  runStep: "Run main with the payload",
  resultStep: "Show the log and the return value",
  created: "Agent created",
  createAndRun: "Create and run",
  saveAndRun: "Save and run",
  runAgain: "Run again",
  mayReplace: "Replace your script?",
  replaces: (template: string) =>
    `The template “${template}” replaces the script, the requirements, the variables and the payload of your draft.`,
  replace: "Replace",
};
