-- The name and the description under which language models are offered an agent as a tool; null: it isn't one. Both are
-- nullable without a default, so that the rows aren't rewritten and the statements of the earlier release stay valid. No
-- row is in the index at first.
alter table agent
  add column tool_name text collate "C",
  add column tool_description text;

create unique index agent_tool_name on agent (tool_name) where tool_name is not null and deleted_at is null;
