import { ExactNumber, type Json } from "../../core/types";
import { parseExactly } from "../../core/api";

/** How a program runs an agent. */
export interface Snippet {
  title: string;
  /** Prerequisites and behaviour. */
  needs: string;
  code: string;
}

/**
 * The ways to run an agent from outside. `payload` is JSON text, or "" for none; `origin` is where this
 * Roost is, for example "https://roost.example.org".
 */
export function snippets(agentId: string, payload: string, origin: string): Snippet[] {
  const literal = payload.trim() ? `payload=${pythonLiteral(parseExactly(payload))}, ` : "";
  const body = payload.trim() ? `{"payload": ${payload.trim()}}` : "{}";
  return [
    {
      title: "curl",
      needs: "Waits up to 60 seconds for the end, and returns the job with its execution.",
      code: `curl -X POST '${origin}/v1/agents/${agentId}/execute?wait=60' \\
  -H "Authorization: Bearer $ROOST_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d ${shellQuoted(body)}`,
    },
    {
      title: "Python",
      needs: "With the SDK; check=True raises ExecutionFailed when the script fails.",
      code: `import roost

client = roost.Client(base_url="${origin}")
agent = client.agents.retrieve("${agentId}")
execution = agent.execute(${literal}check=True)
print(execution.return_value)`,
    },
    {
      title: "Python, asynchronous",
      needs: "With asyncio.",
      code: `import asyncio

import roost.aio


async def main():
    async with roost.aio.Client(base_url="${origin}") as client:
        agent = await client.agents.retrieve("${agentId}")
        execution = await agent.execute(${literal}check=True)
        print(execution.return_value)


asyncio.run(main())`,
    },
    {
      title: "Command line",
      needs: "Prints the return value; the exit code is 1 when the script fails.",
      code: `export ROOST_URL='${origin}'
roost execute ${agentId}${payload.trim() ? ` --payload ${shellQuoted(payload.trim())}` : ""}`,
    },
  ];
}

/** A word of a shell, whatever is in it. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A JSON value as Python writes it; strings have the same escapes. */
export function pythonLiteral(value: Json): string {
  if (value === null) {
    return "None";
  }
  if (typeof value === "boolean") {
    return value ? "True" : "False";
  }
  if (value instanceof ExactNumber) {
    return value.source;
  }
  if (Array.isArray(value)) {
    return `[${value.map(pythonLiteral).join(", ")}]`;
  }
  if (typeof value === "object") {
    const members = Object.entries(value).map(
      ([key, member]) => `${JSON.stringify(key)}: ${pythonLiteral(member)}`,
    );
    return `{${members.join(", ")}}`;
  }
  return JSON.stringify(value);
}
