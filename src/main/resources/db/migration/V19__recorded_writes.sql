-- The record of a write that was executed before, or of a later one under the same name; otherwise a row of nulls.
-- A statement calls this function after it has waited for locks. Its own snapshot is older than the locks, but a query of
-- a volatile function sees what was committed until the query begins.
create function datastore_recorded(of_scope text, of_name text, of_seq bigint) returns datastore_receipt
language plpgsql volatile strict as $$
declare
  found_record datastore_receipt;
begin
  select * into found_record from datastore_receipt where scope = of_scope and name = of_name and seq >= of_seq;
  return found_record;
end $$;
