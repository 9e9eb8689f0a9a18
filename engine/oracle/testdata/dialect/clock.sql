-- normalized, metviewer-sql
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_sal1l2" ld
   WHERE h.model || '' = 'GFS'
     AND h.fcst_var || '' = 'HGT'
     AND h.fcst_lev || '' = 'P1000'
     AND h.vx_mask || '' = 'G2/NHX'
     AND ld.fcst_valid_beg || '' IN ('2018-01-01 00:00:00', '2018-01-01 06:00:00', … 12 more, bd23bbd8ae907649 …, '2018-01-04 12:00:00', '2018-01-04 18:00:00')
     AND ld.fcst_lead || '' IN ('0', '6', … 49 more, c1506d89a7a3b9de …, '372', '384')
     AND EXTRACT(HOUR FROM ld.fcst_valid_beg) IN (0, 6)
     AND EXTRACT(HOUR FROM ld.fcst_init_beg) IN (12)
     AND ld.fcst_init_beg || '' BETWEEN '2018-01-01 00:00:00' AND '2018-01-02 00:00:00'
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev NULLS FIRST, ld.fcst_lead, h.vx_mask NULLS FIRST

-- normalized, sql
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_sal1l2" ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'HGT'
     AND h.fcst_lev = 'P1000'
     AND h.vx_mask = 'G2/NHX'
     AND ld.fcst_valid_beg IN (TIMESTAMP '2018-01-01 00:00:00', TIMESTAMP '2018-01-01 06:00:00', … 12 more, fb1fe835537c1932 …, TIMESTAMP '2018-01-04 12:00:00', TIMESTAMP '2018-01-04 18:00:00')
     AND ld.fcst_lead IN (0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384)
     AND MOD((ROUND((CAST(ld.fcst_valid_beg AS DATE) - DATE '1970-01-01') * 86400) + 62135596800), 86400) - MOD((ROUND((CAST(ld.fcst_valid_beg AS DATE) - DATE '1970-01-01') * 86400) + 62135596800), 3600) IN (0, 21600)
     AND MOD((ROUND((CAST(ld.fcst_init_beg AS DATE) - DATE '1970-01-01') * 86400) + 62135596800), 86400) - MOD((ROUND((CAST(ld.fcst_init_beg AS DATE) - DATE '1970-01-01') * 86400) + 62135596800), 3600) IN (43200)
     AND ld.fcst_init_beg BETWEEN TIMESTAMP '2018-01-01 00:00:00' AND TIMESTAMP '2018-01-02 00:00:00'
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev NULLS FIRST, ld.fcst_lead, h.vx_mask NULLS FIRST

-- normalized, iso-range
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_sal1l2" ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'HGT'
     AND h.fcst_lev = 'P1000'
     AND h.vx_mask = 'G2/NHX'
     AND ld.fcst_valid_beg BETWEEN TIMESTAMP '2018-01-01 00:00:00' AND TIMESTAMP '2018-01-04 18:00:00'
     AND MOD((ROUND((CAST(ld.fcst_valid_beg AS DATE) - DATE '1970-01-01') * 86400) - 1514764800), 21600) = 0
     AND ld.fcst_lead IN (0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384)
     AND MOD((ROUND((CAST(ld.fcst_valid_beg AS DATE) - DATE '1970-01-01') * 86400) + 62135596800), 86400) - MOD((ROUND((CAST(ld.fcst_valid_beg AS DATE) - DATE '1970-01-01') * 86400) + 62135596800), 3600) IN (0, 21600)
     AND MOD((ROUND((CAST(ld.fcst_init_beg AS DATE) - DATE '1970-01-01') * 86400) + 62135596800), 86400) - MOD((ROUND((CAST(ld.fcst_init_beg AS DATE) - DATE '1970-01-01') * 86400) + 62135596800), 3600) IN (43200)
     AND ld.fcst_init_beg BETWEEN TIMESTAMP '2018-01-01 00:00:00' AND TIMESTAMP '2018-01-02 00:00:00'
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev NULLS FIRST, ld.fcst_lead, h.vx_mask NULLS FIRST

-- normalized, epoch-range
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_sal1l2" ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'HGT'
     AND h.fcst_lev = 'P1000'
     AND h.vx_mask = 'G2/NHX'
     AND ROUND((CAST(ld.fcst_valid_beg AS DATE) - DATE '1970-01-01') * 86400) BETWEEN 1514764800 AND 1515088800
     AND MOD((ROUND((CAST(ld.fcst_valid_beg AS DATE) - DATE '1970-01-01') * 86400) - 1514764800), 21600) = 0
     AND ld.fcst_lead IN (0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384)
     AND MOD((ROUND((CAST(ld.fcst_valid_beg AS DATE) - DATE '1970-01-01') * 86400) + 62135596800), 86400) - MOD((ROUND((CAST(ld.fcst_valid_beg AS DATE) - DATE '1970-01-01') * 86400) + 62135596800), 3600) IN (0, 21600)
     AND MOD((ROUND((CAST(ld.fcst_init_beg AS DATE) - DATE '1970-01-01') * 86400) + 62135596800), 86400) - MOD((ROUND((CAST(ld.fcst_init_beg AS DATE) - DATE '1970-01-01') * 86400) + 62135596800), 3600) IN (43200)
     AND ld.fcst_init_beg BETWEEN TIMESTAMP '2018-01-01 00:00:00' AND TIMESTAMP '2018-01-02 00:00:00'
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev NULLS FIRST, ld.fcst_lead, h.vx_mask NULLS FIRST

-- document, iso-list
SELECT r.vx_mask, r.fcst_valid_epoch - d.fcst_lead, r.fcst_valid_epoch, d.fcst_lead, r.model, r.fcst_lev, r.fcst_var, TO_BINARY_DOUBLE(d.oabar), TO_BINARY_DOUBLE(d.fabar), TO_BINARY_DOUBLE(d.ooabar), TO_BINARY_DOUBLE(d.foabar), TO_BINARY_DOUBLE(d.ffabar), TO_BINARY_DOUBLE(d.total)
  FROM "a/doc_sal1l2" r, JSON_TABLE(r.data FORMAT JSON, '$[*]' COLUMNS (fcst_lead NUMBER PATH '$.fcst_lead', oabar VARCHAR2(50) PATH '$.oabar', fabar VARCHAR2(50) PATH '$.fabar', ooabar VARCHAR2(50) PATH '$.ooabar', foabar VARCHAR2(50) PATH '$.foabar', ffabar VARCHAR2(50) PATH '$.ffabar', total VARCHAR2(50) PATH '$.total')) d
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'HGT'
     AND r.fcst_lev = 'P1000'
     AND r.vx_mask = 'G2/NHX'
     AND r.fcst_valid_beg IN ('2018-01-01T00:00:00Z', '2018-01-01T06:00:00Z', … 12 more, 159d862343079b75 …, '2018-01-04T12:00:00Z', '2018-01-04T18:00:00Z')
     AND d.fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND MOD((r.fcst_valid_epoch + 62135596800), 86400) - MOD((r.fcst_valid_epoch + 62135596800), 3600) IN (0, 21600)
     AND MOD((r.fcst_valid_epoch - d.fcst_lead + 62135596800), 86400) - MOD((r.fcst_valid_epoch - d.fcst_lead + 62135596800), 3600) IN (43200)
     AND r.fcst_valid_epoch - d.fcst_lead BETWEEN 1514764800 AND 1514851200
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.fcst_lead, r.fcst_lev NULLS FIRST, d.fcst_lead, r.vx_mask NULLS FIRST

-- document, iso-range
SELECT r.vx_mask, r.fcst_valid_epoch - d.fcst_lead, r.fcst_valid_epoch, d.fcst_lead, r.model, r.fcst_lev, r.fcst_var, TO_BINARY_DOUBLE(d.oabar), TO_BINARY_DOUBLE(d.fabar), TO_BINARY_DOUBLE(d.ooabar), TO_BINARY_DOUBLE(d.foabar), TO_BINARY_DOUBLE(d.ffabar), TO_BINARY_DOUBLE(d.total)
  FROM "a/doc_sal1l2" r, JSON_TABLE(r.data FORMAT JSON, '$[*]' COLUMNS (fcst_lead NUMBER PATH '$.fcst_lead', oabar VARCHAR2(50) PATH '$.oabar', fabar VARCHAR2(50) PATH '$.fabar', ooabar VARCHAR2(50) PATH '$.ooabar', foabar VARCHAR2(50) PATH '$.foabar', ffabar VARCHAR2(50) PATH '$.ffabar', total VARCHAR2(50) PATH '$.total')) d
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'HGT'
     AND r.fcst_lev = 'P1000'
     AND r.vx_mask = 'G2/NHX'
     AND r.fcst_valid_beg BETWEEN '2018-01-01T00:00:00Z' AND '2018-01-04T18:00:00Z'
     AND MOD((r.fcst_valid_epoch - 1514764800), 21600) = 0
     AND d.fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND MOD((r.fcst_valid_epoch + 62135596800), 86400) - MOD((r.fcst_valid_epoch + 62135596800), 3600) IN (0, 21600)
     AND MOD((r.fcst_valid_epoch - d.fcst_lead + 62135596800), 86400) - MOD((r.fcst_valid_epoch - d.fcst_lead + 62135596800), 3600) IN (43200)
     AND r.fcst_valid_epoch - d.fcst_lead BETWEEN 1514764800 AND 1514851200
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.fcst_lead, r.fcst_lev NULLS FIRST, d.fcst_lead, r.vx_mask NULLS FIRST

-- document, epoch-list
SELECT r.vx_mask, r.fcst_valid_epoch - d.fcst_lead, r.fcst_valid_epoch, d.fcst_lead, r.model, r.fcst_lev, r.fcst_var, TO_BINARY_DOUBLE(d.oabar), TO_BINARY_DOUBLE(d.fabar), TO_BINARY_DOUBLE(d.ooabar), TO_BINARY_DOUBLE(d.foabar), TO_BINARY_DOUBLE(d.ffabar), TO_BINARY_DOUBLE(d.total)
  FROM "a/doc_sal1l2" r, JSON_TABLE(r.data FORMAT JSON, '$[*]' COLUMNS (fcst_lead NUMBER PATH '$.fcst_lead', oabar VARCHAR2(50) PATH '$.oabar', fabar VARCHAR2(50) PATH '$.fabar', ooabar VARCHAR2(50) PATH '$.ooabar', foabar VARCHAR2(50) PATH '$.foabar', ffabar VARCHAR2(50) PATH '$.ffabar', total VARCHAR2(50) PATH '$.total')) d
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'HGT'
     AND r.fcst_lev = 'P1000'
     AND r.vx_mask = 'G2/NHX'
     AND r.fcst_valid_epoch IN (1514764800, 1514786400, … 12 more, f8c32e648e87857b …, 1515067200, 1515088800)
     AND d.fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND MOD((r.fcst_valid_epoch + 62135596800), 86400) - MOD((r.fcst_valid_epoch + 62135596800), 3600) IN (0, 21600)
     AND MOD((r.fcst_valid_epoch - d.fcst_lead + 62135596800), 86400) - MOD((r.fcst_valid_epoch - d.fcst_lead + 62135596800), 3600) IN (43200)
     AND r.fcst_valid_epoch - d.fcst_lead BETWEEN 1514764800 AND 1514851200
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.fcst_lead, r.fcst_lev NULLS FIRST, d.fcst_lead, r.vx_mask NULLS FIRST

-- document, epoch-range
SELECT r.vx_mask, r.fcst_valid_epoch - d.fcst_lead, r.fcst_valid_epoch, d.fcst_lead, r.model, r.fcst_lev, r.fcst_var, TO_BINARY_DOUBLE(d.oabar), TO_BINARY_DOUBLE(d.fabar), TO_BINARY_DOUBLE(d.ooabar), TO_BINARY_DOUBLE(d.foabar), TO_BINARY_DOUBLE(d.ffabar), TO_BINARY_DOUBLE(d.total)
  FROM "a/doc_sal1l2" r, JSON_TABLE(r.data FORMAT JSON, '$[*]' COLUMNS (fcst_lead NUMBER PATH '$.fcst_lead', oabar VARCHAR2(50) PATH '$.oabar', fabar VARCHAR2(50) PATH '$.fabar', ooabar VARCHAR2(50) PATH '$.ooabar', foabar VARCHAR2(50) PATH '$.foabar', ffabar VARCHAR2(50) PATH '$.ffabar', total VARCHAR2(50) PATH '$.total')) d
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'HGT'
     AND r.fcst_lev = 'P1000'
     AND r.vx_mask = 'G2/NHX'
     AND r.fcst_valid_epoch BETWEEN 1514764800 AND 1515088800
     AND MOD((r.fcst_valid_epoch - 1514764800), 21600) = 0
     AND d.fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND MOD((r.fcst_valid_epoch + 62135596800), 86400) - MOD((r.fcst_valid_epoch + 62135596800), 3600) IN (0, 21600)
     AND MOD((r.fcst_valid_epoch - d.fcst_lead + 62135596800), 86400) - MOD((r.fcst_valid_epoch - d.fcst_lead + 62135596800), 3600) IN (43200)
     AND r.fcst_valid_epoch - d.fcst_lead BETWEEN 1514764800 AND 1514851200
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.fcst_lead, r.fcst_lev NULLS FIRST, d.fcst_lead, r.vx_mask NULLS FIRST

-- document, keys
SELECT r.vx_mask, r.fcst_valid_epoch - d.fcst_lead, r.fcst_valid_epoch, d.fcst_lead, r.model, r.fcst_lev, r.fcst_var, TO_BINARY_DOUBLE(d.oabar), TO_BINARY_DOUBLE(d.fabar), TO_BINARY_DOUBLE(d.ooabar), TO_BINARY_DOUBLE(d.foabar), TO_BINARY_DOUBLE(d.ffabar), TO_BINARY_DOUBLE(d.total)
  FROM "a/doc_sal1l2" r, JSON_TABLE(r.data FORMAT JSON, '$[*]' COLUMNS (fcst_lead NUMBER PATH '$.fcst_lead', oabar VARCHAR2(50) PATH '$.oabar', fabar VARCHAR2(50) PATH '$.fabar', ooabar VARCHAR2(50) PATH '$.ooabar', foabar VARCHAR2(50) PATH '$.foabar', ffabar VARCHAR2(50) PATH '$.ffabar', total VARCHAR2(50) PATH '$.total')) d
   WHERE r.id IN (SELECT k.id FROM JSON_TABLE(:1 FORMAT JSON, '$[*]' COLUMNS (id VARCHAR2(4000) PATH '$')) k)
     AND d.fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND MOD((r.fcst_valid_epoch + 62135596800), 86400) - MOD((r.fcst_valid_epoch + 62135596800), 3600) IN (0, 21600)
     AND MOD((r.fcst_valid_epoch - d.fcst_lead + 62135596800), 86400) - MOD((r.fcst_valid_epoch - d.fcst_lead + 62135596800), 3600) IN (43200)
     AND r.fcst_valid_epoch - d.fcst_lead BETWEEN 1514764800 AND 1514851200
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.fcst_lead, r.fcst_lev NULLS FIRST, d.fcst_lead, r.vx_mask NULLS FIRST
-- ?1 = ["DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P1000::1514764800","DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P1000::1514786400",… 12 more, 45536ca96822ad94 …,"DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P1000::1515067200","DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P1000::1515088800"]
-- 16 keys

