-- The files of agents' projects; see docs/decisions/0067-bundles.md. Their bytes are files that are kept.
create table bundle (
  id text primary key,
  sha256 bytea not null,
  files integer not null,
  size_bytes bigint not null,
  created_at timestamptz not null
);

create index bundle_created_at on bundle (created_at, id);

create table bundle_file (
  bundle_id text not null references bundle on delete cascade,
  -- 0: the manifest; from 1 on, the packs in the order of the manifest.
  number integer not null check (number >= 0),
  file_id text not null references file,
  primary key (bundle_id, number)
);

create index bundle_file_file on bundle_file (file_id);

-- Null: the script is all of the agent's code. Nullable without a default, so that the rows aren't rewritten.
alter table agent_revision
  add column bundle_id text references bundle,
  add column script_path text;

create index agent_revision_bundle on agent_revision (bundle_id) where bundle_id is not null;
