-- The base that a build's key was made from, so that whichever replica builds uses that one. Null: of an earlier version.
alter table builder_job add column base text;
