-- Payloads that people keep for an agent, to run it with again.
create table saved_payload (
  agent_id text not null references agent on delete cascade,
  name text collate "C" not null,
  payload text not null,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (agent_id, name)
);
