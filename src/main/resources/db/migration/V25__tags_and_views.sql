-- Labels of agents. Sorted by bytes, "team/crawlers" and all other tags below "team" are between "team/" and "team0", so
-- that one range of the index has them.
create table agent_tag (
  agent_id text not null references agent on delete cascade,
  tag text collate "C" not null,
  primary key (agent_id, tag)
);

create index agent_tag_tag on agent_tag (tag, agent_id);

-- Lists of agents by name.
create index agent_by_name on agent (lower(name) collate "C", id) where deleted_at is null;

-- The named filters of the dashboard's lists, for everyone.
create table saved_view (
  id text primary key,
  list text not null check (list in ('agents', 'executions')),
  name text not null,
  filter text not null,
  sort text, -- null: the list's own order
  columns text[], -- null: the columns that the list has at first
  grouped boolean not null default false,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  unique (list, name)
);
