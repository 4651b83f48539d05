-- The secret before a change, which verifies signatures until that time.
alter table agent_url
  add column previous_secret text,
  add column previous_secret_until timestamptz,
  add check ((previous_secret is null) = (previous_secret_until is null)),
  add check (previous_secret is null or secret is not null);
