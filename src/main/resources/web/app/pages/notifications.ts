import { html, nothing, type TemplateResult } from "lit";
import { customElement, property, state } from "lit/decorators.js";
import { get, patch, post, remove } from "../core/api";
import { count } from "../core/format";
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
import { common } from "../text/common";
import { text } from "../text/pages/notifications";

/** All notification channels, or one of them. */
@customElement("notifications-page")
export class NotificationsPage extends Part {
  @property() channelId = "";

  override render() {
    if (!signedIn.may("write")) {
      return html`<div class="page-head"><h1>${text.title}</h1></div>
        ${roleNotice("write", text.changing)}`;
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
        <h1>${text.title}</h1>
        <div class="actions"><button class="primary" @click=${create}>${text.create}</button></div>
      </div>
      <div class="panel">${pagedTable(text.channels, COLUMNS, this.load, empty)}</div>`;
  }
}

const target = ({ recipients, url }: NotificationChannel): string => url ?? recipients.join(", ");

const COLUMNS: Column<NotificationChannel>[] = [
  {
    title: text.channel,
    cell: (channel) =>
      html`<div class="two-lines">
        <a href="/notifications/${channel.id}">${channel.name}</a>
        <span class="faint">${target(channel)}</span>
      </div>`,
  },
  {
    title: text.agents,
    cell: ({ agents }) =>
      agents.length
        ? html`<code>${agents.join(" ")}</code>`
        : html`<span class="faint">${text.allAgents}</span>`,
  },
  { title: common.state, cell: ({ state }) => stateBadge(state) },
  { title: text.latestMessage, cell: ({ latest_message }) => resultOf(latest_message) },
];

function resultOf(message: NotificationMessage | null): TemplateResult {
  return message
    ? html`<div class="two-lines">
        <span>${stateBadge(message.state)} ${timeAgo(message.finished_at ?? message.created_at)}</span>
        ${message.error ? html`<span class="answer failed">${message.error}</span>` : nothing}
      </div>`
    : html`<span class="faint">${text.noMessage}</span>`;
}

const empty = (): TemplateResult =>
  emptyState(
    text.noChannels,
    text.about,
    html`<button class="primary" @click=${create}>${text.create}</button>`,
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
        html`<nav class="small" aria-label=${text.breadcrumb}><a href="/notifications">${text.title}</a></nav>
          <div class="page-head">
            <h1>${channel.name}</h1>
            <div class="actions">${this.actions(channel)}</div>
          </div>
          ${notice(channel)} ${facts(channel)}
          <div class="panel">
            <header><h2>${text.messages}</h2></header>
            ${pagedTable(text.messages, MESSAGES, this.messages, () =>
              emptyState(text.noMessages, text.sendTestHint),
            )}
          </div>`,
    );
  }

  private actions(channel: NotificationChannel): TemplateResult {
    const turned = channel.state === "active" ? "disabled" : "active";
    return html`<button ?disabled=${this.testing} @click=${this.test}>
        ${this.testing ? text.sending : text.sendTest}
      </button>
      <button @click=${() => this.changing(() => changeChannel(channel))}>${common.edit}</button>
      <button @click=${() => this.changing(() => patch(this.path, { state: turned }))}>
        ${turned === "active" ? text.enable : text.disable}
      </button>
      <button class="danger" @click=${() => this.changing(() => this.delete(channel))}>
        ${common.delete}
      </button>`;
  }

  private async test(): Promise<void> {
    this.testing = true;
    try {
      const message = await post<NotificationMessage>(`${this.path}/test`);
      toast(testResult(message), { failed: message.state !== "succeeded" });
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
      title: text.deleteTitle,
      body: html`<p>${text.deletes(name)}</p>`,
      confirm: text.confirmDelete,
      danger: true,
    });
    if (sure) {
      await remove(this.path);
      toast(text.deleted);
      await router.go("/notifications");
    }
  }
}

function testResult({ state, error }: NotificationMessage): string {
  if (state === "succeeded") {
    return error ? text.testSentBut(error) : text.testSent;
  }
  return error === null ? text.testWithoutResult : text.testFailed(error);
}

function notice({ state, latest_message }: NotificationChannel): unknown {
  if (state === "disabled") {
    return html`<div class="notice waiting">
      <strong>${text.disabled}</strong>
      <p>${text.notSentLater}</p>
    </div>`;
  }
  return latest_message?.error && latest_message.state !== "dropped"
    ? html`<div class="notice failed">
        <strong>${text.hadProblem}</strong>
        <p class="answer">${latest_message.error}</p>
        ${latest_message.next_attempt_at
          ? html`<p>${text.nextAttempt(timeAgo(latest_message.next_attempt_at))}</p>`
          : nothing}
      </div>`
    : nothing;
}

function facts(channel: NotificationChannel): TemplateResult {
  const { id, state, event_types, agents, quiet_times, time_zone, next_message_at } = channel;
  return html`<dl class="figures">
    <div>
      <dt>${common.state}</dt>
      <dd>${stateBadge(state)}</dd>
    </div>
    <div>
      <dt>${channel.kind === "email" ? text.emailTo : text.slack}</dt>
      <dd class="answer">${target(channel)}</dd>
    </div>
    <div>
      <dt>${text.events}</dt>
      <dd>${event_types.map(eventText).join(", ")}</dd>
    </div>
    <div>
      <dt>${text.agents}</dt>
      <dd>${agents.length ? html`<code>${agents.join(" ")}</code>` : text.allAgents}</dd>
    </div>
    <div>
      <dt>${text.atMostEvery}</dt>
      <dd>${text.minutes(channel.min_interval_seconds / 60)}</dd>
    </div>
    <div>
      <dt>${text.quietTimes}</dt>
      <dd>${quiet_times.length ? text.quietAt(quiet_times.map(quietText), time_zone) : text.neverQuiet}</dd>
    </div>
    <div>
      <dt>${text.nextMessage}</dt>
      <dd>${next_message_at ? timeAgo(next_message_at) : text.whenSomethingHappens}</dd>
    </div>
    <div>
      <dt>${text.id}</dt>
      <dd>${idLink(id)}</dd>
    </div>
  </dl>`;
}

const MESSAGES: Column<NotificationMessage>[] = [
  {
    title: text.subject,
    cell: ({ title, test, error }) =>
      html`<div class="two-lines">
        <span>${title || (test ? text.test : text.notSent)}</span>
        ${error ? html`<span class="answer failed">${error}</span>` : nothing}
      </div>`,
  },
  { title: common.state, cell: ({ state }) => stateBadge(state) },
  { title: text.attempts, number: true, cell: ({ attempts }) => count(attempts) },
  { title: text.created, cell: ({ created_at }) => timeAgo(created_at) },
];
