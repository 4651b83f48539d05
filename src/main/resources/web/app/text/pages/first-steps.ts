import { html } from "lit";

/** Texts of the first steps with a Roost. */
export const text = {
  welcome: "Welcome to Roost",
  getStarted: "Get started",
  about:
    "An agent is a Python script with its requirements. Roost installs the requirements once and runs the script on demand, on a schedule or through the API.",
  runOrCreate: (agent: unknown) => html`Run ${agent}, or create an agent.`,
  moreTemplates: "More templates",
  cannotCreate: html`Your API key can't create agents. The role <code>write</code> is required.`,
  /** What to do outside of the dashboard, with the command for it. */
  commands: (origin: string): [title: string, command: string][] => [
    ["Sign in from a terminal", `roost login --url ${origin}`],
    ["Deploy a script", "roost deploy hello.py"],
    ["Use the REST API", `curl -H "Authorization: Bearer $ROOST_API_KEY" ${origin}/v1/agents`],
  ],
  copyCommand: "Copy command",
};
