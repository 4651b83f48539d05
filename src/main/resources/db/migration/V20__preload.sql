-- Whether executors of a revision import its modules ahead of executions.
alter table agent_revision add column preload text not null default 'auto' check (preload in ('auto', 'off'));

-- What an executor has found of a revision's imports: the next executors import these modules in advance. A table of its
-- own, since a list of modules can be as long as a script, and few readers of a revision need it.
create table agent_preload (
  agent_id text not null,
  revision integer not null,
  modules text[] not null,
  -- The top-level names of those that belong to installed packages.
  packages text[] not null,
  import_seconds double precision not null,
  memory_bytes bigint not null,
  -- The modules that can't be imported in advance, and why: two lists of equal length.
  left_out text[] not null,
  reasons text[] not null,
  updated_at timestamptz not null,
  primary key (agent_id, revision),
  foreign key (agent_id, revision) references agent_revision on delete cascade
);
