-- The nearest thing in PostgreSQL to a table inside its index: the index of the keys contains the values, too.
CREATE TABLE usertable (
    ycsb_key varchar(25) COLLATE "C" NOT NULL,
    field0   varchar(42),
    PRIMARY KEY (ycsb_key) INCLUDE (field0)
);
