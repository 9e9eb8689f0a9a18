-- Eight partitions by the hash of the key, each with an index of its own.
CREATE TABLE usertable (
    ycsb_key varchar(25) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PRIMARY KEY,
    field0   varchar(42)
) ENGINE = InnoDB PARTITION BY KEY (ycsb_key) PARTITIONS 8;
