/** Texts of all forms. */
export const text = {
  atLine: (line: number, mistake: string) => `line ${line}: ${mistake}`,
  working: "Working…",
  optional: (label: string) => `${label} (optional)`,
  yes: "Yes",
  no: "No",
  choose: "Choose…",
};
