-- The table as InnoDB makes it: the rows are in the index of the keys, as in the original's index-organized table.
CREATE TABLE usertable (
    ycsb_key varchar(25) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PRIMARY KEY,
    field0   varchar(42)
) ENGINE = InnoDB;
