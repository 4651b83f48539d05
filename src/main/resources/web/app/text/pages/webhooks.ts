/** Texts of the page of webhooks. */
export const text = {
  title: "Webhooks",
  changing: "Viewing or changing webhooks",
  create: "New webhook",
  url: "URL",
  events: "Events",
  allAgents: "all",
  created: "Created",
  none: "No webhooks yet",
  about:
    "Roost calls a webhook's URL on events such as a failed execution or a finished build. Each call is signed, and retried until it is received.",
};
