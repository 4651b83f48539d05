import { all, requestExactly, get, kept } from "../core/api";
import { Load } from "../core/load";
import type { Agent, AgentRevision, Execution, ExecutorJob } from "../core/types";
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
        kept(get<AgentRevision>(`${agent}/revisions/${execution.agent_revision}`, {}, signal)),
      ]);
      return { execution, job: job?.value ?? null, attempts: attempts.reverse(), agent: found, revision };
    },
    (change) => concerns(change.subject),
  );
}
