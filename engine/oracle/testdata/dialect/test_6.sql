-- normalized, metviewer-sql
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.uoabar, ld.voabar, ld.ufabar, ld.vfabar, ld.uvooabar, ld.uvfoabar, ld.uvffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_val1l2" ld
   WHERE h.model || '' = 'GFS'
     AND h.fcst_var || '' = 'WIND'
     AND h.fcst_lev || '' = 'P500'
     AND h.vx_mask || '' IN ('G2/NHX', 'G2/SHX')
     AND ld.fcst_valid_beg || '' IN ('2019-01-01 00:00:00', '2019-01-01 06:00:00', … 269 more, 0725f2eb5fd11f17 …, '2019-03-09 18:00:00', '2019-03-10 00:00:00')
     AND ld.fcst_lead || '' IN ('0', '6', … 49 more, c1506d89a7a3b9de …, '372', '384')
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev NULLS FIRST, ld.fcst_lead, h.vx_mask NULLS FIRST

-- normalized, sql
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.uoabar, ld.voabar, ld.ufabar, ld.vfabar, ld.uvooabar, ld.uvfoabar, ld.uvffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_val1l2" ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'WIND'
     AND h.fcst_lev = 'P500'
     AND h.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND ld.fcst_valid_beg IN (TIMESTAMP '2019-01-01 00:00:00', TIMESTAMP '2019-01-01 06:00:00', … 269 more, 60ae8ffd4fbda14b …, TIMESTAMP '2019-03-09 18:00:00', TIMESTAMP '2019-03-10 00:00:00')
     AND ld.fcst_lead IN (0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384)
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev NULLS FIRST, ld.fcst_lead, h.vx_mask NULLS FIRST

-- normalized, iso-range
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.uoabar, ld.voabar, ld.ufabar, ld.vfabar, ld.uvooabar, ld.uvfoabar, ld.uvffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_val1l2" ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'WIND'
     AND h.fcst_lev = 'P500'
     AND h.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND ld.fcst_valid_beg BETWEEN TIMESTAMP '2019-01-01 00:00:00' AND TIMESTAMP '2019-03-10 00:00:00'
     AND MOD((ROUND((CAST(ld.fcst_valid_beg AS DATE) - DATE '1970-01-01') * 86400) - 1546300800), 21600) = 0
     AND ld.fcst_lead IN (0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384)
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev NULLS FIRST, ld.fcst_lead, h.vx_mask NULLS FIRST

-- normalized, epoch-range
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.uoabar, ld.voabar, ld.ufabar, ld.vfabar, ld.uvooabar, ld.uvfoabar, ld.uvffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_val1l2" ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'WIND'
     AND h.fcst_lev = 'P500'
     AND h.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND ROUND((CAST(ld.fcst_valid_beg AS DATE) - DATE '1970-01-01') * 86400) BETWEEN 1546300800 AND 1552176000
     AND MOD((ROUND((CAST(ld.fcst_valid_beg AS DATE) - DATE '1970-01-01') * 86400) - 1546300800), 21600) = 0
     AND ld.fcst_lead IN (0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384)
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev NULLS FIRST, ld.fcst_lead, h.vx_mask NULLS FIRST

-- document, iso-list
SELECT r.vx_mask, r.fcst_valid_epoch - d.fcst_lead, r.fcst_valid_epoch, d.fcst_lead, r.model, r.fcst_lev, r.fcst_var, TO_BINARY_DOUBLE(d.uoabar), TO_BINARY_DOUBLE(d.voabar), TO_BINARY_DOUBLE(d.ufabar), TO_BINARY_DOUBLE(d.vfabar), TO_BINARY_DOUBLE(d.uvooabar), TO_BINARY_DOUBLE(d.uvfoabar), TO_BINARY_DOUBLE(d.uvffabar), TO_BINARY_DOUBLE(d.total)
  FROM "a/doc_val1l2" r, JSON_TABLE(r.data FORMAT JSON, '$[*]' COLUMNS (fcst_lead NUMBER PATH '$.fcst_lead', uoabar VARCHAR2(50) PATH '$.uoabar', voabar VARCHAR2(50) PATH '$.voabar', ufabar VARCHAR2(50) PATH '$.ufabar', vfabar VARCHAR2(50) PATH '$.vfabar', uvooabar VARCHAR2(50) PATH '$.uvooabar', uvfoabar VARCHAR2(50) PATH '$.uvfoabar', uvffabar VARCHAR2(50) PATH '$.uvffabar', total VARCHAR2(50) PATH '$.total')) d
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'WIND'
     AND r.fcst_lev = 'P500'
     AND r.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND r.fcst_valid_beg IN ('2019-01-01T00:00:00Z', '2019-01-01T06:00:00Z', … 269 more, 3c1d42f9a4c824c1 …, '2019-03-09T18:00:00Z', '2019-03-10T00:00:00Z')
     AND d.fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.fcst_lead, r.fcst_lev NULLS FIRST, d.fcst_lead, r.vx_mask NULLS FIRST

-- document, iso-range
SELECT r.vx_mask, r.fcst_valid_epoch - d.fcst_lead, r.fcst_valid_epoch, d.fcst_lead, r.model, r.fcst_lev, r.fcst_var, TO_BINARY_DOUBLE(d.uoabar), TO_BINARY_DOUBLE(d.voabar), TO_BINARY_DOUBLE(d.ufabar), TO_BINARY_DOUBLE(d.vfabar), TO_BINARY_DOUBLE(d.uvooabar), TO_BINARY_DOUBLE(d.uvfoabar), TO_BINARY_DOUBLE(d.uvffabar), TO_BINARY_DOUBLE(d.total)
  FROM "a/doc_val1l2" r, JSON_TABLE(r.data FORMAT JSON, '$[*]' COLUMNS (fcst_lead NUMBER PATH '$.fcst_lead', uoabar VARCHAR2(50) PATH '$.uoabar', voabar VARCHAR2(50) PATH '$.voabar', ufabar VARCHAR2(50) PATH '$.ufabar', vfabar VARCHAR2(50) PATH '$.vfabar', uvooabar VARCHAR2(50) PATH '$.uvooabar', uvfoabar VARCHAR2(50) PATH '$.uvfoabar', uvffabar VARCHAR2(50) PATH '$.uvffabar', total VARCHAR2(50) PATH '$.total')) d
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'WIND'
     AND r.fcst_lev = 'P500'
     AND r.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND r.fcst_valid_beg BETWEEN '2019-01-01T00:00:00Z' AND '2019-03-10T00:00:00Z'
     AND MOD((r.fcst_valid_epoch - 1546300800), 21600) = 0
     AND d.fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.fcst_lead, r.fcst_lev NULLS FIRST, d.fcst_lead, r.vx_mask NULLS FIRST

-- document, epoch-list
SELECT r.vx_mask, r.fcst_valid_epoch - d.fcst_lead, r.fcst_valid_epoch, d.fcst_lead, r.model, r.fcst_lev, r.fcst_var, TO_BINARY_DOUBLE(d.uoabar), TO_BINARY_DOUBLE(d.voabar), TO_BINARY_DOUBLE(d.ufabar), TO_BINARY_DOUBLE(d.vfabar), TO_BINARY_DOUBLE(d.uvooabar), TO_BINARY_DOUBLE(d.uvfoabar), TO_BINARY_DOUBLE(d.uvffabar), TO_BINARY_DOUBLE(d.total)
  FROM "a/doc_val1l2" r, JSON_TABLE(r.data FORMAT JSON, '$[*]' COLUMNS (fcst_lead NUMBER PATH '$.fcst_lead', uoabar VARCHAR2(50) PATH '$.uoabar', voabar VARCHAR2(50) PATH '$.voabar', ufabar VARCHAR2(50) PATH '$.ufabar', vfabar VARCHAR2(50) PATH '$.vfabar', uvooabar VARCHAR2(50) PATH '$.uvooabar', uvfoabar VARCHAR2(50) PATH '$.uvfoabar', uvffabar VARCHAR2(50) PATH '$.uvffabar', total VARCHAR2(50) PATH '$.total')) d
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'WIND'
     AND r.fcst_lev = 'P500'
     AND r.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND r.fcst_valid_epoch IN (1546300800, 1546322400, … 269 more, 83b411c81c40c241 …, 1552154400, 1552176000)
     AND d.fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.fcst_lead, r.fcst_lev NULLS FIRST, d.fcst_lead, r.vx_mask NULLS FIRST

-- document, epoch-range
SELECT r.vx_mask, r.fcst_valid_epoch - d.fcst_lead, r.fcst_valid_epoch, d.fcst_lead, r.model, r.fcst_lev, r.fcst_var, TO_BINARY_DOUBLE(d.uoabar), TO_BINARY_DOUBLE(d.voabar), TO_BINARY_DOUBLE(d.ufabar), TO_BINARY_DOUBLE(d.vfabar), TO_BINARY_DOUBLE(d.uvooabar), TO_BINARY_DOUBLE(d.uvfoabar), TO_BINARY_DOUBLE(d.uvffabar), TO_BINARY_DOUBLE(d.total)
  FROM "a/doc_val1l2" r, JSON_TABLE(r.data FORMAT JSON, '$[*]' COLUMNS (fcst_lead NUMBER PATH '$.fcst_lead', uoabar VARCHAR2(50) PATH '$.uoabar', voabar VARCHAR2(50) PATH '$.voabar', ufabar VARCHAR2(50) PATH '$.ufabar', vfabar VARCHAR2(50) PATH '$.vfabar', uvooabar VARCHAR2(50) PATH '$.uvooabar', uvfoabar VARCHAR2(50) PATH '$.uvfoabar', uvffabar VARCHAR2(50) PATH '$.uvffabar', total VARCHAR2(50) PATH '$.total')) d
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'WIND'
     AND r.fcst_lev = 'P500'
     AND r.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND r.fcst_valid_epoch BETWEEN 1546300800 AND 1552176000
     AND MOD((r.fcst_valid_epoch - 1546300800), 21600) = 0
     AND d.fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.fcst_lead, r.fcst_lev NULLS FIRST, d.fcst_lead, r.vx_mask NULLS FIRST

-- document, keys
SELECT r.vx_mask, r.fcst_valid_epoch - d.fcst_lead, r.fcst_valid_epoch, d.fcst_lead, r.model, r.fcst_lev, r.fcst_var, TO_BINARY_DOUBLE(d.uoabar), TO_BINARY_DOUBLE(d.voabar), TO_BINARY_DOUBLE(d.ufabar), TO_BINARY_DOUBLE(d.vfabar), TO_BINARY_DOUBLE(d.uvooabar), TO_BINARY_DOUBLE(d.uvfoabar), TO_BINARY_DOUBLE(d.uvffabar), TO_BINARY_DOUBLE(d.total)
  FROM "a/doc_val1l2" r, JSON_TABLE(r.data FORMAT JSON, '$[*]' COLUMNS (fcst_lead NUMBER PATH '$.fcst_lead', uoabar VARCHAR2(50) PATH '$.uoabar', voabar VARCHAR2(50) PATH '$.voabar', ufabar VARCHAR2(50) PATH '$.ufabar', vfabar VARCHAR2(50) PATH '$.vfabar', uvooabar VARCHAR2(50) PATH '$.uvooabar', uvfoabar VARCHAR2(50) PATH '$.uvfoabar', uvffabar VARCHAR2(50) PATH '$.uvffabar', total VARCHAR2(50) PATH '$.total')) d
   WHERE r.id IN (SELECT k.id FROM JSON_TABLE(:1 FORMAT JSON, '$[*]' COLUMNS (id VARCHAR2(4000) PATH '$')) k)
     AND d.fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.fcst_lead, r.fcst_lev NULLS FIRST, d.fcst_lead, r.vx_mask NULLS FIRST
-- ?1 = ["DD::V01::VAL1L2::a::GFS::G2/NHX::WIND::GFS::P500::1546300800","DD::V01::VAL1L2::a::GFS::G2/NHX::WIND::GFS::P500::1546322400",… 542 more, 9f02f31fdb080757 …,"DD::V01::VAL1L2::a::GFS::G2/SHX::WIND::GFS::P500::1552154400","DD::V01::VAL1L2::a::GFS::G2/SHX::WIND::GFS::P500::1552176000"]
-- 546 keys

