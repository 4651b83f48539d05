import { html } from "lit";
import { bytes, count, duration, plural } from "../../core/format";

const list = new Intl.ListFormat("en");

/** Texts about agents: their lists, their code and what can be done with them. */
export const text = {
  columns: {
    python: "Python",
    build: "Build",
    lastExecution: "Last execution",
    activity: "Activity",
    lastWeek: "Last 7 days",
    nextRun: "Next run",
    created: "Created",
    runningRevision: (revision: number) => `running revision ${revision}`,
    outdated: "outdated",
    outdatedTitle: "Built with an older base or SDK",
    never: "never",
    running: (executions: number) => `${count(executions)} running`,
    queued: (runs: number) => `${count(runs)} queued`,
    delete: (name: string) => html`Delete<span class="unseen"> ${name}</span>`,
  },
  tags: {
    agentsWith: (tag: string) => `Agents with the tag ${tag}`,
  },
  groups: {
    firstTags: "The first 1,000 tags are shown.",
    none: "No groups",
    noTags: "No agent has a tag. Select agents in the list to add tags.",
    noTag: "No tag",
    labelWithout: "Agents with no tag",
    noMatches: "No agent of this group matches the filter.",
  },
  runButton: {
    runNow: (name: string) => html`Run now<span class="unseen"> ${name}</span>`,
    runWithLast: "Run with the last payload",
    run: (payload: string) => `Run ${payload}`,
    queued: (name: string, payload: string) => `Run queued: ${name}, ${payload}.`,
    viewRun: "View run",
    notRun: (name: string, problem: string) => `${name} was not run: ${problem}`,
  },
  bulk: {
    run: "Run",
    addTags: "Add tags",
    removeTag: "Remove tag",
    pauseSchedules: "Pause schedules",
    resumeSchedules: "Resume schedules",
    agents: "Agents",
    runAgents: (agents: number) => `Run ${plural(agents, "agent")}?`,
    confirmRun: (agents: number) => `Run ${count(agents)}`,
    notQueued: (failed: number, runs: number, problem: string) =>
      `${count(failed)} of ${plural(runs, "run")} not queued: ${problem}`,
    queued: (runs: number) => `${plural(runs, "run")} queued.`,
    viewExecutions: "View executions",
    addTagsTo: (agents: number) => `Add tags to ${plural(agents, "agent")}`,
    tags: "Tags",
    tagsHint: "Separated by commas or spaces, for example billing, team/crawlers.",
    tag: "Tag",
    tagged: {
      done: (agents: number) => `${plural(agents, "agent")} tagged.`,
      notDone: (failed: number, all: number) => `${count(failed)} of ${plural(all, "agent")} not tagged`,
    },
    changed: {
      done: (agents: number) => `${plural(agents, "agent")} changed.`,
      notDone: (failed: number, all: number) => `${count(failed)} of ${plural(all, "agent")} not changed`,
    },
    deleted: {
      done: (agents: number) => `${plural(agents, "agent")} deleted.`,
      notDone: (failed: number, all: number) => `${count(failed)} of ${plural(all, "agent")} not deleted`,
    },
    schedules: (schedules: number) => plural(schedules, "schedule"),
    deleteAgents: (agents: number) => `Delete ${plural(agents, "agent")}?`,
    deletes:
      "Cancels their running and queued executions and deletes their schedules. DataStores and the execution history are kept. This can't be undone.",
    cancelsJobs: (jobs: number) => `cancels ${plural(jobs, "job")}`,
    confirmDelete: (agents: number) => `Delete ${plural(agents, "agent")}`,
    typeDelete: (agents: number) => `delete ${agents}`,
  },
  /** Pausing and resuming the schedules of agents, by the action of the API. */
  switches: {
    pause_schedules: {
      none: (agents: number) => `No schedule of ${plural(agents, "agent")} can be paused.`,
      title: (schedules: number, agents: number) =>
        `Pause ${plural(schedules, "schedule")} of ${plural(agents, "agent")}?`,
      confirm: "Pause schedules",
      done: (schedules: number) => `${plural(schedules, "schedule")} paused.`,
      notDone: (failed: number, all: number) =>
        `Schedules of ${count(failed)} of ${plural(all, "agent")} not paused`,
    },
    resume_schedules: {
      none: (agents: number) => `No schedule of ${plural(agents, "agent")} can be resumed.`,
      title: (schedules: number, agents: number) =>
        `Resume ${plural(schedules, "schedule")} of ${plural(agents, "agent")}?`,
      confirm: "Resume schedules",
      done: (schedules: number) => `${plural(schedules, "schedule")} resumed.`,
      notDone: (failed: number, all: number) =>
        `Schedules of ${count(failed)} of ${plural(all, "agent")} not resumed`,
    },
  },
  choice: {
    unknown: (name: string) => `No agent named “${name}”.`,
    placeholder: "Agent name",
    allAgents: "All agents",
  },
  /** The fields of a revision. */
  fields: {
    script: "Script",
    bundle_id: "Files",
    script_path: "Path of the script",
    requirements: "Requirements",
    env_vars: "Variables",
    python_version: "Python version",
    profile: "Profile",
    egress: "Egress",
    preload: "Preloading",
    input_schema: "Input schema",
    output_schema: "Output schema",
  },
  /** The same, within a sentence. */
  fieldWords: {
    script: "script",
    bundle_id: "files",
    script_path: "path of the script",
    requirements: "requirements",
    env_vars: "variables",
    python_version: "Python version",
    profile: "profile",
    egress: "egress",
    preload: "preloading",
    input_schema: "input schema",
    output_schema: "output schema",
  },
  code: {
    python: "Python",
    format: "Format",
    formatTitle: "Format the script (Shift+Alt+F)",
    formatting: "Formatting…",
    notFormatted: (reason: string) => `The script could not be formatted. ${reason}`,
    failure: "Failure",
    warnings: "Warnings",
    place: (line: number, column?: number) => (column ? `line ${line}, column ${column}` : `line ${line}`),
    moreWarnings: (more: number) => `${plural(more, "more warning")} in the script`,
    requirementWarnings: "Warnings about requirements",
    writeVersion: (name: string) => `Write the version of ${name} to install.`,
    added: (requirement: string) => `Added ${requirement} to the requirements.`,
    hints: {
      script: "",
      requirements: html`One package per line, <code>name==version</code>. Installed before the first run.`,
      env_vars: html`One per line, <code>KEY=VALUE</code>; the script reads <code>os.environ["KEY"]</code>.`,
    },
    showValues: "Show values",
  },
  revisions: {
    default: "default",
    noDifferences: "No differences.",
  },
  running: {
    failedToBuild: (revision: number, running: number) =>
      `Revision ${revision} failed to build; revision ${running} still runs.`,
    isBuilding: (revision: number, running: number) =>
      `Revision ${revision} is building; revision ${running} runs until then.`,
    notes: {
      current: "current",
      failed: "failed to build",
      building: "building",
      running: "runs now",
    },
  },
  health: {
    noRuns: "no runs yet",
    lastFailed: "last run failed",
    lastSucceeded: "last run succeeded",
    someFailed: (runs: number, failed: number) => `last ${count(runs)} runs: ${count(failed)} failed`,
    allSucceeded: (runs: number) => `last ${count(runs)} runs: all succeeded`,
  },
  preloaded: {
    title: "Preloaded imports",
    modules: (modules: number) => plural(modules, "module"),
    note: (modules: number) => `${plural(modules, "module")} preloaded`,
    changeSetting: "Change setting",
    off: "Preloading is off: each execution imports its modules itself.",
    afterBuild: "Known after the first execution, which waits for the build.",
    afterRevision: (revision: number) => `Known after the first execution of revision ${revision}.`,
    saves: (seconds: number, memory: number) =>
      `Each execution saves about ${duration(seconds)}. ` +
      `The imported modules use ${bytes(memory)} of memory in each executor.`,
    packages: (packages: string) => html`<strong>Packages:</strong> ${packages}`,
    andMore: (packages: string, more: number) => `${packages} and ${more} more`,
    noPackages: "none",
    nothing: "The script imports nothing that an executor can import in advance.",
    reported: (ago: unknown, revision: number) => html`Reported ${ago} for revision ${revision}.`,
    leftOut: "Left out",
    leftOutHelp: "Each execution imports these modules itself.",
    leftOutLabel: "Modules that are left out",
    module: "Module",
    reason: "Reason",
  },
  confinement: {
    title: "Profile and network",
    network: "Network",
    profile: "Profile",
    defaultProfile: "Default",
    unavailable: (profile: string) => `${profile} (no longer available)`,
    profileHint: "The kind of pod that runs the agent, defined by the operator.",
    egress: "Egress",
    kinds: {
      all: "Everything",
      none: "Nothing",
      destinations: "Only these destinations",
    },
    egressHint:
      "What scripts may connect to. DataStores and the installation of requirements are not affected.",
    destinations: "Destinations",
    destinationsHint: html`One per line: an IP address or CIDR block and a TCP port, for example
      <code>192.0.2.7:443</code>, <code>192.0.2.0/24:5432</code> or <code>[2001:db8::7]:443</code>.`,
    onlyPorts: "This machine enforces only the ports, for every address.",
    summary: {
      all: "egress: all",
      none: "egress: none",
    },
    destinationsSummary: (destinations: number) => `egress: ${plural(destinations, "destination")}`,
  },
  tool: {
    title: "Tool",
    name: "Tool name",
    nameHint: html`Under this name, language models are offered the agent as a tool: 1 to 64 letters, digits,
      <code>_</code> and <code>-</code>. Empty: it isn't a tool.`,
    description: "Tool description",
    descriptionHint:
      "What the tool does and when to use it, for the model that chooses among tools. Up to 4,096 characters.",
    address: (url: string) =>
      html`Language models reach it through the Model Context Protocol at <code>${url}</code>.`,
    help: "How to connect a client",
  },
  deletion: {
    title: (name: string) => `Delete agent ${name}?`,
    cancels: (executions: number, runs: number) => {
      const cancelled = [
        ...(executions ? [plural(executions, "running execution")] : []),
        ...(runs ? [plural(runs, "queued run")] : []),
      ];
      return `Cancels ${list.format(cancelled)}.`;
    },
    deletes: (schedules: number) => `Deletes ${plural(schedules, "schedule")}.`,
    endsNothing: "It has no running or queued executions, and no schedules.",
    keepsStores: (stores: number) =>
      `Keeps ${plural(stores, "DataStore")} with all entries, and the execution history.`,
    keepsHistory: "Keeps the execution history.",
    confirm: "Delete agent",
    deleted: (name: string) => `Agent ${name} deleted.`,
  },
  templates: {
    packageCount: (packages: number) => (packages ? plural(packages, "package") : "no packages"),
    variableCount: (variables: number) => plural(variables, "variable"),
    aStore: "a store",
    runsOnSchedule: "runs on a schedule",
    variable: (description: string, example: string) => html`${description}, such as <code>${example}</code>`,
    optionalVariable: (description: string, example: string) =>
      html`${description} <span class="faint">(optional)</span>, such as <code>${example}</code>`,
    packages: "Packages",
    noPackages: "none",
    store: "Store",
    keepsData: "Keeps its data in a store of its own.",
    schedule: "Schedule",
    onDemand: "on demand",
  },
  callIt: {
    intro: html`These examples read the API key from the environment variable <code>ROOST_API_KEY</code>.
      Create a key with the role <strong>execute</strong> under <a href="/keys">API keys</a>; it is shown only
      once. The payload is that of your last run.`,
    exportKey: "export ROOST_API_KEY=roost_…",
    copy: "Copy",
    copyTitle: (title: string) => `Copy: ${title}`,
    code: (title: string) => `Code: ${title}`,
  },
  url: {
    title: "URL",
    none: "This agent has no URL of its own. With one, it takes webhooks and requests from browsers and other programs.",
    needsWrite: "Giving it one requires a key with the role write.",
    create: "Create URL",
    change: "Change URL",
    remove: "Remove URL",
    copyAddress: "Copy: address",
    example: "Code: request to the URL",
    methods: "Methods",
    authentication: "Requests require",
    authentications: {
      key: "An API key",
      signature: "A signature",
      public: "Nothing: it is public",
    },
    scheme: "Signed as by",
    schemes: {
      standard_webhooks: "Standard Webhooks",
      github: "GitHub",
      stripe: "Stripe",
      slack: "Slack",
    },
    secret: "Secret",
    secretKept: "Leave it empty to keep the secret.",
    secretGenerated: "Leave it empty to have one generated.",
    secretRequired: "The one that the sender signs with.",
    overlap: "Requests signed with the secret so far",
    overlaps: {
      "0": "are refused at once",
      "3600": "are accepted for another hour",
      "86400": "are accepted for another day",
      "604800": "are accepted for another week",
    },
    aboutSecret: "Give it to the sender, which signs its requests with it.",
    mode: "Response",
    modes: {
      wait: "The result of the job",
      accept: "202 at once, with the job's identifier",
    },
    format: "Payload",
    formats: {
      json: "The body, as JSON",
      http: "The whole request, as request.http",
    },
    wait: "Waits at most",
    waitLabel: "Wait at most, seconds",
    waitHint: "Then the response is 202, and the job continues.",
    seconds: (seconds: number) => `${seconds} s`,
    limit: "Limit",
    limitLabel: "Requests per minute",
    limitHint: "On each replica; a public URL requires it.",
    perMinute: (requests: number) => `${requests.toLocaleString("en")} requests per minute`,
    origins: "Origins of pages (CORS)",
    originsHint: "Whose pages may read the responses, separated by spaces; * for all.",
    saved: "URL saved.",
    removed: "URL removed.",
    confirmRemove: (name: string) => `Remove the URL of ${name}?`,
    whatEnds: "Requests to it will be refused. Its secret is deleted.",
    curl: (address: string, url: { methods: string[]; authentication: string; format: string }) => {
      const method = url.methods.includes("POST") ? "POST" : (url.methods[0] ?? "POST");
      const lines = [`curl -X ${method} '${address.replaceAll("'", "%27")}'`];
      if (url.authentication === "key") {
        lines.push(`  -H "Authorization: Bearer $ROOST_API_KEY"`);
      }
      if (method !== "GET") {
        lines.push("  -H 'Content-Type: application/json'", "  -d '{}'");
      }
      return lines.join(" \\\n");
    },
  },
  snippets: {
    curl: {
      title: "curl",
      needs: "Waits up to 60 seconds for the end, and returns the job with its execution.",
      code: (
        origin: string,
        agentId: string,
        body: string,
      ) => `curl -X POST '${origin}/v1/agents/${agentId}/execute?wait=60' \\
  -H "Authorization: Bearer $ROOST_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d ${body}`,
    },
    python: {
      title: "Python",
      needs: "With the SDK; check=True raises ExecutionFailed when the script fails.",
      code: (origin: string, agentId: string, payload: string) => `import roost

client = roost.Client(base_url="${origin}")
agent = client.agents.retrieve("${agentId}")
execution = agent.execute(${payload}check=True)
print(execution.return_value)`,
    },
    asynchronous: {
      title: "Python, asynchronous",
      needs: "With asyncio.",
      code: (origin: string, agentId: string, payload: string) => `import asyncio

import roost.aio


async def main():
    async with roost.aio.Client(base_url="${origin}") as client:
        agent = await client.agents.retrieve("${agentId}")
        execution = await agent.execute(${payload}check=True)
        print(execution.return_value)


asyncio.run(main())`,
    },
    tool: {
      title: "Model Context Protocol",
      needs: (name: string) => `For clients that read mcp.json: models call the agent as the tool ${name}.`,
      code: (origin: string) => `{
  "servers": {
    "roost": {
      "type": "http",
      "url": "${origin}/mcp",
      "headers": {"Authorization": "Bearer roost_…"}
    }
  }
}`,
    },
    commandLine: {
      title: "Command line",
      needs: "Prints the return value; the exit code is 1 when the script fails.",
      code: (origin: string, agentId: string, payload: string) => `export ROOST_URL='${origin}'
roost execute ${agentId}${payload}`,
    },
  },
};
