-- JSON Schemas made of the type hints of main, as text; they apply where a revision has no schema of its own.
alter table agent_revision
  add column hinted_input_schema text,
  add column hinted_output_schema text,
  add column hints_known boolean not null default false; -- whether an executor has read the hints
