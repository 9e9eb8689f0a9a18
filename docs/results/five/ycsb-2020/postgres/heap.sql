-- The table as PostgreSQL makes it unless it is told otherwise: a heap, and an index of the keys next to it.
CREATE TABLE usertable (
    ycsb_key varchar(25) COLLATE "C" PRIMARY KEY,
    field0   varchar(42)
);
