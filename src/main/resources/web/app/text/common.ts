/** Texts that many pages have. */
export const common = {
  agent: "Agent",
  cancel: "Cancel",
  close: "Close",
  delete: "Delete",
  edit: "Edit",
  loading: "Loading…",
  name: "Name",
  remove: "Remove",
  rename: "Rename",
  save: "Save",
  showMore: "Show more",
  state: "State",
  tryAgain: "Try again",
  viewAll: "View all",
};
