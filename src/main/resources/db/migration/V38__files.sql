-- Files that jobs read and make. Their bytes are in the object storage, in parts; see docs/decisions/0060-files.md.
create table file (
  id text primary key,
  name text not null,
  content_type text not null,
  state text not null check (state in ('uploading', 'stored', 'removed')),
  -- Of the parts that are there.
  size_bytes bigint not null default 0,
  parts integer not null default 0,
  -- As whoever sent it has computed it; may be unknown.
  sha256 bytea,
  -- Of an artifact: the execution that makes it, and that alone sends its parts.
  execution_id text,
  -- Signs its links.
  link_key bytea not null,
  created_at timestamptz not null,
  -- When it was created, or a job last got it. A day later it is removed unless a job refers to it.
  used_at timestamptz not null
);

create index file_used_at on file (used_at);

create table job_file (
  executor_job_id text not null,
  kind text not null check (kind in ('input', 'artifact')),
  name text not null,
  file_id text not null references file,
  created_at timestamptz not null,
  -- Their order in lists.
  seq bigint generated always as identity,
  primary key (executor_job_id, kind, name)
);

create index job_file_file on job_file (file_id);
