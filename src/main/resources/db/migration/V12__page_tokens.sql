-- The second secret of a session, which goes with its cookie. Null: of before this, or of an older replica; such a session
-- signs nobody in.
alter table login_session add column page_token_sha256 bytea;
