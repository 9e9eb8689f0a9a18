-- normalized, metviewer-sql
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.uoabar, ld.voabar, ld.ufabar, ld.vfabar, ld.uvooabar, ld.uvfoabar, ld.uvffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_val1l2" ld
   WHERE CAST(h.model AS TEXT) = 'GFS'
     AND CAST(h.fcst_var AS TEXT) = 'WIND'
     AND CAST(h.fcst_lev AS TEXT) = 'P500'
     AND CAST(h.vx_mask AS TEXT) IN ('G2/NHX', 'G2/SHX')
     AND CAST(ld.fcst_valid_beg AS TEXT) IN ('2019-01-01 00:00:00', '2019-01-01 06:00:00', … 269 more, 0725f2eb5fd11f17 …, '2019-03-09 18:00:00', '2019-03-10 00:00:00')
     AND CAST(ld.fcst_lead AS TEXT) IN ('0', '6', … 49 more, c1506d89a7a3b9de …, '372', '384')
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- normalized, sql
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.uoabar, ld.voabar, ld.ufabar, ld.vfabar, ld.uvooabar, ld.uvfoabar, ld.uvffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_val1l2" ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'WIND'
     AND h.fcst_lev = 'P500'
     AND h.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND ld.fcst_valid_beg IN ('2019-01-01 00:00:00', '2019-01-01 06:00:00', … 269 more, 0725f2eb5fd11f17 …, '2019-03-09 18:00:00', '2019-03-10 00:00:00')
     AND ld.fcst_lead IN (0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384)
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- normalized, iso-range
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.uoabar, ld.voabar, ld.ufabar, ld.vfabar, ld.uvooabar, ld.uvfoabar, ld.uvffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_val1l2" ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'WIND'
     AND h.fcst_lev = 'P500'
     AND h.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND ld.fcst_valid_beg BETWEEN '2019-01-01 00:00:00' AND '2019-03-10 00:00:00'
     AND (unixepoch(ld.fcst_valid_beg) - 1546300800) % 21600 = 0
     AND ld.fcst_lead IN (0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384)
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- normalized, epoch-range
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.uoabar, ld.voabar, ld.ufabar, ld.vfabar, ld.uvooabar, ld.uvfoabar, ld.uvffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_val1l2" ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'WIND'
     AND h.fcst_lev = 'P500'
     AND h.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND unixepoch(ld.fcst_valid_beg) BETWEEN 1546300800 AND 1552176000
     AND (unixepoch(ld.fcst_valid_beg) - 1546300800) % 21600 = 0
     AND ld.fcst_lead IN (0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384)
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- document, iso-list
SELECT r.vx_mask, r.fcst_valid_epoch - d.value ->> 'fcst_lead', r.fcst_valid_epoch, d.value ->> 'fcst_lead', r.model, r.fcst_lev, r.fcst_var, d.value ->> 'uoabar', d.value ->> 'voabar', d.value ->> 'ufabar', d.value ->> 'vfabar', d.value ->> 'uvooabar', d.value ->> 'uvfoabar', d.value ->> 'uvffabar', d.value ->> 'total'
  FROM "a/doc_val1l2" AS r, jsonb_each(r.data) AS d
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'WIND'
     AND r.fcst_lev = 'P500'
     AND r.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND r.fcst_valid_beg IN ('2019-01-01T00:00:00Z', '2019-01-01T06:00:00Z', … 269 more, 3c1d42f9a4c824c1 …, '2019-03-09T18:00:00Z', '2019-03-10T00:00:00Z')
     AND d.value ->> 'fcst_lead' IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.value ->> 'fcst_lead', r.fcst_lev, d.value ->> 'fcst_lead', r.vx_mask

-- document, iso-range
SELECT r.vx_mask, r.fcst_valid_epoch - d.value ->> 'fcst_lead', r.fcst_valid_epoch, d.value ->> 'fcst_lead', r.model, r.fcst_lev, r.fcst_var, d.value ->> 'uoabar', d.value ->> 'voabar', d.value ->> 'ufabar', d.value ->> 'vfabar', d.value ->> 'uvooabar', d.value ->> 'uvfoabar', d.value ->> 'uvffabar', d.value ->> 'total'
  FROM "a/doc_val1l2" AS r, jsonb_each(r.data) AS d
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'WIND'
     AND r.fcst_lev = 'P500'
     AND r.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND r.fcst_valid_beg BETWEEN '2019-01-01T00:00:00Z' AND '2019-03-10T00:00:00Z'
     AND (r.fcst_valid_epoch - 1546300800) % 21600 = 0
     AND d.value ->> 'fcst_lead' IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.value ->> 'fcst_lead', r.fcst_lev, d.value ->> 'fcst_lead', r.vx_mask

-- document, epoch-list
SELECT r.vx_mask, r.fcst_valid_epoch - d.value ->> 'fcst_lead', r.fcst_valid_epoch, d.value ->> 'fcst_lead', r.model, r.fcst_lev, r.fcst_var, d.value ->> 'uoabar', d.value ->> 'voabar', d.value ->> 'ufabar', d.value ->> 'vfabar', d.value ->> 'uvooabar', d.value ->> 'uvfoabar', d.value ->> 'uvffabar', d.value ->> 'total'
  FROM "a/doc_val1l2" AS r, jsonb_each(r.data) AS d
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'WIND'
     AND r.fcst_lev = 'P500'
     AND r.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND r.fcst_valid_epoch IN (1546300800, 1546322400, … 269 more, 83b411c81c40c241 …, 1552154400, 1552176000)
     AND d.value ->> 'fcst_lead' IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.value ->> 'fcst_lead', r.fcst_lev, d.value ->> 'fcst_lead', r.vx_mask

-- document, epoch-range
SELECT r.vx_mask, r.fcst_valid_epoch - d.value ->> 'fcst_lead', r.fcst_valid_epoch, d.value ->> 'fcst_lead', r.model, r.fcst_lev, r.fcst_var, d.value ->> 'uoabar', d.value ->> 'voabar', d.value ->> 'ufabar', d.value ->> 'vfabar', d.value ->> 'uvooabar', d.value ->> 'uvfoabar', d.value ->> 'uvffabar', d.value ->> 'total'
  FROM "a/doc_val1l2" AS r, jsonb_each(r.data) AS d
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'WIND'
     AND r.fcst_lev = 'P500'
     AND r.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND r.fcst_valid_epoch BETWEEN 1546300800 AND 1552176000
     AND (r.fcst_valid_epoch - 1546300800) % 21600 = 0
     AND d.value ->> 'fcst_lead' IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.value ->> 'fcst_lead', r.fcst_lev, d.value ->> 'fcst_lead', r.vx_mask

-- document, keys
SELECT r.vx_mask, r.fcst_valid_epoch - d.value ->> 'fcst_lead', r.fcst_valid_epoch, d.value ->> 'fcst_lead', r.model, r.fcst_lev, r.fcst_var, d.value ->> 'uoabar', d.value ->> 'voabar', d.value ->> 'ufabar', d.value ->> 'vfabar', d.value ->> 'uvooabar', d.value ->> 'uvfoabar', d.value ->> 'uvffabar', d.value ->> 'total'
  FROM "a/doc_val1l2" AS r, jsonb_each(r.data) AS d
   WHERE r.id IN (SELECT value FROM json_each(?))
     AND d.value ->> 'fcst_lead' IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.value ->> 'fcst_lead', r.fcst_lev, d.value ->> 'fcst_lead', r.vx_mask
-- ?1 = ["DD::V01::VAL1L2::a::GFS::G2/NHX::WIND::GFS::P500::1546300800","DD::V01::VAL1L2::a::GFS::G2/NHX::WIND::GFS::P500::1546322400",… 542 more, 9f02f31fdb080757 …,"DD::V01::VAL1L2::a::GFS::G2/SHX::WIND::GFS::P500::1552154400","DD::V01::VAL1L2::a::GFS::G2/SHX::WIND::GFS::P500::1552176000"]
-- 546 keys

