ALTER SESSION SET NLS_COMP = 'BINARY' NLS_SORT = 'BINARY' NLS_NUMERIC_CHARACTERS = '.,' NLS_TIMESTAMP_FORMAT = 'YYYY-MM-DD HH24:MI:SS' TIME_ZONE = '+00:00' DDL_LOCK_TIMEOUT = 60;
SELECT (SELECT value FROM nls_database_parameters WHERE parameter = 'NLS_CHARACTERSET'), (SELECT MAX(version) FROM product_component_version WHERE product LIKE 'Oracle%') FROM DUAL;

-- ## two line types of one file, one of them with repeating columns
SELECT COUNT(*) FROM user_tables WHERE table_name = :1;
-- :1 = "a/barograph_document_marks"
CREATE TABLE "a/barograph_document_marks" (
  seq NUMBER(19) CONSTRAINT "a/barograph_document_marks_pk" PRIMARY KEY,
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
-- :1 = "a/barograph_document_catalog"
CREATE TABLE "a/barograph_document_catalog" (
  id NUMBER(10) CONSTRAINT "a/barograph_document_catalog_pk" PRIMARY KEY CHECK (id = 1),
  subset VARCHAR2(4000 BYTE),
  version NUMBER(19) NOT NULL,
  catalog BLOB
);
MERGE INTO "a/barograph_document_catalog" c USING (SELECT 1 AS id FROM DUAL) n ON (c.id = n.id) WHEN NOT MATCHED THEN INSERT (id, subset, version) VALUES (1, :1, 0);
-- :1 = "a"
SELECT COUNT(*) FROM user_tables WHERE table_name = :1;
-- :1 = "a/doc_sal1l2"
CREATE TABLE "a/doc_sal1l2" (
  id VARCHAR2(4000 BYTE) CONSTRAINT "a/doc_sal1l2_pk" PRIMARY KEY,
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
  obs_thresh VARCHAR2(500 BYTE),
  cov_thresh VARCHAR2(500 BYTE),
  alpha VARCHAR2(500 BYTE),
  fcst_valid_epoch NUMBER(19) NOT NULL,
  fcst_valid_beg VARCHAR2(4000 BYTE),
  data BLOB NOT NULL
);
SELECT COUNT(*) FROM user_indexes WHERE index_name = :1;
-- :1 = "a/doc_sal1l2_series_idx"
CREATE INDEX "a/doc_sal1l2_series_idx" ON "a/doc_sal1l2" (model, fcst_var, fcst_lev, vx_mask, fcst_valid_epoch);
SELECT COUNT(*) FROM user_tables WHERE table_name = :1;
-- :1 = "a/doc_pct"
CREATE TABLE "a/doc_pct" (
  id VARCHAR2(4000 BYTE) CONSTRAINT "a/doc_pct_pk" PRIMARY KEY,
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
  obs_thresh VARCHAR2(500 BYTE),
  cov_thresh VARCHAR2(500 BYTE),
  alpha VARCHAR2(500 BYTE),
  fcst_valid_epoch NUMBER(19) NOT NULL,
  fcst_valid_beg VARCHAR2(4000 BYTE),
  data BLOB NOT NULL
);
SELECT COUNT(*) FROM user_indexes WHERE index_name = :1;
-- :1 = "a/doc_pct_series_idx"
CREATE INDEX "a/doc_pct_series_idx" ON "a/doc_pct" (model, fcst_var, fcst_lev, vx_mask, fcst_valid_epoch);
-- transaction
SELECT version FROM "a/barograph_document_catalog" WHERE id = 1 FOR UPDATE;
SELECT catalog FROM "a/barograph_document_catalog";
INSERT INTO "a/doc_sal1l2" (id, version, model, descr, fcst_var, fcst_units, fcst_lev, obs_var, obs_units, obs_lev, obtype, vx_mask, interp_mthd, interp_pnts, fcst_thresh, obs_thresh, cov_thresh, alpha, fcst_valid_epoch, fcst_valid_beg, data) VALUES (:1, :2, :3, :4, :5, :6, :7, :8, :9, :10, :11, :12, :13, :14, :15, :16, :17, :18, TO_NUMBER(:19), :20, :21);
-- :1 = 1 × text, first "DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::NA::P500::obs_var=NA;o"
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
-- :17 = 1 × text, first "NA"
-- :18 = 1 × text, first "NA"
-- :19 = 1 × text, first "1546300800"
-- :20 = 1 × text, first "2019-01-01T00:00:00Z"
-- :21 = 1 × BLOB, first "[{\"fcst_lead\":0,\"total\":0.5,\"fabar\":1.5,\"oabar\":2.5,\"foabar\""
INSERT INTO "a/doc_pct" (id, version, model, descr, fcst_var, fcst_units, fcst_lev, obs_var, obs_units, obs_lev, obtype, vx_mask, interp_mthd, interp_pnts, fcst_thresh, obs_thresh, cov_thresh, alpha, fcst_valid_epoch, fcst_valid_beg, data) VALUES (:1, :2, :3, :4, :5, :6, :7, :8, :9, :10, :11, :12, :13, :14, :15, :16, :17, :18, TO_NUMBER(:19), :20, :21);
-- :1 = 1 × text, first "DD::V01::PCT::a::GFS::G2/NHX::HGT::NA::P500::obs_var=NA;obs_"
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
-- :17 = 1 × text, first "NA"
-- :18 = 1 × text, first "NA"
-- :19 = 1 × text, first "1546300800"
-- :20 = 1 × text, first "2019-01-01T00:00:00Z"
-- :21 = 1 × BLOB, first "[{\"fcst_lead\":0,\"total\":0.5,\"n_thresh\":1.5,\"repeats\":[0.1,7]"
SELECT MAX(seq) FROM "a/barograph_document_marks";
INSERT INTO "a/barograph_document_marks" (seq, path, digest, bytes, lines_read, stored, replaced, quarantined, loaded) VALUES (TO_NUMBER(:1), :2, :3, TO_NUMBER(:4), TO_NUMBER(:5), TO_NUMBER(:6), TO_NUMBER(:7), TO_NUMBER(:8), :9);
-- :1 = 1 × text, first "1"
-- :2 = 1 × text, first "dir/one.stat"
-- :3 = 1 × text, first "00112233445566778899aabbccddeeff"
-- :4 = 1 × text, first "100"
-- :5 = 1 × text, first "5"
-- :6 = 1 × text, first "5"
-- :7 = 1 × text, first "0"
-- :8 = 1 × text, first "0"
-- :9 = 1 × text, first "2026-01-02T03:04:05Z"
UPDATE "a/barograph_document_catalog" SET version = version + 1, catalog = :1 WHERE id = 1;
-- :1 = BLOB "{\"subset\":\"a\",\"key_algorithm\":\"DD::{version}::{line_type}::{"
-- commit
BEGIN DBMS_STATS.GATHER_TABLE_STATS(ownname => USER, tabname => :1); END;
-- :1 = "\"a/doc_sal1l2\""
BEGIN DBMS_STATS.GATHER_TABLE_STATS(ownname => USER, tabname => :1); END;
-- :1 = "\"a/doc_pct\""

-- ## a file that replaces three records and brings one
SELECT COUNT(*) FROM user_tables WHERE table_name = :1;
-- :1 = "a/barograph_document_marks"
SELECT COUNT(*) FROM user_tables WHERE table_name = :1;
-- :1 = "a/barograph_document_catalog"
MERGE INTO "a/barograph_document_catalog" c USING (SELECT 1 AS id FROM DUAL) n ON (c.id = n.id) WHEN NOT MATCHED THEN INSERT (id, subset, version) VALUES (1, :1, 0);
-- :1 = "a"
SELECT COUNT(*) FROM user_tables WHERE table_name = :1;
-- :1 = "a/doc_sal1l2"
SELECT COUNT(*) FROM user_indexes WHERE index_name = :1;
-- :1 = "a/doc_sal1l2_series_idx"
-- transaction
SELECT version FROM "a/barograph_document_catalog" WHERE id = 1 FOR UPDATE;
SELECT catalog FROM "a/barograph_document_catalog";
SELECT r.id, r.data FROM "a/doc_sal1l2" r WHERE r.id IN (SELECT k.id FROM JSON_TABLE(:1 FORMAT JSON, '$[*]' COLUMNS (id VARCHAR2(4000) PATH '$')) k);
-- :1 = BLOB "[\"DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::NA::P500::obs_var=NA"
DELETE FROM "a/doc_sal1l2" WHERE id IN (SELECT k.id FROM JSON_TABLE(:1 FORMAT JSON, '$[*]' COLUMNS (id VARCHAR2(4000) PATH '$')) k);
-- :1 = BLOB "[\"DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::NA::P500::obs_var=NA"
INSERT INTO "a/doc_sal1l2" (id, version, model, descr, fcst_var, fcst_units, fcst_lev, obs_var, obs_units, obs_lev, obtype, vx_mask, interp_mthd, interp_pnts, fcst_thresh, obs_thresh, cov_thresh, alpha, fcst_valid_epoch, fcst_valid_beg, data) VALUES (:1, :2, :3, :4, :5, :6, :7, :8, :9, :10, :11, :12, :13, :14, :15, :16, :17, :18, TO_NUMBER(:19), :20, :21);
-- :1 = 1 × text, first "DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::NA::P500::obs_var=NA;o"
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
-- :17 = 1 × text, first "NA"
-- :18 = 1 × text, first "NA"
-- :19 = 1 × text, first "1546300800"
-- :20 = 1 × text, first "2019-01-01T00:00:00Z"
-- :21 = 1 × BLOB, first "[{\"fcst_lead\":0,\"total\":0.5,\"fabar\":1.5,\"oabar\":2.5,\"foabar\""
SELECT path, digest, bytes, lines_read, stored, replaced, quarantined, loaded FROM "a/barograph_document_marks" ORDER BY seq;
SELECT path, digest, bytes, lines_read, stored, replaced, quarantined, loaded FROM "a/barograph_document_marks" WHERE digest IN ('00112233445566778899aabbccddeeff') ORDER BY seq;
SELECT MAX(seq) FROM "a/barograph_document_marks";
DELETE FROM "a/barograph_document_marks" WHERE digest IN ('00112233445566778899aabbccddeeff');
INSERT INTO "a/barograph_document_marks" (seq, path, digest, bytes, lines_read, stored, replaced, quarantined, loaded) VALUES (TO_NUMBER(:1), :2, :3, TO_NUMBER(:4), TO_NUMBER(:5), TO_NUMBER(:6), TO_NUMBER(:7), TO_NUMBER(:8), :9);
-- :1 = 1 × text, first "2"
-- :2 = 1 × text, first "dir/two.stat"
-- :3 = 1 × text, first "00112233445566778899aabbccddeeff"
-- :4 = 1 × text, first "100"
-- :5 = 1 × text, first "5"
-- :6 = 1 × text, first "2"
-- :7 = 1 × text, first "3"
-- :8 = 1 × text, first "0"
-- :9 = 1 × text, first "2026-01-02T03:04:05Z"
UPDATE "a/barograph_document_catalog" SET version = version + 1, catalog = :1 WHERE id = 1;
-- :1 = BLOB "{\"subset\":\"a\",\"key_algorithm\":\"DD::{version}::{line_type}::{"
-- commit
BEGIN DBMS_STATS.GATHER_TABLE_STATS(ownname => USER, tabname => :1); END;
-- :1 = "\"a/doc_sal1l2\""

-- ## subsets
SELECT table_name FROM user_tables;
SELECT subset FROM "a/barograph_document_catalog";

-- ## marks
SELECT table_name FROM user_tables;
SELECT path, digest, bytes, lines_read, stored, replaced, quarantined, loaded FROM "a/barograph_document_marks" ORDER BY seq;

-- ## contents
SELECT table_name FROM user_tables;
SELECT (SELECT COUNT(*) FROM "a/doc_sal1l2"), (SELECT COUNT(*) FROM "a/doc_sal1l2" r, JSON_TABLE(r.data FORMAT JSON, '$[*]' COLUMNS (fcst_lead NUMBER PATH '$.fcst_lead')) d) FROM DUAL;
SELECT (SELECT COUNT(*) FROM "a/doc_pct"), (SELECT COUNT(*) FROM "a/doc_pct" r, JSON_TABLE(r.data FORMAT JSON, '$[*]' COLUMNS (fcst_lead NUMBER PATH '$.fcst_lead')) d) FROM DUAL;

-- ## size
SELECT SUM(bytes) FROM user_segments WHERE segment_name IN (SELECT table_name FROM user_tables WHERE REGEXP_LIKE(table_name, '/(doc_[^/]*|barograph_document_[^/]*)$') UNION ALL SELECT index_name FROM user_indexes WHERE REGEXP_LIKE(table_name, '/(doc_[^/]*|barograph_document_[^/]*)$') UNION ALL SELECT segment_name FROM user_lobs WHERE REGEXP_LIKE(table_name, '/(doc_[^/]*|barograph_document_[^/]*)$'));

-- ## dump
SELECT table_name FROM user_tables;
SELECT id, version, model, descr, fcst_var, fcst_units, fcst_lev, obs_var, obs_units, obs_lev, obtype, vx_mask, interp_mthd, interp_pnts, fcst_thresh, obs_thresh, cov_thresh, alpha, fcst_valid_epoch, fcst_valid_beg, data FROM "a/doc_sal1l2";
SELECT id, version, model, descr, fcst_var, fcst_units, fcst_lev, obs_var, obs_units, obs_lev, obtype, vx_mask, interp_mthd, interp_pnts, fcst_thresh, obs_thresh, cov_thresh, alpha, fcst_valid_epoch, fcst_valid_beg, data FROM "a/doc_pct";

-- ## a question, its catalog first, and its plan
SELECT catalog FROM "a/barograph_document_catalog";
SELECT r.vx_mask, r.fcst_valid_epoch - d.fcst_lead, r.fcst_valid_epoch, d.fcst_lead, r.model, r.fcst_lev, r.fcst_var, TO_BINARY_DOUBLE(d.oabar), TO_BINARY_DOUBLE(d.fabar), TO_BINARY_DOUBLE(d.ooabar), TO_BINARY_DOUBLE(d.foabar), TO_BINARY_DOUBLE(d.ffabar), TO_BINARY_DOUBLE(d.total)
  FROM "a/doc_sal1l2" r, JSON_TABLE(r.data FORMAT JSON, '$[*]' COLUMNS (fcst_lead NUMBER PATH '$.fcst_lead', oabar VARCHAR2(50) PATH '$.oabar', fabar VARCHAR2(50) PATH '$.fabar', ooabar VARCHAR2(50) PATH '$.ooabar', foabar VARCHAR2(50) PATH '$.foabar', ffabar VARCHAR2(50) PATH '$.ffabar', total VARCHAR2(50) PATH '$.total')) d
   WHERE r.id IN (SELECT k.id FROM JSON_TABLE(:1 FORMAT JSON, '$[*]' COLUMNS (id VARCHAR2(4000) PATH '$')) k)
     AND d.fcst_lead IN (0, 21600, … , 1382400)
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.fcst_lead, r.fcst_lev NULLS FIRST, d.fcst_lead, r.vx_mask NULLS FIRST;
-- :1 = BLOB "[\"DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::NA::P1000::obs_var=N"
DELETE FROM plan_table;
EXPLAIN PLAN FOR SELECT r.vx_mask, r.fcst_valid_epoch - d.fcst_lead, r.fcst_valid_epoch, d.fcst_lead, r.model, r.fcst_lev, r.fcst_var, TO_BINARY_DOUBLE(d.oabar), TO_BINARY_DOUBLE(d.fabar), TO_BINARY_DOUBLE(d.ooabar), TO_BINARY_DOUBLE(d.foabar), TO_BINARY_DOUBLE(d.ffabar), TO_BINARY_DOUBLE(d.total)
  FROM "a/doc_sal1l2" r, JSON_TABLE(r.data FORMAT JSON, '$[*]' COLUMNS (fcst_lead NUMBER PATH '$.fcst_lead', oabar VARCHAR2(50) PATH '$.oabar', fabar VARCHAR2(50) PATH '$.fabar', ooabar VARCHAR2(50) PATH '$.ooabar', foabar VARCHAR2(50) PATH '$.foabar', ffabar VARCHAR2(50) PATH '$.ffabar', total VARCHAR2(50) PATH '$.total')) d
   WHERE r.id IN (SELECT k.id FROM JSON_TABLE('[]' FORMAT JSON, '$[*]' COLUMNS (id VARCHAR2(4000) PATH '$')) k)
     AND d.fcst_lead IN (0, 21600, … , 1382400)
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.fcst_lead, r.fcst_lev NULLS FIRST, d.fcst_lead, r.vx_mask NULLS FIRST;
SELECT plan_table_output FROM TABLE(DBMS_XPLAN.DISPLAY);
SELECT operation, NVL(options, ' '), NVL(object_name, ' '), NVL(cardinality, -1) FROM plan_table ORDER BY id;
