ALTER SESSION SET NLS_COMP = 'BINARY' NLS_SORT = 'BINARY' NLS_NUMERIC_CHARACTERS = '.,' NLS_TIMESTAMP_FORMAT = 'YYYY-MM-DD HH24:MI:SS' TIME_ZONE = '+00:00' DDL_LOCK_TIMEOUT = 60;
SELECT (SELECT value FROM nls_database_parameters WHERE parameter = 'NLS_CHARACTERSET'), (SELECT MAX(version) FROM product_component_version WHERE product LIKE 'Oracle%') FROM DUAL;

-- ## two line types of one file, one of them with repeating columns
SELECT COUNT(*) FROM user_tables WHERE table_name = :1;
-- :1 = "a/barograph_normalized_marks"
CREATE TABLE "a/barograph_normalized_marks" (
  seq NUMBER(19) CONSTRAINT "a/barograph_normalized_marks_pk" PRIMARY KEY,
  path VARCHAR2(4000 BYTE),
  digest VARCHAR2(4000 BYTE),
  bytes NUMBER(19) NOT NULL,
  lines_read NUMBER(19) NOT NULL,
  stored NUMBER(19) NOT NULL,
  replaced NUMBER(19) NOT NULL,
  quarantined NUMBER(19) NOT NULL,
  loaded VARCHAR2(4000 BYTE)
);
SELECT COUNT(*) FROM user_tables WHERE table_name = :1;
-- :1 = "a/stat_header"
CREATE TABLE "a/stat_header" (
  stat_header_id NUMBER(19) CONSTRAINT "a/stat_header_pk" PRIMARY KEY,
  version VARCHAR2(500 BYTE),
  model VARCHAR2(500 BYTE),
  descr VARCHAR2(500 BYTE),
  fcst_var VARCHAR2(500 BYTE),
  fcst_units VARCHAR2(500 BYTE),
  fcst_lev VARCHAR2(500 BYTE),
  obs_var VARCHAR2(500 BYTE),
  obs_units VARCHAR2(500 BYTE),
  obs_lev VARCHAR2(500 BYTE),
  obtype VARCHAR2(500 BYTE),
  vx_mask VARCHAR2(500 BYTE),
  interp_mthd VARCHAR2(500 BYTE),
  interp_pnts VARCHAR2(500 BYTE),
  fcst_thresh VARCHAR2(500 BYTE),
  obs_thresh VARCHAR2(500 BYTE)
);
SELECT COUNT(*) FROM user_indexes WHERE index_name = :1;
-- :1 = "a/stat_header_unique_pk"
CREATE INDEX "a/stat_header_unique_pk" ON "a/stat_header" (model, fcst_var, fcst_lev, obs_var, obs_lev, obtype, vx_mask, interp_mthd, interp_pnts, fcst_thresh, obs_thresh);
SELECT COUNT(*) FROM user_tables WHERE table_name = :1;
-- :1 = "a/data_file"
CREATE TABLE "a/data_file" (
  data_file_id NUMBER(19) CONSTRAINT "a/data_file_pk" PRIMARY KEY,
  data_file_lu_id NUMBER(10) NOT NULL,
  filename VARCHAR2(4000 BYTE),
  path VARCHAR2(4000 BYTE),
  load_date TIMESTAMP(0) NOT NULL,
  mod_date TIMESTAMP(0)
);
SELECT COUNT(*) FROM user_tables WHERE table_name = :1;
-- :1 = "a/barograph_normalized_catalog"
CREATE TABLE "a/barograph_normalized_catalog" (
  id NUMBER(10) CONSTRAINT "a/barograph_normalized_catalog_pk" PRIMARY KEY CHECK (id = 1),
  subset VARCHAR2(4000 BYTE),
  version NUMBER(19) NOT NULL,
  catalog BLOB
);
MERGE INTO "a/barograph_normalized_catalog" c USING (SELECT 1 AS id FROM DUAL) n ON (c.id = n.id) WHEN NOT MATCHED THEN INSERT (id, subset, version) VALUES (1, :1, 0);
-- :1 = "a"
SELECT COUNT(*) FROM user_tables WHERE table_name = :1;
-- :1 = "a/line_data_sal1l2"
CREATE TABLE "a/line_data_sal1l2" (
  stat_header_id NUMBER(19) NOT NULL,
  data_file_id NUMBER(19) NOT NULL,
  line_num NUMBER(19),
  fcst_lead NUMBER(10) NOT NULL,
  fcst_valid_beg TIMESTAMP(0) NOT NULL,
  fcst_valid_end TIMESTAMP(0) NOT NULL,
  fcst_init_beg TIMESTAMP(0) NOT NULL,
  obs_lead NUMBER(10) NOT NULL,
  obs_valid_beg TIMESTAMP(0) NOT NULL,
  obs_valid_end TIMESTAMP(0) NOT NULL,
  total BINARY_DOUBLE,
  fabar BINARY_DOUBLE,
  oabar BINARY_DOUBLE,
  foabar BINARY_DOUBLE,
  ffabar BINARY_DOUBLE,
  ooabar BINARY_DOUBLE,
  mae BINARY_DOUBLE,
  cov_thresh VARCHAR2(500 BYTE),
  alpha VARCHAR2(500 BYTE)
);
SELECT COUNT(*) FROM user_indexes WHERE index_name = :1;
-- :1 = "a/line_data_sal1l2_stat_header_id_idx"
CREATE INDEX "a/line_data_sal1l2_stat_header_id_idx" ON "a/line_data_sal1l2" (stat_header_id, fcst_valid_beg);
SELECT COUNT(*) FROM user_tables WHERE table_name = :1;
-- :1 = "a/line_data_pct"
CREATE TABLE "a/line_data_pct" (
  stat_header_id NUMBER(19) NOT NULL,
  data_file_id NUMBER(19) NOT NULL,
  line_num NUMBER(19),
  fcst_lead NUMBER(10) NOT NULL,
  fcst_valid_beg TIMESTAMP(0) NOT NULL,
  fcst_valid_end TIMESTAMP(0) NOT NULL,
  fcst_init_beg TIMESTAMP(0) NOT NULL,
  obs_lead NUMBER(10) NOT NULL,
  obs_valid_beg TIMESTAMP(0) NOT NULL,
  obs_valid_end TIMESTAMP(0) NOT NULL,
  total BINARY_DOUBLE,
  n_thresh BINARY_DOUBLE,
  repeats BLOB,
  cov_thresh VARCHAR2(500 BYTE),
  alpha VARCHAR2(500 BYTE)
);
SELECT COUNT(*) FROM user_indexes WHERE index_name = :1;
-- :1 = "a/line_data_pct_stat_header_id_idx"
CREATE INDEX "a/line_data_pct_stat_header_id_idx" ON "a/line_data_pct" (stat_header_id, fcst_valid_beg);
-- transaction
SELECT version FROM "a/barograph_normalized_catalog" WHERE id = 1 FOR UPDATE;
SELECT catalog FROM "a/barograph_normalized_catalog";
SELECT stat_header_id, version, model, descr, fcst_var, fcst_units, fcst_lev, obs_var, obs_units, obs_lev, obtype, vx_mask, interp_mthd, interp_pnts, fcst_thresh, obs_thresh FROM "a/stat_header";
SELECT data_file_id, path, filename FROM "a/data_file";
INSERT INTO "a/line_data_sal1l2" (stat_header_id, data_file_id, line_num, fcst_lead, fcst_valid_beg, fcst_valid_end, fcst_init_beg, obs_lead, obs_valid_beg, obs_valid_end, total, fabar, oabar, foabar, ffabar, ooabar, mae, cov_thresh, alpha) VALUES (TO_NUMBER(:1), TO_NUMBER(:2), TO_NUMBER(:3), TO_NUMBER(:4), TO_TIMESTAMP(:5, 'YYYY-MM-DD HH24:MI:SS'), TO_TIMESTAMP(:6, 'YYYY-MM-DD HH24:MI:SS'), TO_TIMESTAMP(:7, 'YYYY-MM-DD HH24:MI:SS'), TO_NUMBER(:8), TO_TIMESTAMP(:9, 'YYYY-MM-DD HH24:MI:SS'), TO_TIMESTAMP(:10, 'YYYY-MM-DD HH24:MI:SS'), TO_BINARY_DOUBLE(:11), TO_BINARY_DOUBLE(:12), TO_BINARY_DOUBLE(:13), TO_BINARY_DOUBLE(:14), TO_BINARY_DOUBLE(:15), TO_BINARY_DOUBLE(:16), TO_BINARY_DOUBLE(:17), :18, :19);
-- :1 = 3 × text, first "1"
-- :2 = 3 × text, first "1"
-- :3 = 3 × text, first "1"
-- :4 = 3 × text, first "0"
-- :5 = 3 × text, first "2019-01-01 00:00:00"
-- :6 = 3 × text, first "2019-01-01 00:00:00"
-- :7 = 3 × text, first "2019-01-01 00:00:00"
-- :8 = 3 × text, first "0"
-- :9 = 3 × text, first "2019-01-01 00:00:00"
-- :10 = 3 × text, first "2019-01-01 00:00:00"
-- :11 = 3 × text, first "0.5"
-- :12 = 3 × text, first "1.5"
-- :13 = 3 × text, first "2.5"
-- :14 = 3 × text, first "3.5"
-- :15 = 3 × text, first "4.5"
-- :16 = 3 × text, first "5.5"
-- :17 = 3 × text, first "6.5"
-- :18 = 3 × text, first "NA"
-- :19 = 3 × text, first "NA"
INSERT INTO "a/line_data_pct" (stat_header_id, data_file_id, line_num, fcst_lead, fcst_valid_beg, fcst_valid_end, fcst_init_beg, obs_lead, obs_valid_beg, obs_valid_end, total, n_thresh, repeats, cov_thresh, alpha) VALUES (TO_NUMBER(:1), TO_NUMBER(:2), TO_NUMBER(:3), TO_NUMBER(:4), TO_TIMESTAMP(:5, 'YYYY-MM-DD HH24:MI:SS'), TO_TIMESTAMP(:6, 'YYYY-MM-DD HH24:MI:SS'), TO_TIMESTAMP(:7, 'YYYY-MM-DD HH24:MI:SS'), TO_NUMBER(:8), TO_TIMESTAMP(:9, 'YYYY-MM-DD HH24:MI:SS'), TO_TIMESTAMP(:10, 'YYYY-MM-DD HH24:MI:SS'), TO_BINARY_DOUBLE(:11), TO_BINARY_DOUBLE(:12), :13, :14, :15);
-- :1 = 2 × text, first "1"
-- :2 = 2 × text, first "1"
-- :3 = 2 × text, first "1"
-- :4 = 2 × text, first "0"
-- :5 = 2 × text, first "2019-01-01 00:00:00"
-- :6 = 2 × text, first "2019-01-01 00:00:00"
-- :7 = 2 × text, first "2019-01-01 00:00:00"
-- :8 = 2 × text, first "0"
-- :9 = 2 × text, first "2019-01-01 00:00:00"
-- :10 = 2 × text, first "2019-01-01 00:00:00"
-- :11 = 2 × text, first "0.5"
-- :12 = 2 × text, first "1.5"
-- :13 = 2 × BLOB, first "[0.1,7]"
-- :14 = 2 × text, first "NA"
-- :15 = 2 × text, first "NA"
INSERT INTO "a/stat_header" (stat_header_id, version, model, descr, fcst_var, fcst_units, fcst_lev, obs_var, obs_units, obs_lev, obtype, vx_mask, interp_mthd, interp_pnts, fcst_thresh, obs_thresh) VALUES (TO_NUMBER(:1), :2, :3, :4, :5, :6, :7, :8, :9, :10, :11, :12, :13, :14, :15, :16);
-- :1 = 1 × text, first "1"
-- :2 = 1 × text, first "V01"
-- :3 = 1 × text, first "GFS"
-- :4 = 1 × text, first "NA"
-- :5 = 1 × text, first "HGT"
-- :6 = 1 × text, first "NA"
-- :7 = 1 × text, first "P500"
-- :8 = 1 × text, first "NA"
-- :9 = 1 × text, first "NA"
-- :10 = 1 × text, first "NA"
-- :11 = 1 × text, first "NA"
-- :12 = 1 × text, first "G2/NHX"
-- :13 = 1 × text, first "NA"
-- :14 = 1 × text, first "0"
-- :15 = 1 × text, first "NA"
-- :16 = 1 × text, first "NA"
INSERT INTO "a/data_file" (data_file_id, data_file_lu_id, filename, path, load_date, mod_date) VALUES (TO_NUMBER(:1), TO_NUMBER(:2), :3, :4, TO_TIMESTAMP(:5, 'YYYY-MM-DD HH24:MI:SS'), TO_TIMESTAMP(:6, 'YYYY-MM-DD HH24:MI:SS'));
-- :1 = 1 × text, first "1"
-- :2 = 1 × text, first "7"
-- :3 = 1 × text, first "one.stat"
-- :4 = 1 × text, first "dir"
-- :5 = 1 × text, first "(now)"
-- :6 = 1 × text, first ""
SELECT MAX(seq) FROM "a/barograph_normalized_marks";
INSERT INTO "a/barograph_normalized_marks" (seq, path, digest, bytes, lines_read, stored, replaced, quarantined, loaded) VALUES (TO_NUMBER(:1), :2, :3, TO_NUMBER(:4), TO_NUMBER(:5), TO_NUMBER(:6), TO_NUMBER(:7), TO_NUMBER(:8), :9);
-- :1 = 1 × text, first "1"
-- :2 = 1 × text, first "dir/one.stat"
-- :3 = 1 × text, first "00112233445566778899aabbccddeeff"
-- :4 = 1 × text, first "100"
-- :5 = 1 × text, first "5"
-- :6 = 1 × text, first "5"
-- :7 = 1 × text, first "0"
-- :8 = 1 × text, first "0"
-- :9 = 1 × text, first "2026-01-02T03:04:05Z"
UPDATE "a/barograph_normalized_catalog" SET version = version + 1, catalog = :1 WHERE id = 1;
-- :1 = BLOB "{\"subset\":\"a\",\"key_algorithm\":\"DD::{version}::{line_type}::{"
-- commit
BEGIN DBMS_STATS.GATHER_TABLE_STATS(ownname => USER, tabname => :1); END;
-- :1 = "\"a/line_data_sal1l2\""
BEGIN DBMS_STATS.GATHER_TABLE_STATS(ownname => USER, tabname => :1); END;
-- :1 = "\"a/line_data_pct\""
BEGIN DBMS_STATS.GATHER_TABLE_STATS(ownname => USER, tabname => :1); END;
-- :1 = "\"a/stat_header\""

-- ## a file that replaces three records and brings one
SELECT COUNT(*) FROM user_tables WHERE table_name = :1;
-- :1 = "a/barograph_normalized_marks"
SELECT COUNT(*) FROM user_tables WHERE table_name = :1;
-- :1 = "a/stat_header"
SELECT COUNT(*) FROM user_indexes WHERE index_name = :1;
-- :1 = "a/stat_header_unique_pk"
SELECT COUNT(*) FROM user_tables WHERE table_name = :1;
-- :1 = "a/data_file"
SELECT COUNT(*) FROM user_tables WHERE table_name = :1;
-- :1 = "a/barograph_normalized_catalog"
MERGE INTO "a/barograph_normalized_catalog" c USING (SELECT 1 AS id FROM DUAL) n ON (c.id = n.id) WHEN NOT MATCHED THEN INSERT (id, subset, version) VALUES (1, :1, 0);
-- :1 = "a"
SELECT COUNT(*) FROM user_tables WHERE table_name = :1;
-- :1 = "a/line_data_sal1l2"
SELECT COUNT(*) FROM user_indexes WHERE index_name = :1;
-- :1 = "a/line_data_sal1l2_stat_header_id_idx"
-- transaction
SELECT version FROM "a/barograph_normalized_catalog" WHERE id = 1 FOR UPDATE;
SELECT catalog FROM "a/barograph_normalized_catalog";
SELECT stat_header_id, version, model, descr, fcst_var, fcst_units, fcst_lev, obs_var, obs_units, obs_lev, obtype, vx_mask, interp_mthd, interp_pnts, fcst_thresh, obs_thresh FROM "a/stat_header";
SELECT data_file_id, path, filename FROM "a/data_file";
SELECT ROWIDTOCHAR(ld.ROWID), ld.stat_header_id, ld.data_file_id, ld.line_num, ld.fcst_lead, ld.fcst_valid_beg, ld.fcst_valid_end, ld.fcst_init_beg, ld.obs_lead, ld.obs_valid_beg, ld.obs_valid_end, ld.total, ld.fabar, ld.oabar, ld.foabar, ld.ffabar, ld.ooabar, ld.mae, ld.cov_thresh, ld.alpha FROM "a/line_data_sal1l2" ld WHERE (ld.stat_header_id, ld.fcst_valid_beg) IN ((1, TIMESTAMP '2019-01-01 00:00:00'));
DELETE FROM "a/line_data_sal1l2" WHERE ROWID = CHARTOROWID(:1);
-- :1 = 3 × text, first "1"
INSERT INTO "a/line_data_sal1l2" (stat_header_id, data_file_id, line_num, fcst_lead, fcst_valid_beg, fcst_valid_end, fcst_init_beg, obs_lead, obs_valid_beg, obs_valid_end, total, fabar, oabar, foabar, ffabar, ooabar, mae, cov_thresh, alpha) VALUES (TO_NUMBER(:1), TO_NUMBER(:2), TO_NUMBER(:3), TO_NUMBER(:4), TO_TIMESTAMP(:5, 'YYYY-MM-DD HH24:MI:SS'), TO_TIMESTAMP(:6, 'YYYY-MM-DD HH24:MI:SS'), TO_TIMESTAMP(:7, 'YYYY-MM-DD HH24:MI:SS'), TO_NUMBER(:8), TO_TIMESTAMP(:9, 'YYYY-MM-DD HH24:MI:SS'), TO_TIMESTAMP(:10, 'YYYY-MM-DD HH24:MI:SS'), TO_BINARY_DOUBLE(:11), TO_BINARY_DOUBLE(:12), TO_BINARY_DOUBLE(:13), TO_BINARY_DOUBLE(:14), TO_BINARY_DOUBLE(:15), TO_BINARY_DOUBLE(:16), TO_BINARY_DOUBLE(:17), :18, :19);
-- :1 = 4 × text, first "1"
-- :2 = 4 × text, first "2"
-- :3 = 4 × text, first "1"
-- :4 = 4 × text, first "0"
-- :5 = 4 × text, first "2019-01-01 00:00:00"
-- :6 = 4 × text, first "2019-01-01 00:00:00"
-- :7 = 4 × text, first "2019-01-01 00:00:00"
-- :8 = 4 × text, first "0"
-- :9 = 4 × text, first "2019-01-01 00:00:00"
-- :10 = 4 × text, first "2019-01-01 00:00:00"
-- :11 = 4 × text, first "0.5"
-- :12 = 4 × text, first "1.5"
-- :13 = 4 × text, first "2.5"
-- :14 = 4 × text, first "3.5"
-- :15 = 4 × text, first "4.5"
-- :16 = 4 × text, first "5.5"
-- :17 = 4 × text, first "6.5"
-- :18 = 4 × text, first "NA"
-- :19 = 4 × text, first "NA"
INSERT INTO "a/data_file" (data_file_id, data_file_lu_id, filename, path, load_date, mod_date) VALUES (TO_NUMBER(:1), TO_NUMBER(:2), :3, :4, TO_TIMESTAMP(:5, 'YYYY-MM-DD HH24:MI:SS'), TO_TIMESTAMP(:6, 'YYYY-MM-DD HH24:MI:SS'));
-- :1 = 1 × text, first "2"
-- :2 = 1 × text, first "7"
-- :3 = 1 × text, first "two.stat"
-- :4 = 1 × text, first "dir"
-- :5 = 1 × text, first "(now)"
-- :6 = 1 × text, first ""
SELECT path, digest, bytes, lines_read, stored, replaced, quarantined, loaded FROM "a/barograph_normalized_marks" ORDER BY seq;
SELECT path, digest, bytes, lines_read, stored, replaced, quarantined, loaded FROM "a/barograph_normalized_marks" WHERE digest IN ('00112233445566778899aabbccddeeff') ORDER BY seq;
SELECT MAX(seq) FROM "a/barograph_normalized_marks";
DELETE FROM "a/barograph_normalized_marks" WHERE digest IN ('00112233445566778899aabbccddeeff');
INSERT INTO "a/barograph_normalized_marks" (seq, path, digest, bytes, lines_read, stored, replaced, quarantined, loaded) VALUES (TO_NUMBER(:1), :2, :3, TO_NUMBER(:4), TO_NUMBER(:5), TO_NUMBER(:6), TO_NUMBER(:7), TO_NUMBER(:8), :9);
-- :1 = 1 × text, first "2"
-- :2 = 1 × text, first "dir/two.stat"
-- :3 = 1 × text, first "00112233445566778899aabbccddeeff"
-- :4 = 1 × text, first "100"
-- :5 = 1 × text, first "5"
-- :6 = 1 × text, first "2"
-- :7 = 1 × text, first "3"
-- :8 = 1 × text, first "0"
-- :9 = 1 × text, first "2026-01-02T03:04:05Z"
UPDATE "a/barograph_normalized_catalog" SET version = version + 1, catalog = :1 WHERE id = 1;
-- :1 = BLOB "{\"subset\":\"a\",\"key_algorithm\":\"DD::{version}::{line_type}::{"
-- commit
BEGIN DBMS_STATS.GATHER_TABLE_STATS(ownname => USER, tabname => :1); END;
-- :1 = "\"a/line_data_sal1l2\""

-- ## subsets
SELECT table_name FROM user_tables;
SELECT subset FROM "a/barograph_normalized_catalog";

-- ## marks
SELECT table_name FROM user_tables;
SELECT path, digest, bytes, lines_read, stored, replaced, quarantined, loaded FROM "a/barograph_normalized_marks" ORDER BY seq;

-- ## contents
SELECT table_name FROM user_tables;
SELECT COUNT(*), COUNT(*) FROM "a/line_data_sal1l2";
SELECT COUNT(*), COUNT(*) FROM "a/line_data_pct";

-- ## size
SELECT SUM(bytes) FROM user_segments WHERE segment_name IN (SELECT table_name FROM user_tables WHERE REGEXP_LIKE(table_name, '/(line_data_[^/]*|stat_header|data_file|barograph_normalized_[^/]*)$') UNION ALL SELECT index_name FROM user_indexes WHERE REGEXP_LIKE(table_name, '/(line_data_[^/]*|stat_header|data_file|barograph_normalized_[^/]*)$') UNION ALL SELECT segment_name FROM user_lobs WHERE REGEXP_LIKE(table_name, '/(line_data_[^/]*|stat_header|data_file|barograph_normalized_[^/]*)$'));

-- ## dump
SELECT table_name FROM user_tables;
SELECT h.version, h.model, h.descr, h.fcst_var, h.fcst_units, h.fcst_lev, h.obs_var, h.obs_units, h.obs_lev, h.obtype, h.vx_mask, h.interp_mthd, h.interp_pnts, h.fcst_thresh, h.obs_thresh, ld.stat_header_id, ld.data_file_id, ld.line_num, ld.fcst_lead, ld.fcst_valid_beg, ld.fcst_valid_end, ld.fcst_init_beg, ld.obs_lead, ld.obs_valid_beg, ld.obs_valid_end, ld.total, ld.fabar, ld.oabar, ld.foabar, ld.ffabar, ld.ooabar, ld.mae, ld.cov_thresh, ld.alpha
  FROM "a/line_data_sal1l2" ld JOIN "a/stat_header" h ON h.stat_header_id = ld.stat_header_id;
SELECT h.version, h.model, h.descr, h.fcst_var, h.fcst_units, h.fcst_lev, h.obs_var, h.obs_units, h.obs_lev, h.obtype, h.vx_mask, h.interp_mthd, h.interp_pnts, h.fcst_thresh, h.obs_thresh, ld.stat_header_id, ld.data_file_id, ld.line_num, ld.fcst_lead, ld.fcst_valid_beg, ld.fcst_valid_end, ld.fcst_init_beg, ld.obs_lead, ld.obs_valid_beg, ld.obs_valid_end, ld.total, ld.n_thresh, ld.repeats, ld.cov_thresh, ld.alpha
  FROM "a/line_data_pct" ld JOIN "a/stat_header" h ON h.stat_header_id = ld.stat_header_id;

-- ## a question, its catalog first, and its plan
SELECT catalog FROM "a/barograph_normalized_catalog";
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_sal1l2" ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'HGT'
     AND h.fcst_lev = 'P1000'
     AND h.vx_mask = 'G2/NHX'
     AND ld.fcst_valid_beg BETWEEN TIMESTAMP '2018-01-01 00:00:00' AND TIMESTAMP '2018-01-04 18:00:00'
     AND MOD((ROUND((CAST(ld.fcst_valid_beg AS DATE) - DATE '1970-01-01') * 86400) - 1514764800), 21600) = 0
     AND ld.fcst_lead IN (0, 6, 12, 18, 24, 30, 36, 42, 48, 54, 60, 66, 72, 78, 84, 90, 96, 102, 108, 114, 120, 126, 132, 138, 144, 150, 156, 162, 168, 174, 180, 186, 192, 198, 204, 210, 216, 222, 228, 234, 240, 252, 264, 276, 288, 300, 312, 324, 336, 348, 360, 372, 384)
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev NULLS FIRST, ld.fcst_lead, h.vx_mask NULLS FIRST;
DELETE FROM plan_table;
EXPLAIN PLAN FOR SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_sal1l2" ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'HGT'
     AND h.fcst_lev = 'P1000'
     AND h.vx_mask = 'G2/NHX'
     AND ld.fcst_valid_beg BETWEEN TIMESTAMP '2018-01-01 00:00:00' AND TIMESTAMP '2018-01-04 18:00:00'
     AND MOD((ROUND((CAST(ld.fcst_valid_beg AS DATE) - DATE '1970-01-01') * 86400) - 1514764800), 21600) = 0
     AND ld.fcst_lead IN (0, 6, 12, 18, 24, 30, 36, 42, 48, 54, 60, 66, 72, 78, 84, 90, 96, 102, 108, 114, 120, 126, 132, 138, 144, 150, 156, 162, 168, 174, 180, 186, 192, 198, 204, 210, 216, 222, 228, 234, 240, 252, 264, 276, 288, 300, 312, 324, 336, 348, 360, 372, 384)
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev NULLS FIRST, ld.fcst_lead, h.vx_mask NULLS FIRST;
SELECT plan_table_output FROM TABLE(DBMS_XPLAN.DISPLAY);
SELECT operation, NVL(options, ' '), NVL(object_name, ' '), NVL(cardinality, -1) FROM plan_table ORDER BY id;
