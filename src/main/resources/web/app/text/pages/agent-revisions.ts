/** Texts of the page of an agent's revisions. */
export const text = {
  title: "Revisions",
  revision: (revision: number) => `Revision ${revision}`,
  created: "created",
  rollBackTo: (revision: number) => `Roll back to revision ${revision}`,
  rollBack: "Roll back",
  comparedWith: "compared with",
  comparedWithLabel: "Compared with",
  other: (revision: number) => `revision ${revision}`,
  mayRollBack: (revision: number) => `Roll back to revision ${revision}?`,
  creates: (next: number, fields: string, revision: number) =>
    `Creates revision ${next} with the ${fields} of revision ${revision}. Running executions are not affected.`,
  installsAgain: "The requirements are installed again, unless that build still exists.",
  identical: "This revision is identical to the current one. Nothing changes.",
  noChanges: "No changes.",
  rolledBack: (revision: number, next: number) => `Rolled back to revision ${revision} as revision ${next}.`,
};
