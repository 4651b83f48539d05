-- Pools of executors that have no agent yet: agent_id is null and agent_revision 0 until an agent needs one.
alter table executor alter column agent_id drop not null;
alter table executor add column profile text;
alter table executor add column egress text;

-- Whether the executor was started for a pool, and when it got its agent. null: by an earlier version, or no agent yet.
alter table executor add column pooled boolean not null default false;
alter table executor add column assigned_at timestamptz;

create index executor_pool on executor (build_id) where agent_id is null and state <> 'ended';
create index executor_assigned on executor (assigned_at) where assigned_at is not null;
