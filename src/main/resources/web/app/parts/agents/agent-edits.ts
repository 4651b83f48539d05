import { requestTagged, Problem } from "../../core/api";
import { draft, dropDraft, keepDraft } from "../../core/drafts";
import { asProblem } from "../../core/load";
import { isOutage } from "../../core/recovery";
import type { Agent } from "../../core/types";
import { text } from "../../text/parts/agents";

/** The code of an agent: the fields that a revision holds. */
export interface Code {
  script: string;
  requirements: string;
  env_vars: string;
  python_version: string;
}

export const CODE_FIELDS = ["script", "requirements", "env_vars", "python_version"] as const;

export const CODE_NAMES: Record<keyof Code, string> = text.fields;

export const codeOf = ({ script, requirements, env_vars, python_version }: Code): Code => ({
  script,
  requirements,
  env_vars,
  python_version,
});

/** The fields in which two differ. */
export const differences = (one: Code, other: Code): (keyof Code)[] =>
  CODE_FIELDS.filter((field) => one[field] !== other[field]);

/** Variables are in no draft. */
type CodeDraft = Omit<Code, "env_vars">;

interface Draft {
  code: CodeDraft;
  base: CodeDraft;
  revision: number;
}

/**
 * Unsaved changes to an agent's code, relative to the revision that they are based on. They are kept as a
 * draft in this browser, and never silently overwrite what somebody else has saved.
 */
export class AgentEdits {
  code: Code;
  /** A newer revision by somebody else that conflicts with the changes. */
  theirs: Agent | null = null;
  problem: Problem | null = null;
  saving = false;
  /** Incremented with each change, so that parts render again. */
  version = 0;
  /** Whether `code` was restored from a draft. */
  restored = false;
  private base: Code;
  private revision: number;

  constructor(
    private agent: Agent,
    private tag: string | null,
    private readonly changed: () => void,
  ) {
    this.base = codeOf(agent);
    this.code = this.base;
    this.revision = agent.revision;
    const kept = draft<Draft>(this.draftName);
    if (kept) {
      const { env_vars } = this.base;
      const code = { ...kept.code, env_vars };
      if (differences(code, this.base).length) {
        this.restored = true;
        this.code = code;
        this.base = { ...kept.base, env_vars };
        this.revision = kept.revision;
        this.meet(agent, tag);
      }
    }
  }

  get dirty(): boolean {
    return differences(this.code, this.base).length > 0;
  }

  /** Whether the script is all that is changed, so that it can run without being saved. */
  get isDraft(): boolean {
    const changed = differences(this.code, this.base);
    return changed.length === 1 && changed[0] === "script" && !this.theirs;
  }

  /** The agent as it is saved. */
  get saved(): Agent {
    return this.agent;
  }

  /** The code that the edits are based on. */
  get before(): Code {
    return this.base;
  }

  /** The revision that the edits are based on. */
  get from(): number {
    return this.revision;
  }

  change(part: Partial<Code>): void {
    this.code = { ...this.code, ...part };
    this.keep();
    this.notify();
  }

  /** Takes the current agent: shows it, or reports a conflict with the changes. */
  meet(agent: Agent, tag: string | null): void {
    const theirs = codeOf(agent);
    if (Date.parse(agent.updated_at) < Date.parse(this.agent.updated_at)) {
      return; // Older than the response of a save.
    }
    [this.agent, this.tag] = [agent, tag];
    if (!this.dirty || !differences(theirs, this.code).length) {
      this.begin(theirs, agent.revision);
    } else if (!differences(theirs, this.base).length) {
      this.revision = agent.revision;
      this.theirs = null;
    } else {
      this.theirs = agent;
    }
    this.notify();
  }

  /** Roost can be reached again: what could not be saved can be now. */
  recover(): void {
    if (isOutage(this.problem)) {
      this.problem = null;
      this.notify();
    }
  }

  /** Discards the changes. */
  takeTheirs(): void {
    this.begin(codeOf(this.agent), this.agent.revision);
    this.notify();
  }

  /** Keeps the changes, based on the newest revision; saving replaces it. */
  keepMine(): void {
    this.base = codeOf(this.agent);
    this.revision = this.agent.revision;
    this.theirs = null;
    this.keep();
    this.notify();
  }

  /** Saves the changed fields. Null: saving failed; see `problem` or `theirs`. */
  async save(): Promise<Agent | null> {
    if (!this.dirty) {
      return this.agent;
    }
    if (this.theirs) {
      return null; // The conflict has to be resolved first.
    }
    this.saving = true;
    this.problem = null;
    this.notify();
    const sent = this.code;
    try {
      const body = Object.fromEntries(differences(sent, this.base).map((field) => [field, sent[field]]));
      const { value, tag } = await this.patch(body);
      const since = differences(this.code, sent);
      const later = Object.fromEntries(since.map((field) => [field, this.code[field]]));
      [this.agent, this.tag] = [value, tag];
      this.begin(codeOf(value), value.revision);
      // Input during the save.
      this.code = { ...this.code, ...later };
      this.keep();
      return value;
    } catch (e) {
      this.problem = this.theirs ? null : asProblem(e);
      return null;
    } finally {
      this.saving = false;
      this.notify();
    }
  }

  /** Retries when the other change is unrelated to these edits, for example a new name. */
  private async patch(body: Record<string, string>) {
    const path = `/agents/${this.agent.id}`;
    const send = () =>
      requestTagged<Agent>("PATCH", path, { body, headers: this.tag ? { "If-Match": this.tag } : {} });
    try {
      return await send();
    } catch (e) {
      if (!(e instanceof Problem) || e.status !== 412) {
        throw e;
      }
      const now = await requestTagged<Agent>("GET", path);
      this.meet(now.value, now.tag);
      if (this.theirs) {
        throw e;
      }
      return send();
    }
  }

  private notify(): void {
    this.version++;
    this.changed();
  }

  private begin(code: Code, revision: number): void {
    this.base = code;
    this.code = code;
    this.revision = revision;
    this.theirs = null;
    this.problem = null;
    this.restored = false;
    dropDraft(this.draftName);
  }

  private keep(): void {
    if (this.dirty) {
      keepDraft(this.draftName, {
        code: this.code,
        base: this.base,
        revision: this.revision,
      } satisfies Draft);
    } else {
      this.restored = false;
      dropDraft(this.draftName);
    }
  }

  private get draftName(): string {
    return `agent:${this.agent.id}`;
  }
}
