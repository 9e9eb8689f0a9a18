-- normalized, metviewer-sql
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_sal1l2" ld
   WHERE CAST(h.model AS TEXT) = 'GFS'
     AND CAST(h.fcst_var AS TEXT) = 'HGT'
     AND CAST(h.fcst_lev AS TEXT) = 'P1000'
     AND CAST(h.vx_mask AS TEXT) = 'G2/NHX'
     AND CAST(ld.fcst_valid_beg AS TEXT) IN ('2018-01-01 00:00:00', '2018-01-01 06:00:00', … 12 more, bd23bbd8ae907649 …, '2018-01-04 12:00:00', '2018-01-04 18:00:00')
     AND CAST(ld.fcst_lead AS TEXT) IN ('0', '6', … 49 more, c1506d89a7a3b9de …, '372', '384')
     AND (unixepoch(ld.fcst_valid_beg) + 62135596800) % 86400 - (unixepoch(ld.fcst_valid_beg) + 62135596800) % 3600 IN (0, 21600)
     AND (unixepoch(ld.fcst_init_beg) + 62135596800) % 86400 - (unixepoch(ld.fcst_init_beg) + 62135596800) % 3600 IN (43200)
     AND CAST(ld.fcst_init_beg AS TEXT) BETWEEN '2018-01-01 00:00:00' AND '2018-01-02 00:00:00'
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- normalized, sql
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_sal1l2" ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'HGT'
     AND h.fcst_lev = 'P1000'
     AND h.vx_mask = 'G2/NHX'
     AND ld.fcst_valid_beg IN ('2018-01-01 00:00:00', '2018-01-01 06:00:00', … 12 more, bd23bbd8ae907649 …, '2018-01-04 12:00:00', '2018-01-04 18:00:00')
     AND ld.fcst_lead IN (0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384)
     AND (unixepoch(ld.fcst_valid_beg) + 62135596800) % 86400 - (unixepoch(ld.fcst_valid_beg) + 62135596800) % 3600 IN (0, 21600)
     AND (unixepoch(ld.fcst_init_beg) + 62135596800) % 86400 - (unixepoch(ld.fcst_init_beg) + 62135596800) % 3600 IN (43200)
     AND ld.fcst_init_beg BETWEEN '2018-01-01 00:00:00' AND '2018-01-02 00:00:00'
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- normalized, iso-range
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_sal1l2" ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'HGT'
     AND h.fcst_lev = 'P1000'
     AND h.vx_mask = 'G2/NHX'
     AND ld.fcst_valid_beg BETWEEN '2018-01-01 00:00:00' AND '2018-01-04 18:00:00'
     AND (unixepoch(ld.fcst_valid_beg) - 1514764800) % 21600 = 0
     AND ld.fcst_lead IN (0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384)
     AND (unixepoch(ld.fcst_valid_beg) + 62135596800) % 86400 - (unixepoch(ld.fcst_valid_beg) + 62135596800) % 3600 IN (0, 21600)
     AND (unixepoch(ld.fcst_init_beg) + 62135596800) % 86400 - (unixepoch(ld.fcst_init_beg) + 62135596800) % 3600 IN (43200)
     AND ld.fcst_init_beg BETWEEN '2018-01-01 00:00:00' AND '2018-01-02 00:00:00'
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- normalized, epoch-range
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_sal1l2" ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'HGT'
     AND h.fcst_lev = 'P1000'
     AND h.vx_mask = 'G2/NHX'
     AND unixepoch(ld.fcst_valid_beg) BETWEEN 1514764800 AND 1515088800
     AND (unixepoch(ld.fcst_valid_beg) - 1514764800) % 21600 = 0
     AND ld.fcst_lead IN (0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384)
     AND (unixepoch(ld.fcst_valid_beg) + 62135596800) % 86400 - (unixepoch(ld.fcst_valid_beg) + 62135596800) % 3600 IN (0, 21600)
     AND (unixepoch(ld.fcst_init_beg) + 62135596800) % 86400 - (unixepoch(ld.fcst_init_beg) + 62135596800) % 3600 IN (43200)
     AND ld.fcst_init_beg BETWEEN '2018-01-01 00:00:00' AND '2018-01-02 00:00:00'
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- document, iso-list
SELECT r.vx_mask, r.fcst_valid_epoch - d.value ->> 'fcst_lead', r.fcst_valid_epoch, d.value ->> 'fcst_lead', r.model, r.fcst_lev, r.fcst_var, d.value ->> 'oabar', d.value ->> 'fabar', d.value ->> 'ooabar', d.value ->> 'foabar', d.value ->> 'ffabar', d.value ->> 'total'
  FROM "a/doc_sal1l2" AS r, jsonb_each(r.data) AS d
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'HGT'
     AND r.fcst_lev = 'P1000'
     AND r.vx_mask = 'G2/NHX'
     AND r.fcst_valid_beg IN ('2018-01-01T00:00:00Z', '2018-01-01T06:00:00Z', … 12 more, 159d862343079b75 …, '2018-01-04T12:00:00Z', '2018-01-04T18:00:00Z')
     AND d.value ->> 'fcst_lead' IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (r.fcst_valid_epoch + 62135596800) % 86400 - (r.fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (r.fcst_valid_epoch - d.value ->> 'fcst_lead' + 62135596800) % 86400 - (r.fcst_valid_epoch - d.value ->> 'fcst_lead' + 62135596800) % 3600 IN (43200)
     AND r.fcst_valid_epoch - d.value ->> 'fcst_lead' BETWEEN 1514764800 AND 1514851200
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.value ->> 'fcst_lead', r.fcst_lev, d.value ->> 'fcst_lead', r.vx_mask

-- document, iso-range
SELECT r.vx_mask, r.fcst_valid_epoch - d.value ->> 'fcst_lead', r.fcst_valid_epoch, d.value ->> 'fcst_lead', r.model, r.fcst_lev, r.fcst_var, d.value ->> 'oabar', d.value ->> 'fabar', d.value ->> 'ooabar', d.value ->> 'foabar', d.value ->> 'ffabar', d.value ->> 'total'
  FROM "a/doc_sal1l2" AS r, jsonb_each(r.data) AS d
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'HGT'
     AND r.fcst_lev = 'P1000'
     AND r.vx_mask = 'G2/NHX'
     AND r.fcst_valid_beg BETWEEN '2018-01-01T00:00:00Z' AND '2018-01-04T18:00:00Z'
     AND (r.fcst_valid_epoch - 1514764800) % 21600 = 0
     AND d.value ->> 'fcst_lead' IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (r.fcst_valid_epoch + 62135596800) % 86400 - (r.fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (r.fcst_valid_epoch - d.value ->> 'fcst_lead' + 62135596800) % 86400 - (r.fcst_valid_epoch - d.value ->> 'fcst_lead' + 62135596800) % 3600 IN (43200)
     AND r.fcst_valid_epoch - d.value ->> 'fcst_lead' BETWEEN 1514764800 AND 1514851200
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.value ->> 'fcst_lead', r.fcst_lev, d.value ->> 'fcst_lead', r.vx_mask

-- document, epoch-list
SELECT r.vx_mask, r.fcst_valid_epoch - d.value ->> 'fcst_lead', r.fcst_valid_epoch, d.value ->> 'fcst_lead', r.model, r.fcst_lev, r.fcst_var, d.value ->> 'oabar', d.value ->> 'fabar', d.value ->> 'ooabar', d.value ->> 'foabar', d.value ->> 'ffabar', d.value ->> 'total'
  FROM "a/doc_sal1l2" AS r, jsonb_each(r.data) AS d
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'HGT'
     AND r.fcst_lev = 'P1000'
     AND r.vx_mask = 'G2/NHX'
     AND r.fcst_valid_epoch IN (1514764800, 1514786400, … 12 more, f8c32e648e87857b …, 1515067200, 1515088800)
     AND d.value ->> 'fcst_lead' IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (r.fcst_valid_epoch + 62135596800) % 86400 - (r.fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (r.fcst_valid_epoch - d.value ->> 'fcst_lead' + 62135596800) % 86400 - (r.fcst_valid_epoch - d.value ->> 'fcst_lead' + 62135596800) % 3600 IN (43200)
     AND r.fcst_valid_epoch - d.value ->> 'fcst_lead' BETWEEN 1514764800 AND 1514851200
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.value ->> 'fcst_lead', r.fcst_lev, d.value ->> 'fcst_lead', r.vx_mask

-- document, epoch-range
SELECT r.vx_mask, r.fcst_valid_epoch - d.value ->> 'fcst_lead', r.fcst_valid_epoch, d.value ->> 'fcst_lead', r.model, r.fcst_lev, r.fcst_var, d.value ->> 'oabar', d.value ->> 'fabar', d.value ->> 'ooabar', d.value ->> 'foabar', d.value ->> 'ffabar', d.value ->> 'total'
  FROM "a/doc_sal1l2" AS r, jsonb_each(r.data) AS d
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'HGT'
     AND r.fcst_lev = 'P1000'
     AND r.vx_mask = 'G2/NHX'
     AND r.fcst_valid_epoch BETWEEN 1514764800 AND 1515088800
     AND (r.fcst_valid_epoch - 1514764800) % 21600 = 0
     AND d.value ->> 'fcst_lead' IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (r.fcst_valid_epoch + 62135596800) % 86400 - (r.fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (r.fcst_valid_epoch - d.value ->> 'fcst_lead' + 62135596800) % 86400 - (r.fcst_valid_epoch - d.value ->> 'fcst_lead' + 62135596800) % 3600 IN (43200)
     AND r.fcst_valid_epoch - d.value ->> 'fcst_lead' BETWEEN 1514764800 AND 1514851200
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.value ->> 'fcst_lead', r.fcst_lev, d.value ->> 'fcst_lead', r.vx_mask

-- document, keys
SELECT r.vx_mask, r.fcst_valid_epoch - d.value ->> 'fcst_lead', r.fcst_valid_epoch, d.value ->> 'fcst_lead', r.model, r.fcst_lev, r.fcst_var, d.value ->> 'oabar', d.value ->> 'fabar', d.value ->> 'ooabar', d.value ->> 'foabar', d.value ->> 'ffabar', d.value ->> 'total'
  FROM "a/doc_sal1l2" AS r, jsonb_each(r.data) AS d
   WHERE r.id IN (SELECT value FROM json_each(?))
     AND d.value ->> 'fcst_lead' IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (r.fcst_valid_epoch + 62135596800) % 86400 - (r.fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (r.fcst_valid_epoch - d.value ->> 'fcst_lead' + 62135596800) % 86400 - (r.fcst_valid_epoch - d.value ->> 'fcst_lead' + 62135596800) % 3600 IN (43200)
     AND r.fcst_valid_epoch - d.value ->> 'fcst_lead' BETWEEN 1514764800 AND 1514851200
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d.value ->> 'fcst_lead', r.fcst_lev, d.value ->> 'fcst_lead', r.vx_mask
-- ?1 = ["DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P1000::1514764800","DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P1000::1514786400",… 12 more, 45536ca96822ad94 …,"DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P1000::1515067200","DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P1000::1515088800"]
-- 16 keys

