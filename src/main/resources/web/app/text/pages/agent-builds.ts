/** Texts of the page of an agent's builds. */
export const text = {
  rebuild: "Rebuild",
  installsAgain: "Installs the same requirements again on the current base",
  builds: "Builds",
  noBuilds: "No builds yet",
  whenBuilt: "Roost builds the agent when its requirements or Python version change.",
};
