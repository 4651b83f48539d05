-- The base that a build's key was made from, so that whichever replica builds uses that one. Null: of an earlier version.
alter table builder_job add column base text;
-- Part of the key of a build that was asked for although nothing that goes in has changed.
alter table builder_job add column nonce text;

-- The base that went in, by digest where it is an image. Null: of an earlier version.
alter table build add column base text;

-- What a base image's tag named when it was last looked up.
create table base_image (
  python_version text primary key,
  reference text not null,
  digest text,
  checked_at timestamptz not null,
  -- Why it could not be looked up; null: it was.
  message text
);

create table rollout (
  id text primary key,
  state text not null check (state in ('running', 'paused', 'completed', 'undone')),
  automatic boolean not null,
  message text,
  created_at timestamptz not null,
  finished_at timestamptz
);

create table rollout_agent (
  rollout_id text not null references rollout on delete cascade,
  agent_id text not null references agent on delete cascade,
  state text not null check (state in ('queued', 'building', 'updated', 'failed', 'skipped', 'undone')),
  from_builder_job_id text not null references builder_job,
  to_builder_job_id text references builder_job,
  -- What is to be built; null until it is begun.
  image_key text,
  -- See builder_job.nonce.
  nonce text,
  message text,
  updated_at timestamptz not null,
  primary key (rollout_id, agent_id)
);
create index rollout_agent_agent on rollout_agent (agent_id);
create index rollout_agent_from on rollout_agent (from_builder_job_id);
create index rollout_agent_to on rollout_agent (to_builder_job_id);
create index rollout_agent_open on rollout_agent (state) where state in ('queued', 'building');
create index rollout_open on rollout (state) where state in ('running', 'paused');
