-- The public names of a Build's packages, for the editor. A Build without a row has no index: it has no packages, or is
-- from before the upgrade.
create table build_module (
  build_id text not null references build on delete cascade,
  name text not null,
  symbols text, -- a JSON list; null: only the module's name is known
  primary key (build_id, name)
);
