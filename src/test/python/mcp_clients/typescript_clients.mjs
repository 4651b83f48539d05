// What the official clients for TypeScript can do: the first generation, the second, and tasks with each.
//
//     node typescript_clients.mjs URL KEY

import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient, resultFromTaskOutcome } from "@modelcontextprotocol/ext-tasks/client";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Transport1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [url, key] = process.argv.slice(2);
const headers = { Authorization: `Bearer ${key}` };
const clientInfo = { name: "test", version: "1" };
const elicitation = { elicitation: { form: {} } };
const TASKS = "io.modelcontextprotocol/tasks";
const accept = async () => ({ action: "accept", content: { amount: 20 } });

async function api(path) {
  const response = await fetch(`${url}/v1${path}`, { headers });
  assert.equal(response.status, 200, path);
  return response.json();
}

async function latestJob(tool) {
  const agents = await api(`/agents?name=agent ${tool}`);
  return (await api(`/executor-jobs?agent_id=${agents.data[0].id}&limit=1`)).data[0];
}

async function until(what, holds) {
  for (let tries = 0; tries < 600; tries++) {
    if (await holds()) {
      return;
    }
    await sleep(200);
  }
  assert.fail(what);
}

async function firstGeneration() {
  const client = new Client1(clientInfo, { capabilities: elicitation });
  client.setRequestHandler(ElicitRequestSchema, accept);
  await client.connect(new Transport1(new URL(`${url}/mcp`), { requestInit: { headers } }));
  return client;
}

async function secondGeneration(extra = {}) {
  const client = new Client2(clientInfo, {
    capabilities: { ...elicitation, ...extra },
    versionNegotiation: { mode: "auto" },
  });
  client.setRequestHandler("elicitation/create", accept);
  await client.connect(new Transport2(new URL(`${url}/mcp`), { requestInit: { headers } }));
  return client;
}

/** Both generations have the same methods for this; only what they pass as options differs. */
async function callsTools(client, call) {
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    ["add", "fail", "lie", "pay", "report", "slow", "square"],
  );
  const progress = [];
  const result = await call({ name: "add", arguments: { a: 1, b: 2 } }, { onprogress: (each) => progress.push(each) });
  assert.deepEqual(result.structuredContent, { sum: 3 });
  assert(progress.some(({ progress, total, message }) => progress === 0.5 && total === 1 && message === "half"));
  const paid = await call({ name: "pay", arguments: { order: 1 } });
  assert.deepEqual(JSON.parse(paid.content[0].text), [true, { amount: 20 }]);
  const mistaken = await call({ name: "square", arguments: { payload: "x" } });
  assert(mistaken.isError, JSON.stringify(mistaken));
  const read = await client.readResource({ uri: (await client.listResources()).resources[0].uri });
  assert.equal(JSON.parse(read.contents[0].text).id.slice(0, 5), "xjob_");
}

async function cancels(call) {
  const stop = new AbortController();
  const before = await latestJob("slow");
  const called = call({ name: "slow", arguments: {} }, { signal: stop.signal });
  called.catch(() => {});
  let job;
  await until("the job runs", async () => {
    job = await latestJob("slow");
    return job && job.id !== before?.id && job.state === "running";
  });
  stop.abort();
  await assert.rejects(called);
  await until("the job is cancelled", async () => (await api(`/executor-jobs/${job.id}`)).state === "cancelled");
}

async function tasksOfFirstGeneration(client) {
  const states = [];
  let result;
  const stream = client.experimental.tasks.callToolStream(
    { name: "pay", arguments: { order: 2 } },
    CallToolResultSchema,
    { task: {} },
  );
  for await (const each of stream) {
    states.push(each.type === "taskStatus" ? each.task.status : each.type);
    result = each.result ?? result;
    assert.notEqual(each.type, "error", JSON.stringify(each));
  }
  assert.equal(states[0], "taskCreated");
  assert.deepEqual(JSON.parse(result.content[0].text), [true, { amount: 20 }]);
  const job = await latestJob("pay");
  // Long afterwards, and for any client
  assert.equal((await client.experimental.tasks.getTask(job.id)).status, "completed");
  const again = await client.experimental.tasks.getTaskResult(job.id, CallToolResultSchema);
  assert.deepEqual(again.content, result.content);
  await assert.rejects(client.experimental.tasks.getTask("xjob_none"));
  for await (const each of client.experimental.tasks.callToolStream(
    { name: "slow", arguments: {} },
    CallToolResultSchema,
    { task: {} },
  )) {
    if (each.type === "taskCreated") {
      assert.equal((await client.experimental.tasks.cancelTask(each.task.taskId)).status, "cancelled");
      break;
    }
  }
}

/** The requests of tasks, which this generation's client leaves to a package of their own. */
function rawDispatch(framing) {
  let id = 0;
  return async (request) => {
    const name = request.params?.name;
    const response = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        ...headers,
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "MCP-Protocol-Version": framing.protocolVersion,
        "Mcp-Method": request.method,
        ...(name === undefined ? {} : { "Mcp-Name": name }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: ++id, ...request }),
    });
    return response.json();
  };
}

async function tasksOfSecondGeneration() {
  const extensions = { [TASKS]: {} };
  const client = await secondGeneration({ extensions });
  const framing = {
    protocolVersion: "2026-07-28",
    clientInfo,
    clientCapabilities: { ...elicitation, extensions },
  };
  const session = createTaskSessionFromClient(client, {
    endpointId: "test",
    rawDispatch: rawDispatch(framing),
    v2RequestFraming: framing,
    onInputRequest: accept,
  });
  const paid = await session.callTool("pay", { order: 3 });
  const { outcome } = await paid.settle();
  assert.deepEqual(JSON.parse(resultFromTaskOutcome(outcome).content[0].text), [true, { amount: 20 }]);
  const slow = await session.callTool("slow", {});
  const { id } = await latestJob("slow");
  await slow.cancel();
  await until("the task is cancelled", async () => (await api(`/executor-jobs/${id}`)).state === "cancelled");
  await session.close();
  await client.close();
}

const first = await firstGeneration();
const call1 = (params, options) => first.callTool(params, CallToolResultSchema, options);
await callsTools(first, call1);
await cancels(call1);
await tasksOfFirstGeneration(first);
await first.close();
console.log("first generation");

const second = await secondGeneration();
const call2 = (params, options) => second.callTool(params, options);
await callsTools(second, call2);
await cancels(call2);
await second.close();
console.log("second generation");

await tasksOfSecondGeneration();
console.log("tasks of the second generation");
process.exit(0);
