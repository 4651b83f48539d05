-- How much log an executor has sent, by which the control plane keeps the limit itself; not only what is stored.
alter table execution add column log_bytes bigint not null default 0;
