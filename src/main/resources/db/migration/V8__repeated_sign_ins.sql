-- A link that has signed somebody in stays for a minute, for the same request sent again: the hash of its Idempotency-Key.
alter table login_link add column used_by bytea;
