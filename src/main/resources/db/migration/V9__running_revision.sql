-- What runs is the newest revision whose build has succeeded. Until the next one is built, and when it can't be, that one
-- stays.
alter table agent add column running_revision integer; -- null: no build of the agent has succeeded yet

update agent a set running_revision = (
  select max(r.revision) from agent_revision r join builder_job j on j.id = r.builder_job_id
  where r.agent_id = a.id and j.state = 'succeeded');

create or replace function agent_event() returns trigger language plpgsql as $$
begin
  insert into event (type, subject, agent_id, data)
  values (
    case when tg_op = 'INSERT' then 'agent.created' when new.deleted_at is not null then 'agent.deleted'
      else 'agent.updated' end,
    new.id, new.id, json_build_object(
      'id', new.id, 'name', new.name, 'revision', new.revision, 'running_revision', new.running_revision));
  return null;
end $$;

drop trigger agent_changed on agent;
create trigger agent_changed after update on agent
  for each row when (old.updated_at <> new.updated_at or old.deleted_at is distinct from new.deleted_at
    or old.running_revision is distinct from new.running_revision)
  execute function agent_event();
