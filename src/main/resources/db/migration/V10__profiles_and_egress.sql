-- In which kind of pod a revision runs (null: the default), and what its scripts may connect to.
alter table agent_revision add column profile text;
alter table agent_revision add column egress text not null default 'all';
