-- Questions that scripts ask people, each by an entry of the job's history.
create table approval (
  id text primary key,
  executor_job_id text not null references executor_job on delete cascade,
  seq integer not null,
  agent_id text not null,
  title text not null,
  -- JSON texts, or null.
  details text,
  form text,
  assignees text[] not null,
  state text not null check (state in ('pending', 'approved', 'rejected', 'expired', 'cancelled')),
  created_at timestamptz not null,
  expires_at timestamptz,
  -- When and by whom; null while it is pending.
  decided_at timestamptz,
  decided_by text,
  comment text,
  -- JSON text of what was filled in; null if there is no form, or nobody has.
  value text,
  unique (executor_job_id, seq),
  check ((decided_at is null) = (state = 'pending'))
);

create index approval_pending on approval (id) where state = 'pending';
create index approval_agent on approval (agent_id, id);

-- Links that decide without a key. Only hashes of the secrets are stored.
create table approval_link (
  secret_sha256 bytea primary key,
  approval_id text not null references approval on delete cascade,
  assignee text,
  expires_at timestamptz not null
);

create index approval_link_approval on approval_link (approval_id);
create index approval_link_expired on approval_link (expires_at);

create function approval_event() returns trigger language plpgsql as $$
begin
  insert into event (type, subject, agent_id, data)
  values ('approval.' || case new.state when 'pending' then 'requested' else new.state end, new.id, new.agent_id,
    json_build_object('id', new.id, 'executor_job_id', new.executor_job_id, 'agent_id', new.agent_id,
      'title', new.title, 'assignees', new.assignees, 'state', new.state, 'expires_at', rfc3339(new.expires_at),
      'decided_by', new.decided_by));
  return null;
end $$;

create trigger approval_requested after insert on approval for each row execute function approval_event();
create trigger approval_decided after update on approval for each row when (old.state <> new.state)
  execute function approval_event();

-- The check isn't validated, which would read the whole table: it only allows more.
alter table executor_job_step
  drop constraint executor_job_step_kind_check,
  add constraint executor_job_step_kind_check check (kind in ('call', 'event', 'approval')) not valid,
  add column approval_id text;
