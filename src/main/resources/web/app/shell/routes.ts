import { html } from "lit";
import { queried, type Route } from "../core/router";

/** All pages and their addresses. A page's code is loaded when it is first opened. */
export const routes: Route[] = [
  {
    path: "/",
    title: "Overview",
    page: () => import("../pages/overview").then(() => () => html`<overview-page></overview-page>`),
  },
  {
    path: "/agents",
    title: "Agents",
    page: () => import("../pages/agents").then(() => () => html`<agents-page></agents-page>`),
  },
  {
    path: "/create",
    title: "Create agent",
    page: () => import("../pages/create").then(() => () => html`<create-page></create-page>`),
  },
  {
    path: "/templates",
    title: "Templates",
    page: () => import("../pages/templates").then(() => () => html`<templates-page></templates-page>`),
  },
  {
    path: "/templates/:name",
    title: "Template",
    page: () =>
      import("../pages/template").then(
        () =>
          ({ name }) =>
            html`<template-page .name=${name}></template-page>`,
      ),
  },
  {
    path: "/agents/:id/:tab?",
    title: "Agent",
    page: () =>
      import("../pages/agent").then(
        () =>
          ({ id, tab }) =>
            html`<agent-page .agentId=${id} .tab=${tab}></agent-page>`,
      ),
  },
  {
    path: "/executions",
    title: "Executions",
    page: () => import("../pages/executions").then(() => () => html`<executions-page></executions-page>`),
  },
  {
    path: "/executions/compare",
    title: "Comparison",
    page: () =>
      import("../pages/comparison").then(
        () => () =>
          html`<execution-comparison
            .one=${queried("one")}
            .other=${queried("other")}
          ></execution-comparison>`,
      ),
  },
  {
    path: "/executions/:id",
    title: "Execution",
    page: () =>
      import("../pages/execution").then(
        () =>
          ({ id }) =>
            html`<execution-page .executionId=${id}></execution-page>`,
      ),
  },
  {
    path: "/executor-jobs/:id",
    title: "Run",
    page: () =>
      import("../pages/executor-job").then(
        () =>
          ({ id }) =>
            html`<executor-job-page .jobId=${id}></executor-job-page>`,
      ),
  },
  {
    path: "/search",
    title: "Search",
    page: () => import("../pages/search").then(() => () => html`<search-page></search-page>`),
  },
  {
    path: "/issues",
    title: "Issues",
    page: () => import("../pages/issues").then(() => () => html`<issues-page></issues-page>`),
  },
  {
    path: "/issues/:id",
    title: "Issue",
    page: () =>
      import("../pages/issue").then(
        () =>
          ({ id }) =>
            html`<issue-page .issueId=${id}></issue-page>`,
      ),
  },
  {
    path: "/builds",
    title: "Builds",
    page: () => import("../pages/builds").then(() => () => html`<builds-page></builds-page>`),
  },
  {
    path: "/builds/:id",
    title: "Build",
    page: () =>
      import("../pages/build").then(
        () =>
          ({ id }) =>
            html`<build-page .jobId=${id}></build-page>`,
      ),
  },
  {
    path: "/rollouts",
    title: "Rollouts",
    page: () => import("../pages/rollouts").then(() => () => html`<rollouts-page></rollouts-page>`),
  },
  {
    path: "/rollouts/:id",
    title: "Rollout",
    page: () =>
      import("../pages/rollout").then(
        () =>
          ({ id }) =>
            html`<rollout-page .rolloutId=${id}></rollout-page>`,
      ),
  },
  {
    path: "/schedules",
    title: "Schedules",
    page: () => import("../pages/schedules").then(() => () => html`<schedules-page></schedules-page>`),
  },
  {
    path: "/stores",
    title: "DataStores",
    page: () => import("../pages/stores").then(() => () => html`<stores-page></stores-page>`),
  },
  {
    path: "/stores/:id",
    title: "DataStore",
    page: () =>
      import("../pages/store").then(
        () =>
          ({ id }) =>
            html`<store-page .storeId=${id}></store-page>`,
      ),
  },
  {
    path: "/notifications/:id?",
    title: "Notifications",
    page: () =>
      import("../pages/notifications").then(
        () =>
          ({ id }) =>
            html`<notifications-page .channelId=${id}></notifications-page>`,
      ),
  },
  {
    path: "/webhooks/:id?",
    title: "Webhooks",
    page: () =>
      import("../pages/webhooks").then(
        () =>
          ({ id }) =>
            html`<webhooks-page .webhookId=${id}></webhooks-page>`,
      ),
  },
  {
    path: "/keys",
    title: "API keys",
    page: () => import("../pages/keys").then(() => () => html`<keys-page></keys-page>`),
  },
  {
    path: "/settings",
    title: "Settings",
    page: () => import("../pages/settings").then(() => () => html`<settings-page></settings-page>`),
  },
];
