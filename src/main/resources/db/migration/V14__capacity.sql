-- Whether the runtime has no capacity for an executor that is to start, and since when it has had
-- what it needs again: from then on it may wait for its image and the like.
alter table executor add column lacks_capacity boolean not null default false;
alter table executor add column pending_since timestamptz;
