-- What an executor was started with; null: by an earlier version, which did not say.
alter table executor add column memory_mib integer;
alter table executor add column cpu double precision;
