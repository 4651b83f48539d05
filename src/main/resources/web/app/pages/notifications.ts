import { html, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { get, patch, post, remove } from "../core/api";
import { count, plural } from "../core/format";
import { asProblem, Load, PagedLoad } from "../core/load";
import { router } from "../core/router";
import { signedIn } from "../core/session";
import type { NotificationChannel, NotificationMessage } from "../core/types";
import { changeChannel, createChannel, eventText, quietText } from "../parts/notifications/channel-form";
import { idLink, stateBadge, timeAgo } from "../parts/page/basics";
import { confirmAction, toast } from "../parts/page/dialogs";
import { emptyState, loaded, roleNotice } from "../parts/page/notices";
import { Part } from "../parts/page/part";
import { pagedTable, type Column } from "../parts/page/tables";

/** All notification channels, or one of them. */
@customElement("notifications-page")
export class NotificationsPage extends Part {
  @property() channelId = "";

  override render() {
    if (!signedIn.may("write")) {
      return html`<div class="page-head"><h1>Notifications</h1></div>
        ${roleNotice("write", "Viewing or changing notification channels")}`;
    }
    return this.channelId
      ? html`<channel-view class="column" .channelId=${this.channelId}></channel-view>`
      : html`<channel-list class="column"></channel-list>`;
  }
}

@customElement("channel-list")
export class ChannelList extends Part {
  private readonly load = new PagedLoad<NotificationChannel>(
    this,
    () => "/notification-channels",
    () => ({}),
    () => false,
  );

  override render() {
    return html`<div class="page-head">
        <h1>Notifications</h1>
        <div class="actions"><button class="primary" @click=${create}>New channel</button></div>
      </div>
      <div class="panel">${pagedTable("Notification channels", COLUMNS, this.load, empty)}</div>`;
  }
}

const target = ({ recipients, url }: NotificationChannel): string => url ?? recipients.join(", ");

const COLUMNS: Column<NotificationChannel>[] = [
  {
    title: "Channel",
    cell: (channel) =>
      html`<div class="two-lines">
        <a href="/notifications/${channel.id}">${channel.name}</a>
        <span class="faint">${target(channel)}</span>
      </div>`,
  },
  {
    title: "Agents",
    cell: ({ agents }) =>
      agents.length ? html`<code>${agents.join(" ")}</code>` : html`<span class="faint">all</span>`,
  },
  { title: "State", cell: ({ state }) => stateBadge(state) },
  { title: "Latest message", cell: ({ latest_message }) => resultOf(latest_message) },
];

function resultOf(message: NotificationMessage | null): TemplateResult {
  return message
    ? html`<div class="two-lines">
        <span>${stateBadge(message.state)} ${timeAgo(message.finished_at ?? message.created_at)}</span>
        ${message.error ? html`<span class="answer failed">${message.error}</span>` : nothing}
      </div>`
    : html`<span class="faint">none yet</span>`;
}

const empty = (): TemplateResult =>
  emptyState(
    "No notification channels yet",
    "A channel tells your team about new, returning and fast-growing issues and about failed builds: by e-mail or in Slack, with quiet times, and with one message for many issues.",
    html`<button class="primary" @click=${create}>New channel</button>`,
  );

async function create(): Promise<void> {
  const channel = await createChannel();
  if (channel) {
    await router.go(`/notifications/${channel.id}`);
  }
}

/** One channel: its settings, state and messages. */
@customElement("channel-view")
export class ChannelView extends Part {
  @property() channelId = "";
  @state() private testing = false;
  private readonly load = new Load<NotificationChannel>(
    this,
    (signal) => get<NotificationChannel>(this.path, {}, signal),
    () => false,
  );
  private readonly messages = new PagedLoad<NotificationMessage>(
    this,
    () => `${this.path}/messages`,
    () => ({}),
    () => false,
  );

  private get path(): string {
    return `/notification-channels/${this.channelId}`;
  }

  override render() {
    return loaded(
      this.load,
      (channel) =>
        html`<nav class="small" aria-label="Breadcrumb"><a href="/notifications">Notifications</a></nav>
          <div class="page-head">
            <h1>${channel.name}</h1>
            <div class="actions">${this.actions(channel)}</div>
          </div>
          ${notice(channel)} ${facts(channel)}
          <div class="panel">
            <header><h2>Messages</h2></header>
            ${pagedTable("Messages", MESSAGES, this.messages, () =>
              emptyState("No messages yet", "“Send test” sends one message at once."),
            )}
          </div>`,
    );
  }

  private actions(channel: NotificationChannel): TemplateResult {
    const turned = channel.state === "active" ? "disabled" : "active";
    return html`<button ?disabled=${this.testing} @click=${this.test}>
        ${this.testing ? "Sending…" : "Send test"}
      </button>
      <button @click=${() => this.changing(() => changeChannel(channel))}>Edit</button>
      <button @click=${() => this.changing(() => patch(this.path, { state: turned }))}>
        ${turned === "active" ? "Enable" : "Disable"}
      </button>
      <button class="danger" @click=${() => this.changing(() => this.delete(channel))}>Delete</button>`;
  }

  private async test(): Promise<void> {
    this.testing = true;
    try {
      const message = await post<NotificationMessage>(`${this.path}/test`);
      const failed = message.state !== "succeeded";
      toast(
        failed
          ? `The test was not sent: ${message.error ?? "there is no result yet"}.`
          : `Test sent.${message.error ? ` But: ${message.error}.` : ""}`,
        { failed },
      );
    } catch (e) {
      toast(asProblem(e).message, { failed: true });
    } finally {
      this.testing = false;
    }
    await this.again();
  }

  /** Runs an action, reports its failure, and reads again. */
  private async changing(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (e) {
      toast(asProblem(e).message, { failed: true });
    }
    if (location.pathname.endsWith(this.channelId)) {
      await this.again();
    }
  }

  private async again(): Promise<void> {
    await Promise.all([this.load.again(), this.messages.again()]);
  }

  private async delete({ name }: NotificationChannel): Promise<void> {
    const sure = await confirmAction({
      title: "Delete channel?",
      body: html`<p><strong>${name}</strong> sends no more messages, and their history is deleted.</p>`,
      confirm: "Delete channel",
      danger: true,
    });
    if (sure) {
      await remove(this.path);
      toast("Channel deleted.");
      await router.go("/notifications");
    }
  }
}

function notice({ state, latest_message }: NotificationChannel): unknown {
  if (state === "disabled") {
    return html`<div class="notice waiting">
      <strong>This channel is disabled</strong>
      <p>What happens while it is disabled is not sent later.</p>
    </div>`;
  }
  return latest_message?.error && latest_message.state !== "dropped"
    ? html`<div class="notice failed">
        <strong>The latest message had a problem</strong>
        <p class="answer">${latest_message.error}</p>
        ${latest_message.next_attempt_at
          ? html`<p>The next attempt is ${timeAgo(latest_message.next_attempt_at)}.</p>`
          : nothing}
      </div>`
    : nothing;
}

function facts(channel: NotificationChannel): TemplateResult {
  const { id, state, event_types, agents, quiet_times, time_zone, next_message_at } = channel;
  return html`<dl class="figures">
    <div>
      <dt>State</dt>
      <dd>${stateBadge(state)}</dd>
    </div>
    <div>
      <dt>${channel.kind === "email" ? "E-mail to" : "Slack"}</dt>
      <dd class="answer">${target(channel)}</dd>
    </div>
    <div>
      <dt>Events</dt>
      <dd>${event_types.map(eventText).join(", ")}</dd>
    </div>
    <div>
      <dt>Agents</dt>
      <dd>${agents.length ? html`<code>${agents.join(" ")}</code>` : "all"}</dd>
    </div>
    <div>
      <dt>At most every</dt>
      <dd>${plural(channel.min_interval_seconds / 60, "minute")}</dd>
    </div>
    <div>
      <dt>Quiet times</dt>
      <dd>${quiet_times.length ? `${quiet_times.map(quietText).join(", ")} (${time_zone})` : "none"}</dd>
    </div>
    <div>
      <dt>Next message</dt>
      <dd>${next_message_at ? timeAgo(next_message_at) : "when something happens"}</dd>
    </div>
    <div>
      <dt>ID</dt>
      <dd>${idLink(id)}</dd>
    </div>
  </dl>`;
}

const MESSAGES: Column<NotificationMessage>[] = [
  {
    title: "Subject",
    cell: ({ title, test, error }) =>
      html`<div class="two-lines">
        <span>${title || (test ? "Test" : "not sent")}</span>
        ${error ? html`<span class="answer failed">${error}</span>` : nothing}
      </div>`,
  },
  { title: "State", cell: ({ state }) => stateBadge(state) },
  { title: "Attempts", number: true, cell: ({ attempts }) => count(attempts) },
  { title: "Created", cell: ({ created_at }) => timeAgo(created_at) },
];
