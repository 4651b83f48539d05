import { all, requestExactly, get, kept } from "../core/api";
import { Load } from "../core/load";
import type { Agent, AgentRevision, Execution, ExecutorJob, Issue, Page } from "../core/types";
import { ranRevision } from "../parts/executions/draft-runs";
import type { Part } from "../parts/page/part";

/** An execution with its context; null: no longer kept. */
export interface Explained {
  execution: Execution;
  job: ExecutorJob | null;
  /** All attempts of the job, oldest first. */
  attempts: Execution[];
  agent: Agent | null;
  revision: AgentRevision | null;
}

export function explainedLoad(host: Part, id: () => string): Load<Explained> {
  let jobId = "";
  const concerns = (subject: string) => subject === id() || subject === jobId;
  return new Load(
    host,
    async (signal) => {
      const { value: execution } = await requestExactly<Execution>("GET", `/executions/${id()}`, { signal });
      jobId = execution.executor_job_id;
      const agent = `/agents/${execution.agent_id}`;
      const [job, attempts, found, revision] = await Promise.all([
        kept(requestExactly<ExecutorJob>("GET", `/executor-jobs/${jobId}`, { signal })),
        all<Execution>("/executions", { executor_job_id: jobId }, signal),
        kept(get<Agent>(agent, {}, signal)),
        ranRevision(execution, signal),
      ]);
      return { execution, job: job?.value ?? null, attempts: attempts.reverse(), agent: found, revision };
    },
    (change) => concerns(change.subject),
  );
}

/** The executions of the same agent that started just before and after one, and what a failure is compared with. */
export interface Neighbours {
  previous: Execution | undefined;
  next: Execution | undefined;
  /** Of one that failed, the latest success before it. */
  success: Execution | undefined;
  /** Of one that failed, the issue that groups it with others; a second after its end. */
  issue: Issue | undefined;
}

export function neighboursLoad(host: Part, of: () => Execution | undefined): Load<Neighbours> {
  return new Load(
    host,
    async (signal) => {
      const { id, agent_id, started_at, reason } = of()!;
      const list = (query: Record<string, string | number>) =>
        get<Page<Execution>>("/executions", { agent_id, limit: 2, ...query }, signal);
      const none: Page<never> = { data: [], next_cursor: null };
      const [before, after, successes, issues] = await Promise.all([
        list({ started_before: started_at }),
        list({ started_after: started_at, sort: "started" }), // with this one
        reason === null ? none : list({ started_before: started_at, state: "succeeded", draft: "false" }),
        reason === null ? none : get<Page<Issue>>("/issues", { execution_id: id }, signal),
      ]);
      return {
        previous: before.data[0],
        next: after.data.find((each) => each.id !== id),
        success: successes.data[0],
        issue: issues.data[0],
      };
    },
    ({ agent_id, type }) =>
      agent_id === of()?.agent_id && (type === "execution.started" || type.startsWith("issue.")),
    () => of() !== undefined,
  );
}
