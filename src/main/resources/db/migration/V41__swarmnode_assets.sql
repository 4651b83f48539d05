-- Assets of clients of the hosted service; see docs/decisions/0063-clients-of-swarmnode.md. Their bytes are files.

-- A file that isn't removed although no job refers to it.
alter table file add column kept boolean not null default false;

create table swarmnode_storage_request (
  id text primary key,
  asset_name text not null,
  agent_id text references agent on delete cascade,
  -- Signs its upload URL.
  upload_key bytea not null,
  -- What was uploaded; it isn't kept until the request is confirmed.
  file_id text,
  created_at timestamptz not null,
  expires_at timestamptz not null
);

create index swarmnode_storage_request_expires_at on swarmnode_storage_request (expires_at);
create index swarmnode_storage_request_agent on swarmnode_storage_request (agent_id);

create table swarmnode_asset (
  id text primary key,
  name text not null,
  agent_id text references agent on delete cascade,
  file_id text not null references file,
  created_at timestamptz not null
);

create index swarmnode_asset_agent on swarmnode_asset (agent_id, id);
create index swarmnode_asset_file on swarmnode_asset (file_id);
