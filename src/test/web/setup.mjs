// What the dashboard's modules find in a browser and Node hasn't: addresses of imports without endings, as
// esbuild takes them, the address of the page and its storage.

import { registerHooks } from "node:module";

globalThis.location = new URL("http://roost.test/");

const stored = new Map();
globalThis.localStorage = {
  getItem: (key) => stored.get(key) ?? null,
  setItem: (key, value) => stored.set(key, value),
  removeItem: (key) => stored.delete(key),
};

registerHooks({
  resolve: (specifier, context, next) =>
    next(isOfDashboard(specifier, context) ? specifier + ".ts" : specifier, context),
});

const isOfDashboard = (specifier, { parentURL }) =>
  specifier.startsWith(".") && !/\.(ts|json)$/.test(specifier) && parentURL?.includes("/web/app/");
