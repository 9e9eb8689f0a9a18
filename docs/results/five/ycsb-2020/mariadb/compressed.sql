-- InnoDB's compressed pages of 8 KiB.
CREATE TABLE usertable (
    ycsb_key varchar(25) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin PRIMARY KEY,
    field0   varchar(42)
) ENGINE = InnoDB ROW_FORMAT = COMPRESSED KEY_BLOCK_SIZE = 8;
