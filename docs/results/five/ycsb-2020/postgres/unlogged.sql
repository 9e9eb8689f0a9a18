-- Without a write-ahead log, as the original's NOLOGGING asks: the table is empty after a crash of the server.
CREATE UNLOGGED TABLE usertable (
    ycsb_key varchar(25) COLLATE "C" PRIMARY KEY,
    field0   varchar(42)
);
