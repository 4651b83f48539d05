-- Messages to people about issues and failed builds. The leader reads events, collects a notification for each channel that
-- wants it, and sends what a channel has collected as one message.
alter table issue add column growing_at timestamptz; -- when an event last said that it grows fast

create table notification_channel (
  id text primary key,
  name text not null,
  kind text not null check (kind in ('email', 'slack')),
  recipients text[] not null, -- of e-mail
  url text, -- of Slack; secret
  agents text[] not null, -- names, with * for any characters
  event_types text[] not null,
  min_interval_seconds integer not null,
  time_zone text not null,
  quiet_times text not null, -- JSON: a list of days, from and to
  state text not null check (state in ('active', 'disabled')),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  due_at timestamptz, -- when the collected notifications become a message; null: there are none
  last_message_at timestamptz
);

create index notification_channel_due on notification_channel (due_at) where due_at is not null;

create table notification_message (
  id text primary key,
  channel_id text not null references notification_channel on delete cascade,
  test boolean not null,
  state text not null check (state in ('pending', 'succeeded', 'failed', 'dropped')),
  title text not null, -- empty before the first attempt
  attempts integer not null,
  created_at timestamptz not null,
  next_attempt_at timestamptz, -- null: it has ended
  give_up_at timestamptz not null,
  finished_at timestamptz,
  error text -- of the latest attempt
);

create index notification_message_channel on notification_message (channel_id, id);
create index notification_message_due on notification_message (next_attempt_at) where state = 'pending';
create index notification_message_finished on notification_message (finished_at);

create table notification (
  id bigint generated always as identity primary key,
  channel_id text not null references notification_channel on delete cascade,
  type text not null,
  subject text not null, -- the issue, or the agent whose build failed
  message_id text references notification_message on delete cascade -- null: it is collected
);

-- What happens again to one subject before the message needs no second notification.
create unique index notification_collected on notification (channel_id, subject, type) where message_id is null;
create index notification_channel_id on notification (channel_id);
create index notification_message_id on notification (message_id, subject) where message_id is not null;

create table notification_progress (position bigint not null);
insert into notification_progress select last_position from event_log;
