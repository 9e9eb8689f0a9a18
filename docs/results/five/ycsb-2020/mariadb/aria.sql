-- A heap with an index next to it, without a log: the nearest thing in MariaDB to the original's NOLOGGING.
CREATE TABLE usertable (
    ycsb_key varchar(25) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PRIMARY KEY,
    field0   varchar(42)
) ENGINE = Aria TRANSACTIONAL = 0;
