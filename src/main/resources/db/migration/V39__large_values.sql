-- Payloads and return values of more than 256 KiB are files, and the columns of their texts keep the beginnings; see
-- docs/decisions/0061-large-values.md. job_file refers to these files, too, so they stay as long as the job.
alter table executor_job add column payload_file_id text;
alter table execution add column return_value_file_id text;

alter table job_file drop constraint job_file_kind_check;
alter table job_file add constraint job_file_kind_check
  check (kind in ('input', 'artifact', 'payload', 'return_value'));
