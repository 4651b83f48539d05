-- People who have signed in with a key, and links with which they can. Only hashes of the secrets are kept.
create table login_session (
  secret_sha256 bytea primary key,
  key_id text not null references api_key on delete cascade,
  created_at timestamptz not null,
  expires_at timestamptz not null
);

create index login_session_key on login_session (key_id);
create index login_session_expiry on login_session (expires_at);

create table login_link (
  secret_sha256 bytea primary key,
  key_id text not null references api_key on delete cascade,
  expires_at timestamptz not null
);

create index login_link_key on login_link (key_id);
create index login_link_expiry on login_link (expires_at);
