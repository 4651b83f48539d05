// What the dashboard's modules find in a browser and Node hasn't: addresses of imports without endings, as
// esbuild takes them, and the address of the page.

import { registerHooks } from "node:module";

globalThis.location = new URL("http://roost.test/");

registerHooks({
  resolve: (specifier, context, next) =>
    next(isOfDashboard(specifier, context) ? specifier + ".ts" : specifier, context),
});

const isOfDashboard = (specifier, { parentURL }) =>
  specifier.startsWith(".") && !specifier.endsWith(".ts") && parentURL?.includes("/web/app/");
