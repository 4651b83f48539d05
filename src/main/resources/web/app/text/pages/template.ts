/** Texts of the page of a template. */
export const text = {
  breadcrumb: "Breadcrumb",
  templates: "Templates",
  title: "Template",
  use: "Use template",
  creating: "Creating agents",
  script: "Script",
  scriptLabel: "Script of the template",
  needs: "What it needs",
  examplePayload: "Example payload",
  payload: "Payload",
  fromTerminal: "From a terminal",
  copyCommand: "Copy command",
};
