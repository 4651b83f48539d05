// Ruff, compiled to WebAssembly, in a worker: only this file's response allows WebAssembly (web/Ruff.java), no page does.
// Messages: {id, action: "check" or "format", text, target} → {id, result} or {id, error}. `target` is Ruff's
// target-version, for example "py313". The query of this file's address is Ruff's version.

/** Mistakes, not matters of taste: what fails at run time or does something else than it looks like. */
const RULES = ["E711", "E713", "E714", "E721", "E722", "E9", "F", "PLE", "B002", "B003", "B006", "B012", "B015", "B018", "B023"];
/** Ruff's positions are those of JavaScript strings. */
const UTF_16 = 1;

const loaded = load();
const workspaces = new Map();

onmessage = async ({ data: { id, action, text, target } }) => {
  try {
    const { Workspace } = await loaded;
    if (!workspaces.has(target)) {
      const options = { "target-version": target, "line-length": 100, lint: { select: RULES } };
      workspaces.set(target, new Workspace(options, UTF_16));
    }
    postMessage({ id, result: workspaces.get(target)[action](text) });
  } catch (e) {
    postMessage({ id, error: e instanceof Error ? e.message : String(e) });
  }
};

async function load() {
  const ruff = await import(`./ruff_wasm.js${location.search}`);
  const response = await fetch(`ruff_wasm_bg.wasm.gz${location.search}`);
  if (!response.ok) {
    throw new Error(`Ruff could not be loaded (${response.status}).`);
  }
  const code = response.body.pipeThrough(new DecompressionStream("gzip"));
  const headers = { "Content-Type": "application/wasm" };
  await ruff.default({ module_or_path: new Response(code, { headers }) });
  return ruff;
}
