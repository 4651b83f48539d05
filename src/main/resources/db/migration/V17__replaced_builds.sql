-- When a rollout last had an agent use another Build than this one, to which it returns if the rollout is undone.
alter table build add column replaced_at timestamptz;
