import { html, nothing } from "lit";
import { customElement, query, state } from "lit/decorators.js";
import { get, type Problem } from "../core/api";
import { asProblem } from "../core/load";
import { pause } from "../core/pause";
import { router } from "../core/router";
import { keysText, offered } from "../core/shortcuts";
import { recentPages } from "../core/recent";
import { matches, ranked } from "../core/search";
import { signedIn } from "../core/session";
import type { Agent, DataStore, Page, Schedule } from "../core/types";
import { runWithLastPayload } from "../parts/agents/run-button";
import { open } from "../parts/page/dialogs";
import { problemNotice } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { text } from "../text/shell";

interface Choice {
  title: string;
  hint: string;
  run: () => void;
}

const ADDRESSES: Record<string, string> = {
  agent: "/agents/",
  exec: "/executions/",
  xjob: "/executor-jobs/",
  bjob: "/builds/",
  rollout: "/rollouts/",
  store: "/stores/",
  hook: "/webhooks/",
  channel: "/notifications/",
};

const MOST = 14;

/** Milliseconds without input before a request. */
const SETTLE = 120;

/** How many agents are read, of which the best matches are shown. */
const READ = 50;
const AGENTS = 6;

/** "run price" looks for what can be run. */
const RUN = /^run\s+/i;

/** Agents, schedules and stores with the words of the text in their names. */
async function find(q: string, signal: AbortSignal): Promise<Choice[]> {
  const name = q.replace(RUN, "");
  const [agents, schedules, stores] = await Promise.all([
    get<Page<Agent>>("/agents", { q: name, limit: READ }, signal),
    get<Page<Schedule>>("/schedules", { q: name, limit: 3 }, signal),
    get<Page<DataStore>>("/datastore", { q, limit: 3 }, signal),
  ]);
  const best = ranked(agents.data, name).slice(0, AGENTS);
  const runs = signedIn.may("execute") ? best.slice(0, RUN.test(q) ? AGENTS : 1) : [];
  const actions = runs.map((agent) => ({
    title: text.palette.run(agent.name),
    hint: text.palette.withLastPayload,
    run: () => void runWithLastPayload(agent),
  }));
  const pages = best.map((agent) => ({
    title: agent.name,
    hint: text.palette.agent,
    run: () => void router.go(`/agents/${agent.id}`),
  }));
  return [
    ...(RUN.test(q) ? actions : [...pages, ...actions]),
    ...schedules.data.map((schedule) => ({
      title: schedule.name,
      hint: text.palette.schedule,
      run: () => void router.go(`/agents/${schedule.agent_id}/schedules`),
    })),
    ...stores.data.map((store) => ({
      title: store.name,
      hint: text.palette.store,
      run: () => void router.go(`/stores/${store.id}`),
    })),
  ];
}

/** Finds commands, agents, stores, and resources by ID. */
@customElement("command-palette")
export class Palette extends Part {
  close: () => void = () => undefined;
  @state() private text = "";
  @state() private found: Choice[] = [];
  @state() private chosen = 0;
  @query("input") private input!: HTMLInputElement;
  @state() private searching = false;
  @state() private problem: Problem | null = null;
  /** Enter was pressed before the response arrived. */
  private eager = false;
  private search: AbortController | null = null;

  override firstUpdated(): void {
    this.input.focus();
  }

  override render() {
    const choices = this.choices();
    return html`<h2 id="dialog-title" class="unseen">${text.palette.title}</h2>
      <input
        type="text"
        role="combobox"
        aria-label=${text.palette.label}
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant=${choices.length ? `palette-${this.chosen}` : nothing}
        placeholder=${text.palette.placeholder}
        autocomplete="off"
        @input=${this.typed}
        @keydown=${(event: KeyboardEvent) => this.key(event, choices)}
      />
      <ul id="palette-list" role="listbox" aria-label=${text.palette.results}>
        ${choices.map(
          (choice, i) =>
            html`<li
              role="option"
              id="palette-${i}"
              aria-selected=${i === this.chosen}
              @pointermove=${() => (this.chosen = i)}
              @click=${() => this.run(choice)}
            >
              <span class="grow cut">${choice.title}</span><span class="faint small">${choice.hint}</span>
            </li>`,
        )}
      </ul>
      ${problemNotice(this.problem)}
      ${choices.length || this.problem
        ? nothing
        : html`<p class="faint none">
            ${this.searching ? text.palette.searching : text.palette.noResults}
          </p>`}`;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.search?.abort();
  }

  override updated(): void {
    this.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }

  private choices(): Choice[] {
    const search = this.text.trim().toLowerCase();
    const address = ADDRESSES[search.split("_")[0] ?? ""];
    const identified: Choice[] =
      address && search.includes("_")
        ? [{ title: search, hint: text.palette.open, run: () => void router.go(address + search) }]
        : [];
    const commands = offered()
      .filter(({ title }) => matches(title, search))
      .map((command) => ({
        title: command.title,
        hint: command.keys ? keysText(command.keys) : "",
        run: command.run,
      }));
    const recent = recentPages()
      .filter(({ path, title }) => path !== location.pathname && matches(title, search))
      .slice(0, search ? 3 : 5)
      .map(({ path, title }) => ({ title, hint: text.palette.recent, run: () => void router.go(path) }));
    const logs: Choice = {
      title: text.palette.searchLogs(this.text.trim()),
      hint: text.palette.inLogs,
      run: () => void router.go(`/search?q=${encodeURIComponent(this.text.trim())}`),
    };
    return search
      ? [...[...identified, ...this.found, ...recent, ...commands].slice(0, MOST - 1), logs]
      : [...recent, ...commands].slice(0, MOST);
  }

  private async typed(): Promise<void> {
    this.text = this.input.value;
    this.chosen = 0;
    this.eager = false;
    this.problem = null;
    this.search?.abort();
    const search = new AbortController();
    this.search = search;
    const q = this.text.trim();
    this.searching = q !== "";
    if (!q) {
      this.found = [];
      return;
    }
    await pause(SETTLE, search.signal);
    if (search.signal.aborted) {
      return;
    }
    try {
      this.found = await find(q, search.signal);
    } catch (e) {
      if (search.signal.aborted) {
        return;
      }
      this.found = [];
      this.problem = asProblem(e);
    }
    this.searching = false;
    const first = this.choices()[0];
    if (this.eager && first && this.isConnected) {
      this.run(first);
    }
  }

  private key(event: KeyboardEvent, choices: Choice[]): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      this.chosen = (this.chosen + step + choices.length) % Math.max(choices.length, 1);
    } else if (event.key === "Enter") {
      event.preventDefault();
      const choice = choices[this.chosen];
      if (this.searching && this.chosen === 0) {
        this.eager = true;
      } else if (choice) {
        this.run(choice);
      }
    }
  }

  private run(choice: Choice): void {
    this.close();
    choice.run();
  }
}

let isOpen = false;

export async function openPalette(): Promise<void> {
  if (isOpen) {
    return;
  }
  isOpen = true;
  await open<void>(
    (close) => html`<command-palette class="palette" .close=${() => close()}></command-palette>`,
    () => undefined,
  );
  isOpen = false;
}
