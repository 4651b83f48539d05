import { html, nothing, type TemplateResult } from "lit";
import { customElement, state } from "lit/decorators.js";
import { get } from "../core/api";
import { at, bytes, count, words } from "../core/format";
import { Load } from "../core/load";
import { queried, router } from "../core/router";
import { signedIn } from "../core/session";
import { chooseTheme, theme, type Theme } from "../core/theme";
import type { Setting } from "../core/types";
import { idLink } from "../parts/page/basics";
import { searchField } from "../parts/forms/fields";
import { emptyState, loaded, roleNotice } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { table, type Column } from "../parts/page/tables";
import { text } from "../text/pages/settings";

const THEMES = Object.entries(text.look.themes) as [Theme, string][];

/** The session, the runtime, and all settings with their values. */
@customElement("settings-page")
export class SettingsPage extends Part {
  @state() private chosen = theme();
  private readonly load = new Load<Setting[]>(this, async (signal) =>
    signedIn.may("write") ? (await get<{ data: Setting[] }>("/settings", {}, signal)).data : [],
  );
  private endMoves: (() => void) | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.endMoves = router.onMove(() => this.requestUpdate());
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.endMoves?.();
  }

  override render() {
    return html`<div class="page-head"><h1>${text.title}</h1></div>
      <div class="cards">${this.session()} ${this.look()} ${runtime()} ${limits()}</div>
      ${roleNotice("write", text.server.viewing)} ${signedIn.may("write") ? this.settings() : nothing}`;
  }

  private session(): TemplateResult {
    const { key, expires_at } = signedIn.session!;
    return html`<section class="panel" aria-labelledby="session-title">
      <header>
        <h2 id="session-title">${text.session.title}</h2>
        <button @click=${signOut}>${text.session.signOut}</button>
      </header>
      <dl class="facts content">
        <dt>${text.session.key}</dt>
        <dd>${key.name} ${idLink(key.id)}</dd>
        <dt>${text.session.role}</dt>
        <dd><code>${key.role}</code></dd>
        <dt>${text.session.expires}</dt>
        <dd>${expires_at ? text.session.extended(at(expires_at)) : text.session.withKey}</dd>
      </dl>
    </section>`;
  }

  private look(): TemplateResult {
    const choose = (value: Theme) => {
      chooseTheme(value);
      this.chosen = value;
    };
    return html`<section class="panel" aria-labelledby="look-title">
      <header><h2 id="look-title">${text.look.title}</h2></header>
      <fieldset class="content column">
        <legend class="unseen">${text.look.theme}</legend>
        <div class="row">
          ${THEMES.map(
            ([value, title]) =>
              html`<label class="check"
                ><input
                  type="radio"
                  name="theme"
                  value=${value}
                  .checked=${value === this.chosen}
                  @change=${() => choose(value)}
                />${title}</label
              >`,
          )}
        </div>
        <span class="faint small">${text.look.ofBrowser}</span>
      </fieldset>
    </section>`;
  }

  private settings(): TemplateResult {
    const q = queried("q").trim().toLowerCase();
    return html`<div class="page-head">
        <h2>${text.server.title}</h2>
        ${searchField(text.server.search, queried("q"), (value) => router.query({ q: value }))}
      </div>
      <p class="faint">${text.server.howToSet}</p>
      <div class="panel">
        ${loaded(this.load, (settings) => {
          const found = settings.filter(({ name, environment, description }) =>
            `${name} ${environment} ${description}`.toLowerCase().includes(q),
          );
          return found.length
            ? table(
                text.server.title,
                COLUMNS,
                found.map((setting) => ({ ...setting, id: setting.name })),
              )
            : emptyState(text.server.noMatches, text.server.noneContains(q));
        })}
      </div>`;
  }
}

const COLUMNS: Column<Setting>[] = [
  {
    title: text.server.setting,
    cell: ({ name, environment }) =>
      html`<div class="two-lines"><code>${name}</code><code class="faint small">${environment}</code></div>`,
  },
  {
    title: text.server.value,
    cell: ({ value, set }) =>
      html`<code class=${set ? "set" : ""}>${value ?? "–"}</code>${set
          ? html` <span class="faint small">${text.server.set}</span>`
          : nothing}`,
  },
  {
    title: text.server.standard,
    cell: (setting) => html`<code class="faint">${setting.default ?? "–"}</code>`,
  },
  { title: text.server.description, cell: ({ description }) => html`<span>${withCode(description)}</span>` },
];

/** Renders text in backticks as code. */
const withCode = (description: string) =>
  description.split("`").map((part, i) => (i % 2 ? html`<code>${part}</code>` : part));

function runtime(): TemplateResult {
  const {
    kind,
    version,
    platform,
    python_versions,
    max_executors,
    sandbox,
    process_limit,
    default: standard,
  } = signedIn.runtime!;
  return html`<section class="panel" aria-labelledby="runtime-title">
    <header>
      <h2 id="runtime-title">${text.runtime.title}</h2>
      <a href="/help/settings/" target="_blank" rel="noopener">${text.runtime.help}</a>
      <a href="/docs/" target="_blank" rel="noopener">${text.runtime.apiReference}</a>
      <a href="/openapi" target="_blank" rel="noopener">${text.runtime.openApi}</a>
    </header>
    <dl class="facts content">
      <dt>${text.runtime.roost}</dt>
      <dd>${version}</dd>
      <dt>${text.runtime.kind}</dt>
      <dd>${kind}, ${platform}</dd>
      <dt>${text.runtime.python}</dt>
      <dd>${text.runtime.pythonVersions(python_versions, standard)}</dd>
      <dt>${text.runtime.sandbox}</dt>
      <dd>
        ${sandbox.mechanism}${sandbox.message
          ? html`<br /><span class="faint">${sandbox.message}</span>`
          : ""}
      </dd>
      <dt>${text.runtime.processes}</dt>
      <dd>
        ${process_limit.max_processes === null
          ? process_limit.mechanism
          : text.runtime.perExecutor(
              process_limit.max_processes,
              process_limit.mechanism,
            )}${process_limit.message ? html`<br /><span class="faint">${process_limit.message}</span>` : ""}
      </dd>
      <dt>${text.runtime.executors}</dt>
      <dd>${text.runtime.upTo(max_executors)}</dd>
    </dl>
  </section>`;
}

function limits(): TemplateResult {
  return html`<section class="panel all-columns" aria-labelledby="limits-title">
    <header><h2 id="limits-title">${text.limits.title}</h2></header>
    <dl class="figures content">
      ${Object.entries(signedIn.runtime!.limits).map(
        ([name, value]) =>
          html`<div>
            <dt>${words(name.replace(/_bytes$/, ""))}</dt>
            <dd>${limit(name, value)}</dd>
          </div>`,
      )}
    </dl>
  </section>`;
}

/** 0 means "no limit". */
function limit(name: string, value: number): string {
  return value === 0 ? text.limits.none : name.endsWith("_bytes") ? bytes(value) : count(value);
}

async function signOut(): Promise<void> {
  await signedIn.signOut().catch(() => undefined);
  location.assign("/login");
}
