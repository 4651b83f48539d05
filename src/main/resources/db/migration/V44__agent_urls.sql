-- The URLs at which agents can be called; see docs/decisions/0066-urls-of-agents.md.
create table agent_url (
  agent_id text primary key references agent on delete cascade,
  methods text[] not null,
  mode text not null check (mode in ('wait', 'accept')),
  format text not null check (format in ('json', 'http')),
  authentication text not null check (authentication in ('key', 'signature', 'public')),
  signature_scheme text check (signature_scheme in ('standard_webhooks', 'github', 'stripe', 'slack')),
  -- Verifies signatures.
  secret text,
  cors_origins text[] not null,
  requests_per_minute integer check (requests_per_minute > 0),
  wait_seconds integer not null check (wait_seconds between 1 and 60),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  check ((authentication = 'signature') = (signature_scheme is not null)),
  check ((authentication = 'signature') = (secret is not null)),
  check (authentication <> 'public' or requests_per_minute is not null)
);
