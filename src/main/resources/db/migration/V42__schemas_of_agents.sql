-- JSON Schemas of what an agent takes and returns, as text; null: any value.
alter table agent_revision
  add column input_schema text,
  add column output_schema text;
