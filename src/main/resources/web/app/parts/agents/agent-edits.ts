import { askTagged, Problem } from "../../core/api";
import { draft, dropDraft, keepDraft } from "../../core/drafts";
import { asProblem } from "../../core/load";
import type { Agent } from "../../core/types";

/** What runs: the fields of an agent that a revision is about. */
export interface Code {
  script: string;
  requirements: string;
  env_vars: string;
  python_version: string;
}

export const CODE_FIELDS = ["script", "requirements", "env_vars", "python_version"] as const;

export const CODE_NAMES: Record<keyof Code, string> = {
  script: "Script",
  requirements: "Requirements",
  env_vars: "Variables",
  python_version: "Python version",
};

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
 * What a person has changed in an agent's code and not saved yet, against the revision that they began
 * with. It outlives the page, as a draft in this browser, and never overwrites silently what somebody
 * else has saved meanwhile.
 */
export class AgentEdits {
  code: Code;
  /** Somebody else's newer revision, when what was changed here contradicts it. */
  theirs: Agent | null = null;
  problem: Problem | null = null;
  saving = false;
  /** Grows with each change of anything here, so that parts know when to draw again. */
  version = 0;
  /** Whether `code` began as a draft of an earlier visit. */
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

  /** The agent as it is saved. */
  get saved(): Agent {
    return this.agent;
  }

  /** The revision that the edits began with. */
  get from(): number {
    return this.revision;
  }

  change(part: Partial<Code>): void {
    this.code = { ...this.code, ...part };
    this.keep();
    this.tell();
  }

  /** Takes notice of the agent as it is now: shows it, or where it contradicts what was changed here. */
  meet(agent: Agent, tag: string | null): void {
    const theirs = codeOf(agent);
    if (Date.parse(agent.updated_at) < Date.parse(this.agent.updated_at)) {
      return; // An answer that was overtaken by one of saving.
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
    this.tell();
  }

  /** Gives the edits up for what is saved. */
  takeTheirs(): void {
    this.begin(codeOf(this.agent), this.agent.revision);
    this.tell();
  }

  /** Goes on with the edits, knowing what is saved; saving replaces that. */
  keepMine(): void {
    this.base = codeOf(this.agent);
    this.revision = this.agent.revision;
    this.theirs = null;
    this.keep();
    this.tell();
  }

  /** Saves what differs. Null: it couldn't be saved; `problem` or `theirs` says why. */
  async save(): Promise<Agent | null> {
    if (!this.dirty) {
      return this.agent;
    }
    if (this.theirs) {
      return null; // First it has to be said which of the two stays.
    }
    this.saving = true;
    this.problem = null;
    this.tell();
    const sent = this.code;
    try {
      const body = Object.fromEntries(differences(sent, this.base).map((field) => [field, sent[field]]));
      const { value, tag } = await this.patch(body);
      const since = differences(this.code, sent);
      const later = Object.fromEntries(since.map((field) => [field, this.code[field]]));
      [this.agent, this.tag] = [value, tag];
      this.begin(codeOf(value), value.revision);
      // What was typed while it was saved.
      this.code = { ...this.code, ...later };
      this.keep();
      return value;
    } catch (e) {
      this.problem = this.theirs ? null : asProblem(e);
      return null;
    } finally {
      this.saving = false;
      this.tell();
    }
  }

  /** Tries again when somebody changed only what these edits aren't about, for example the name. */
  private async patch(body: Record<string, string>) {
    const path = `/agents/${this.agent.id}`;
    const send = () =>
      askTagged<Agent>("PATCH", path, { body, headers: this.tag ? { "If-Match": this.tag } : {} });
    try {
      return await send();
    } catch (e) {
      if (!(e instanceof Problem) || e.status !== 412) {
        throw e;
      }
      const now = await askTagged<Agent>("GET", path);
      this.meet(now.value, now.tag);
      if (this.theirs) {
        throw e;
      }
      return send();
    }
  }

  private tell(): void {
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
