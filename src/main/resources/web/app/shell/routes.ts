import { html } from "lit";
import { queried, type Route } from "../core/router";
import { text } from "../text/shell";

/** All pages and their addresses. A page's code is loaded when it is first opened. */
export const routes: Route[] = [
  {
    path: "/",
    title: text.pages.overview,
    page: () => import("../pages/overview").then(() => () => html`<overview-page></overview-page>`),
  },
  {
    path: "/agents",
    title: text.pages.agents,
    page: () => import("../pages/agents").then(() => () => html`<agents-page></agents-page>`),
  },
  {
    path: "/create",
    title: text.pages.createAgent,
    page: () => import("../pages/create").then(() => () => html`<create-page></create-page>`),
  },
  {
    path: "/templates",
    title: text.pages.templates,
    page: () => import("../pages/templates").then(() => () => html`<templates-page></templates-page>`),
  },
  {
    path: "/templates/:name",
    title: text.pages.template,
    page: () =>
      import("../pages/template").then(
        () =>
          ({ name }) =>
            html`<template-page .name=${name}></template-page>`,
      ),
  },
  {
    path: "/agents/:id/:tab?",
    title: text.pages.agent,
    page: () =>
      import("../pages/agent").then(
        () =>
          ({ id, tab }) =>
            html`<agent-page .agentId=${id} .tab=${tab}></agent-page>`,
      ),
  },
  {
    path: "/executions",
    title: text.pages.executions,
    page: () => import("../pages/executions").then(() => () => html`<executions-page></executions-page>`),
  },
  {
    path: "/executions/compare",
    title: text.pages.comparison,
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
    title: text.pages.execution,
    page: () =>
      import("../pages/execution").then(
        () =>
          ({ id }) =>
            html`<execution-page .executionId=${id}></execution-page>`,
      ),
  },
  {
    path: "/executor-jobs/:id",
    title: text.pages.run,
    page: () =>
      import("../pages/executor-job").then(
        () =>
          ({ id }) =>
            html`<executor-job-page .jobId=${id}></executor-job-page>`,
      ),
  },
  {
    path: "/search",
    title: text.pages.search,
    page: () => import("../pages/search").then(() => () => html`<search-page></search-page>`),
  },
  {
    path: "/approvals",
    title: text.pages.approvals,
    page: () => import("../pages/approvals").then(() => () => html`<approvals-page></approvals-page>`),
  },
  {
    path: "/approvals/:id",
    title: text.pages.approval,
    page: () =>
      import("../pages/approval").then(
        () =>
          ({ id }) =>
            html`<approval-page .approvalId=${id}></approval-page>`,
      ),
  },
  {
    path: "/issues",
    title: text.pages.issues,
    page: () => import("../pages/issues").then(() => () => html`<issues-page></issues-page>`),
  },
  {
    path: "/issues/:id",
    title: text.pages.issue,
    page: () =>
      import("../pages/issue").then(
        () =>
          ({ id }) =>
            html`<issue-page .issueId=${id}></issue-page>`,
      ),
  },
  {
    path: "/builds",
    title: text.pages.builds,
    page: () => import("../pages/builds").then(() => () => html`<builds-page></builds-page>`),
  },
  {
    path: "/builds/:id",
    title: text.pages.build,
    page: () =>
      import("../pages/build").then(
        () =>
          ({ id }) =>
            html`<build-page .jobId=${id}></build-page>`,
      ),
  },
  {
    path: "/rollouts",
    title: text.pages.rollouts,
    page: () => import("../pages/rollouts").then(() => () => html`<rollouts-page></rollouts-page>`),
  },
  {
    path: "/rollouts/:id",
    title: text.pages.rollout,
    page: () =>
      import("../pages/rollout").then(
        () =>
          ({ id }) =>
            html`<rollout-page .rolloutId=${id}></rollout-page>`,
      ),
  },
  {
    path: "/schedules",
    title: text.pages.schedules,
    page: () => import("../pages/schedules").then(() => () => html`<schedules-page></schedules-page>`),
  },
  {
    path: "/stores",
    title: text.pages.stores,
    page: () => import("../pages/stores").then(() => () => html`<stores-page></stores-page>`),
  },
  {
    path: "/stores/:id",
    title: text.pages.store,
    page: () =>
      import("../pages/store").then(
        () =>
          ({ id }) =>
            html`<store-page .storeId=${id}></store-page>`,
      ),
  },
  {
    path: "/notifications/:id?",
    title: text.pages.notifications,
    page: () =>
      import("../pages/notifications").then(
        () =>
          ({ id }) =>
            html`<notifications-page .channelId=${id}></notifications-page>`,
      ),
  },
  {
    path: "/webhooks/:id?",
    title: text.pages.webhooks,
    page: () =>
      import("../pages/webhooks").then(
        () =>
          ({ id }) =>
            html`<webhooks-page .webhookId=${id}></webhooks-page>`,
      ),
  },
  {
    path: "/keys",
    title: text.pages.keys,
    page: () => import("../pages/keys").then(() => () => html`<keys-page></keys-page>`),
  },
  {
    path: "/settings",
    title: text.pages.settings,
    page: () => import("../pages/settings").then(() => () => html`<settings-page></settings-page>`),
  },
];
