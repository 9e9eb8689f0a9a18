-- normalized, metviewer-sql
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.uoabar, ld.voabar, ld.ufabar, ld.vfabar, ld.uvooabar, ld.uvfoabar, ld.uvffabar, ld.total
  FROM "a".stat_header h, "a".line_data_val1l2 ld
   WHERE convert_to(CAST(h.model AS text), 'UTF8') = 'GFS'::bytea
     AND convert_to(CAST(h.fcst_var AS text), 'UTF8') = 'WIND'::bytea
     AND convert_to(CAST(h.fcst_lev AS text), 'UTF8') = 'P500'::bytea
     AND convert_to(CAST(h.vx_mask AS text), 'UTF8') IN ('G2/NHX'::bytea, 'G2/SHX'::bytea)
     AND convert_to(CAST(ld.fcst_valid_beg AS text), 'UTF8') IN ('2019-01-01 00:00:00'::bytea, '2019-01-01 06:00:00'::bytea, … 269 more, f895a8e08f2166e7 …, '2019-03-09 18:00:00'::bytea, '2019-03-10 00:00:00'::bytea)
     AND convert_to(CAST(ld.fcst_lead AS text), 'UTF8') IN ('0'::bytea, '6'::bytea, … 49 more, b1e85e36c5fc0ff3 …, '372'::bytea, '384'::bytea)
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- normalized, sql
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.uoabar, ld.voabar, ld.ufabar, ld.vfabar, ld.uvooabar, ld.uvfoabar, ld.uvffabar, ld.total
  FROM "a".stat_header h, "a".line_data_val1l2 ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'WIND'
     AND h.fcst_lev = 'P500'
     AND h.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND ld.fcst_valid_beg IN (TIMESTAMP '2019-01-01 00:00:00', TIMESTAMP '2019-01-01 06:00:00', … 269 more, 60ae8ffd4fbda14b …, TIMESTAMP '2019-03-09 18:00:00', TIMESTAMP '2019-03-10 00:00:00')
     AND ld.fcst_lead IN (0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384)
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- normalized, iso-range
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.uoabar, ld.voabar, ld.ufabar, ld.vfabar, ld.uvooabar, ld.uvfoabar, ld.uvffabar, ld.total
  FROM "a".stat_header h, "a".line_data_val1l2 ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'WIND'
     AND h.fcst_lev = 'P500'
     AND h.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND ld.fcst_valid_beg BETWEEN TIMESTAMP '2019-01-01 00:00:00' AND TIMESTAMP '2019-03-10 00:00:00'
     AND (extract(epoch FROM ld.fcst_valid_beg)::bigint - 1546300800) % 21600 = 0
     AND ld.fcst_lead IN (0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384)
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- normalized, epoch-range
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.uoabar, ld.voabar, ld.ufabar, ld.vfabar, ld.uvooabar, ld.uvfoabar, ld.uvffabar, ld.total
  FROM "a".stat_header h, "a".line_data_val1l2 ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'WIND'
     AND h.fcst_lev = 'P500'
     AND h.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND extract(epoch FROM ld.fcst_valid_beg)::bigint BETWEEN 1546300800 AND 1552176000
     AND (extract(epoch FROM ld.fcst_valid_beg)::bigint - 1546300800) % 21600 = 0
     AND ld.fcst_lead IN (0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384)
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- document, iso-list
SELECT r.vx_mask, r.fcst_valid_epoch - d."fcst_lead", r.fcst_valid_epoch, d."fcst_lead", r.model, r.fcst_lev, r.fcst_var, d."uoabar", d."voabar", d."ufabar", d."vfabar", d."uvooabar", d."uvfoabar", d."uvffabar", d."total"
  FROM "a".doc_val1l2 AS r, jsonb_to_recordset(r.data) AS d(fcst_lead integer, fcst_valid_end bigint, … 15 more, f246200a2da60efb …, "dira_mae" double precision, "dira_mse" double precision)
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'WIND'
     AND r.fcst_lev = 'P500'
     AND r.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND r.fcst_valid_beg IN ('2019-01-01T00:00:00Z', '2019-01-01T06:00:00Z', … 269 more, 3c1d42f9a4c824c1 …, '2019-03-09T18:00:00Z', '2019-03-10T00:00:00Z')
     AND d."fcst_lead" IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d."fcst_lead", r.fcst_lev, d."fcst_lead", r.vx_mask

-- document, iso-range
SELECT r.vx_mask, r.fcst_valid_epoch - d."fcst_lead", r.fcst_valid_epoch, d."fcst_lead", r.model, r.fcst_lev, r.fcst_var, d."uoabar", d."voabar", d."ufabar", d."vfabar", d."uvooabar", d."uvfoabar", d."uvffabar", d."total"
  FROM "a".doc_val1l2 AS r, jsonb_to_recordset(r.data) AS d(fcst_lead integer, fcst_valid_end bigint, … 15 more, f246200a2da60efb …, "dira_mae" double precision, "dira_mse" double precision)
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'WIND'
     AND r.fcst_lev = 'P500'
     AND r.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND r.fcst_valid_beg BETWEEN '2019-01-01T00:00:00Z' AND '2019-03-10T00:00:00Z'
     AND (r.fcst_valid_epoch - 1546300800) % 21600 = 0
     AND d."fcst_lead" IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d."fcst_lead", r.fcst_lev, d."fcst_lead", r.vx_mask

-- document, epoch-list
SELECT r.vx_mask, r.fcst_valid_epoch - d."fcst_lead", r.fcst_valid_epoch, d."fcst_lead", r.model, r.fcst_lev, r.fcst_var, d."uoabar", d."voabar", d."ufabar", d."vfabar", d."uvooabar", d."uvfoabar", d."uvffabar", d."total"
  FROM "a".doc_val1l2 AS r, jsonb_to_recordset(r.data) AS d(fcst_lead integer, fcst_valid_end bigint, … 15 more, f246200a2da60efb …, "dira_mae" double precision, "dira_mse" double precision)
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'WIND'
     AND r.fcst_lev = 'P500'
     AND r.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND r.fcst_valid_epoch IN (1546300800, 1546322400, … 269 more, 83b411c81c40c241 …, 1552154400, 1552176000)
     AND d."fcst_lead" IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d."fcst_lead", r.fcst_lev, d."fcst_lead", r.vx_mask

-- document, epoch-range
SELECT r.vx_mask, r.fcst_valid_epoch - d."fcst_lead", r.fcst_valid_epoch, d."fcst_lead", r.model, r.fcst_lev, r.fcst_var, d."uoabar", d."voabar", d."ufabar", d."vfabar", d."uvooabar", d."uvfoabar", d."uvffabar", d."total"
  FROM "a".doc_val1l2 AS r, jsonb_to_recordset(r.data) AS d(fcst_lead integer, fcst_valid_end bigint, … 15 more, f246200a2da60efb …, "dira_mae" double precision, "dira_mse" double precision)
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'WIND'
     AND r.fcst_lev = 'P500'
     AND r.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND r.fcst_valid_epoch BETWEEN 1546300800 AND 1552176000
     AND (r.fcst_valid_epoch - 1546300800) % 21600 = 0
     AND d."fcst_lead" IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d."fcst_lead", r.fcst_lev, d."fcst_lead", r.vx_mask

-- document, keys
SELECT r.vx_mask, r.fcst_valid_epoch - d."fcst_lead", r.fcst_valid_epoch, d."fcst_lead", r.model, r.fcst_lev, r.fcst_var, d."uoabar", d."voabar", d."ufabar", d."vfabar", d."uvooabar", d."uvfoabar", d."uvffabar", d."total"
  FROM "a".doc_val1l2 AS r, jsonb_to_recordset(r.data) AS d(fcst_lead integer, fcst_valid_end bigint, … 15 more, f246200a2da60efb …, "dira_mae" double precision, "dira_mse" double precision)
   WHERE r.id = ANY($1)
     AND d."fcst_lead" IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d."fcst_lead", r.fcst_lev, d."fcst_lead", r.vx_mask
-- ?1 = DD::V01::VAL1L2::a::GFS::G2/NHX::WIND::GFS::P500::1546300800,DD::V01::VAL1L2::a::GFS::G2/NHX::WIND::GFS::P500::1546322400,… 542 more, 81b0a0e3da61e7c7 …,DD::V01::VAL1L2::a::GFS::G2/SHX::WIND::GFS::P500::1552154400,DD::V01::VAL1L2::a::GFS::G2/SHX::WIND::GFS::P500::1552176000
-- 546 keys

-- wide, sql
SELECT vx_mask, fcst_init_beg, fcst_valid_beg, fcst_lead, model, fcst_lev, fcst_var, uoabar, voabar, ufabar, vfabar, uvooabar, uvfoabar, uvffabar, total
  FROM "a".wide_val1l2
   WHERE model = 'GFS'
     AND fcst_var = 'WIND'
     AND fcst_lev = 'P500'
     AND vx_mask IN ('G2/NHX', 'G2/SHX')
     AND fcst_valid_beg IN (TIMESTAMP '2019-01-01 00:00:00', TIMESTAMP '2019-01-01 06:00:00', … 269 more, 60ae8ffd4fbda14b …, TIMESTAMP '2019-03-09 18:00:00', TIMESTAMP '2019-03-10 00:00:00')
     AND fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
   ORDER BY fcst_valid_beg, fcst_init_beg, fcst_lev, fcst_lead, vx_mask

-- wide, iso-list
SELECT vx_mask, fcst_init_beg, fcst_valid_beg, fcst_lead, model, fcst_lev, fcst_var, uoabar, voabar, ufabar, vfabar, uvooabar, uvfoabar, uvffabar, total
  FROM "a".wide_val1l2
   WHERE model = 'GFS'
     AND fcst_var = 'WIND'
     AND fcst_lev = 'P500'
     AND vx_mask IN ('G2/NHX', 'G2/SHX')
     AND fcst_valid_beg IN (TIMESTAMP '2019-01-01 00:00:00', TIMESTAMP '2019-01-01 06:00:00', … 269 more, 60ae8ffd4fbda14b …, TIMESTAMP '2019-03-09 18:00:00', TIMESTAMP '2019-03-10 00:00:00')
     AND fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
   ORDER BY fcst_valid_beg, fcst_init_beg, fcst_lev, fcst_lead, vx_mask

-- wide, iso-range
SELECT vx_mask, fcst_init_beg, fcst_valid_beg, fcst_lead, model, fcst_lev, fcst_var, uoabar, voabar, ufabar, vfabar, uvooabar, uvfoabar, uvffabar, total
  FROM "a".wide_val1l2
   WHERE model = 'GFS'
     AND fcst_var = 'WIND'
     AND fcst_lev = 'P500'
     AND vx_mask IN ('G2/NHX', 'G2/SHX')
     AND fcst_valid_beg BETWEEN TIMESTAMP '2019-01-01 00:00:00' AND TIMESTAMP '2019-03-10 00:00:00'
     AND (fcst_valid_epoch - 1546300800) % 21600 = 0
     AND fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
   ORDER BY fcst_valid_beg, fcst_init_beg, fcst_lev, fcst_lead, vx_mask

-- wide, epoch-list
SELECT vx_mask, fcst_init_beg, fcst_valid_beg, fcst_lead, model, fcst_lev, fcst_var, uoabar, voabar, ufabar, vfabar, uvooabar, uvfoabar, uvffabar, total
  FROM "a".wide_val1l2
   WHERE model = 'GFS'
     AND fcst_var = 'WIND'
     AND fcst_lev = 'P500'
     AND vx_mask IN ('G2/NHX', 'G2/SHX')
     AND fcst_valid_epoch IN (1546300800, 1546322400, … 269 more, 83b411c81c40c241 …, 1552154400, 1552176000)
     AND fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
   ORDER BY fcst_valid_beg, fcst_init_beg, fcst_lev, fcst_lead, vx_mask

-- wide, epoch-range
SELECT vx_mask, fcst_init_beg, fcst_valid_beg, fcst_lead, model, fcst_lev, fcst_var, uoabar, voabar, ufabar, vfabar, uvooabar, uvfoabar, uvffabar, total
  FROM "a".wide_val1l2
   WHERE model = 'GFS'
     AND fcst_var = 'WIND'
     AND fcst_lev = 'P500'
     AND vx_mask IN ('G2/NHX', 'G2/SHX')
     AND fcst_valid_epoch BETWEEN 1546300800 AND 1552176000
     AND (fcst_valid_epoch - 1546300800) % 21600 = 0
     AND fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
   ORDER BY fcst_valid_beg, fcst_init_beg, fcst_lev, fcst_lead, vx_mask

