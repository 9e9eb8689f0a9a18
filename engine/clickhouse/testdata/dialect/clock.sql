-- normalized, metviewer-sql
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_sal1l2" ld
   WHERE CAST(h.model AS String) = 'GFS'
     AND CAST(h.fcst_var AS String) = 'HGT'
     AND CAST(h.fcst_lev AS String) = 'P1000'
     AND CAST(h.vx_mask AS String) = 'G2/NHX'
     AND CAST(ld.fcst_valid_beg AS String) IN ('2018-01-01 00:00:00', '2018-01-01 06:00:00', … 12 more, bd23bbd8ae907649 …, '2018-01-04 12:00:00', '2018-01-04 18:00:00')
     AND CAST(ld.fcst_lead AS String) IN ('0', '6', … 49 more, c1506d89a7a3b9de …, '372', '384')
     AND toHour(ld.fcst_valid_beg) IN (0, 6)
     AND toHour(ld.fcst_init_beg) IN (12)
     AND CAST(ld.fcst_init_beg AS String) BETWEEN '2018-01-01 00:00:00' AND '2018-01-02 00:00:00'
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- normalized, sql
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_sal1l2" ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'HGT'
     AND h.fcst_lev = 'P1000'
     AND h.vx_mask = 'G2/NHX'
     AND ld.fcst_valid_beg IN (toDateTime64('2018-01-01 00:00:00', 0, 'UTC'), toDateTime64('2018-01-01 06:00:00', 0, 'UTC'), toDateTime64('2018-01-01 12:00:00', 0, 'UTC'), toDateTime64('2018-01-01 18:00:00', 0, 'UTC'), toDateTime64('2018-01-02 00:00:00', 0, 'UTC'), toDateTime64('2018-01-02 06:00:00', 0, 'UTC'), toDateTime64('2018-01-02 12:00:00', 0, 'UTC'), toDateTime64('2018-01-02 18:00:00', 0, 'UTC'), toDateTime64('2018-01-03 00:00:00', 0, 'UTC'), toDateTime64('2018-01-03 06:00:00', 0, 'UTC'), toDateTime64('2018-01-03 12:00:00', 0, 'UTC'), toDateTime64('2018-01-03 18:00:00', 0, 'UTC'), toDateTime64('2018-01-04 00:00:00', 0, 'UTC'), toDateTime64('2018-01-04 06:00:00', 0, 'UTC'), toDateTime64('2018-01-04 12:00:00', 0, 'UTC'), toDateTime64('2018-01-04 18:00:00', 0, 'UTC'))
     AND ld.fcst_lead IN (0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384)
     AND (toUnixTimestamp64Second(ld.fcst_valid_beg) + 62135596800) % 86400 - (toUnixTimestamp64Second(ld.fcst_valid_beg) + 62135596800) % 3600 IN (0, 21600)
     AND (toUnixTimestamp64Second(ld.fcst_init_beg) + 62135596800) % 86400 - (toUnixTimestamp64Second(ld.fcst_init_beg) + 62135596800) % 3600 IN (43200)
     AND ld.fcst_init_beg BETWEEN toDateTime64('2018-01-01 00:00:00', 0, 'UTC') AND toDateTime64('2018-01-02 00:00:00', 0, 'UTC')
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- normalized, iso-range
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_sal1l2" ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'HGT'
     AND h.fcst_lev = 'P1000'
     AND h.vx_mask = 'G2/NHX'
     AND ld.fcst_valid_beg BETWEEN toDateTime64('2018-01-01 00:00:00', 0, 'UTC') AND toDateTime64('2018-01-04 18:00:00', 0, 'UTC')
     AND (toUnixTimestamp64Second(ld.fcst_valid_beg) - 1514764800) % 21600 = 0
     AND ld.fcst_lead IN (0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384)
     AND (toUnixTimestamp64Second(ld.fcst_valid_beg) + 62135596800) % 86400 - (toUnixTimestamp64Second(ld.fcst_valid_beg) + 62135596800) % 3600 IN (0, 21600)
     AND (toUnixTimestamp64Second(ld.fcst_init_beg) + 62135596800) % 86400 - (toUnixTimestamp64Second(ld.fcst_init_beg) + 62135596800) % 3600 IN (43200)
     AND ld.fcst_init_beg BETWEEN toDateTime64('2018-01-01 00:00:00', 0, 'UTC') AND toDateTime64('2018-01-02 00:00:00', 0, 'UTC')
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- normalized, epoch-range
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a/stat_header" h, "a/line_data_sal1l2" ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'HGT'
     AND h.fcst_lev = 'P1000'
     AND h.vx_mask = 'G2/NHX'
     AND toUnixTimestamp64Second(ld.fcst_valid_beg) BETWEEN 1514764800 AND 1515088800
     AND (toUnixTimestamp64Second(ld.fcst_valid_beg) - 1514764800) % 21600 = 0
     AND ld.fcst_lead IN (0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384)
     AND (toUnixTimestamp64Second(ld.fcst_valid_beg) + 62135596800) % 86400 - (toUnixTimestamp64Second(ld.fcst_valid_beg) + 62135596800) % 3600 IN (0, 21600)
     AND (toUnixTimestamp64Second(ld.fcst_init_beg) + 62135596800) % 86400 - (toUnixTimestamp64Second(ld.fcst_init_beg) + 62135596800) % 3600 IN (43200)
     AND ld.fcst_init_beg BETWEEN toDateTime64('2018-01-01 00:00:00', 0, 'UTC') AND toDateTime64('2018-01-02 00:00:00', 0, 'UTC')
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- document, iso-list
SELECT r.vx_mask, r.fcst_valid_epoch - d_fcst_lead, r.fcst_valid_epoch, d_fcst_lead, r.model, r.fcst_lev, r.fcst_var, d_oabar, d_fabar, d_ooabar, d_foabar, d_ffabar, d_total
  FROM "a/doc_sal1l2" AS r ARRAY JOIN r.data.fcst_lead AS d_fcst_lead, r.data.oabar AS d_oabar, r.data.fabar AS d_fabar, r.data.ooabar AS d_ooabar, r.data.foabar AS d_foabar, r.data.ffabar AS d_ffabar, r.data.total AS d_total
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'HGT'
     AND r.fcst_lev = 'P1000'
     AND r.vx_mask = 'G2/NHX'
     AND r.fcst_valid_beg IN ('2018-01-01T00:00:00Z', '2018-01-01T06:00:00Z', … 12 more, 159d862343079b75 …, '2018-01-04T12:00:00Z', '2018-01-04T18:00:00Z')
     AND d_fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (r.fcst_valid_epoch + 62135596800) % 86400 - (r.fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (r.fcst_valid_epoch - d_fcst_lead + 62135596800) % 86400 - (r.fcst_valid_epoch - d_fcst_lead + 62135596800) % 3600 IN (43200)
     AND r.fcst_valid_epoch - d_fcst_lead BETWEEN 1514764800 AND 1514851200
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d_fcst_lead, r.fcst_lev, d_fcst_lead, r.vx_mask

-- document, iso-range
SELECT r.vx_mask, r.fcst_valid_epoch - d_fcst_lead, r.fcst_valid_epoch, d_fcst_lead, r.model, r.fcst_lev, r.fcst_var, d_oabar, d_fabar, d_ooabar, d_foabar, d_ffabar, d_total
  FROM "a/doc_sal1l2" AS r ARRAY JOIN r.data.fcst_lead AS d_fcst_lead, r.data.oabar AS d_oabar, r.data.fabar AS d_fabar, r.data.ooabar AS d_ooabar, r.data.foabar AS d_foabar, r.data.ffabar AS d_ffabar, r.data.total AS d_total
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'HGT'
     AND r.fcst_lev = 'P1000'
     AND r.vx_mask = 'G2/NHX'
     AND r.fcst_valid_beg BETWEEN '2018-01-01T00:00:00Z' AND '2018-01-04T18:00:00Z'
     AND (r.fcst_valid_epoch - 1514764800) % 21600 = 0
     AND d_fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (r.fcst_valid_epoch + 62135596800) % 86400 - (r.fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (r.fcst_valid_epoch - d_fcst_lead + 62135596800) % 86400 - (r.fcst_valid_epoch - d_fcst_lead + 62135596800) % 3600 IN (43200)
     AND r.fcst_valid_epoch - d_fcst_lead BETWEEN 1514764800 AND 1514851200
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d_fcst_lead, r.fcst_lev, d_fcst_lead, r.vx_mask

-- document, epoch-list
SELECT r.vx_mask, r.fcst_valid_epoch - d_fcst_lead, r.fcst_valid_epoch, d_fcst_lead, r.model, r.fcst_lev, r.fcst_var, d_oabar, d_fabar, d_ooabar, d_foabar, d_ffabar, d_total
  FROM "a/doc_sal1l2" AS r ARRAY JOIN r.data.fcst_lead AS d_fcst_lead, r.data.oabar AS d_oabar, r.data.fabar AS d_fabar, r.data.ooabar AS d_ooabar, r.data.foabar AS d_foabar, r.data.ffabar AS d_ffabar, r.data.total AS d_total
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'HGT'
     AND r.fcst_lev = 'P1000'
     AND r.vx_mask = 'G2/NHX'
     AND r.fcst_valid_epoch IN (1514764800, 1514786400, … 12 more, f8c32e648e87857b …, 1515067200, 1515088800)
     AND d_fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (r.fcst_valid_epoch + 62135596800) % 86400 - (r.fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (r.fcst_valid_epoch - d_fcst_lead + 62135596800) % 86400 - (r.fcst_valid_epoch - d_fcst_lead + 62135596800) % 3600 IN (43200)
     AND r.fcst_valid_epoch - d_fcst_lead BETWEEN 1514764800 AND 1514851200
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d_fcst_lead, r.fcst_lev, d_fcst_lead, r.vx_mask

-- document, epoch-range
SELECT r.vx_mask, r.fcst_valid_epoch - d_fcst_lead, r.fcst_valid_epoch, d_fcst_lead, r.model, r.fcst_lev, r.fcst_var, d_oabar, d_fabar, d_ooabar, d_foabar, d_ffabar, d_total
  FROM "a/doc_sal1l2" AS r ARRAY JOIN r.data.fcst_lead AS d_fcst_lead, r.data.oabar AS d_oabar, r.data.fabar AS d_fabar, r.data.ooabar AS d_ooabar, r.data.foabar AS d_foabar, r.data.ffabar AS d_ffabar, r.data.total AS d_total
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'HGT'
     AND r.fcst_lev = 'P1000'
     AND r.vx_mask = 'G2/NHX'
     AND r.fcst_valid_epoch BETWEEN 1514764800 AND 1515088800
     AND (r.fcst_valid_epoch - 1514764800) % 21600 = 0
     AND d_fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (r.fcst_valid_epoch + 62135596800) % 86400 - (r.fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (r.fcst_valid_epoch - d_fcst_lead + 62135596800) % 86400 - (r.fcst_valid_epoch - d_fcst_lead + 62135596800) % 3600 IN (43200)
     AND r.fcst_valid_epoch - d_fcst_lead BETWEEN 1514764800 AND 1514851200
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d_fcst_lead, r.fcst_lev, d_fcst_lead, r.vx_mask

-- document, keys
SELECT r.vx_mask, r.fcst_valid_epoch - d_fcst_lead, r.fcst_valid_epoch, d_fcst_lead, r.model, r.fcst_lev, r.fcst_var, d_oabar, d_fabar, d_ooabar, d_foabar, d_ffabar, d_total
  FROM "a/doc_sal1l2" AS r ARRAY JOIN r.data.fcst_lead AS d_fcst_lead, r.data.oabar AS d_oabar, r.data.fabar AS d_fabar, r.data.ooabar AS d_ooabar, r.data.foabar AS d_foabar, r.data.ffabar AS d_ffabar, r.data.total AS d_total
   WHERE r.id IN ('DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P1000::1514764800', 'DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P1000::1514786400', … 12 more, 4b3d5e491e42f88b …, 'DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P1000::1515067200', 'DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P1000::1515088800')
     AND d_fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (r.fcst_valid_epoch + 62135596800) % 86400 - (r.fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (r.fcst_valid_epoch - d_fcst_lead + 62135596800) % 86400 - (r.fcst_valid_epoch - d_fcst_lead + 62135596800) % 3600 IN (43200)
     AND r.fcst_valid_epoch - d_fcst_lead BETWEEN 1514764800 AND 1514851200
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d_fcst_lead, r.fcst_lev, d_fcst_lead, r.vx_mask
-- 16 keys

-- wide, sql
SELECT vx_mask, fcst_init_beg, fcst_valid_beg, fcst_lead, model, fcst_lev, fcst_var, oabar, fabar, ooabar, foabar, ffabar, total
  FROM "a/wide_sal1l2"
   WHERE model = 'GFS'
     AND fcst_var = 'HGT'
     AND fcst_lev = 'P1000'
     AND vx_mask = 'G2/NHX'
     AND fcst_valid_beg IN (toDateTime64('2018-01-01 00:00:00', 0, 'UTC'), toDateTime64('2018-01-01 06:00:00', 0, 'UTC'), toDateTime64('2018-01-01 12:00:00', 0, 'UTC'), toDateTime64('2018-01-01 18:00:00', 0, 'UTC'), toDateTime64('2018-01-02 00:00:00', 0, 'UTC'), toDateTime64('2018-01-02 06:00:00', 0, 'UTC'), toDateTime64('2018-01-02 12:00:00', 0, 'UTC'), toDateTime64('2018-01-02 18:00:00', 0, 'UTC'), toDateTime64('2018-01-03 00:00:00', 0, 'UTC'), toDateTime64('2018-01-03 06:00:00', 0, 'UTC'), toDateTime64('2018-01-03 12:00:00', 0, 'UTC'), toDateTime64('2018-01-03 18:00:00', 0, 'UTC'), toDateTime64('2018-01-04 00:00:00', 0, 'UTC'), toDateTime64('2018-01-04 06:00:00', 0, 'UTC'), toDateTime64('2018-01-04 12:00:00', 0, 'UTC'), toDateTime64('2018-01-04 18:00:00', 0, 'UTC'))
     AND fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (fcst_valid_epoch + 62135596800) % 86400 - (fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (fcst_valid_epoch - fcst_lead + 62135596800) % 86400 - (fcst_valid_epoch - fcst_lead + 62135596800) % 3600 IN (43200)
     AND fcst_init_beg BETWEEN toDateTime64('2018-01-01 00:00:00', 0, 'UTC') AND toDateTime64('2018-01-02 00:00:00', 0, 'UTC')
   ORDER BY fcst_valid_beg, fcst_init_beg, fcst_lev, fcst_lead, vx_mask

-- wide, iso-list
SELECT vx_mask, fcst_init_beg, fcst_valid_beg, fcst_lead, model, fcst_lev, fcst_var, oabar, fabar, ooabar, foabar, ffabar, total
  FROM "a/wide_sal1l2"
   WHERE model = 'GFS'
     AND fcst_var = 'HGT'
     AND fcst_lev = 'P1000'
     AND vx_mask = 'G2/NHX'
     AND fcst_valid_beg IN (toDateTime64('2018-01-01 00:00:00', 0, 'UTC'), toDateTime64('2018-01-01 06:00:00', 0, 'UTC'), toDateTime64('2018-01-01 12:00:00', 0, 'UTC'), toDateTime64('2018-01-01 18:00:00', 0, 'UTC'), toDateTime64('2018-01-02 00:00:00', 0, 'UTC'), toDateTime64('2018-01-02 06:00:00', 0, 'UTC'), toDateTime64('2018-01-02 12:00:00', 0, 'UTC'), toDateTime64('2018-01-02 18:00:00', 0, 'UTC'), toDateTime64('2018-01-03 00:00:00', 0, 'UTC'), toDateTime64('2018-01-03 06:00:00', 0, 'UTC'), toDateTime64('2018-01-03 12:00:00', 0, 'UTC'), toDateTime64('2018-01-03 18:00:00', 0, 'UTC'), toDateTime64('2018-01-04 00:00:00', 0, 'UTC'), toDateTime64('2018-01-04 06:00:00', 0, 'UTC'), toDateTime64('2018-01-04 12:00:00', 0, 'UTC'), toDateTime64('2018-01-04 18:00:00', 0, 'UTC'))
     AND fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (fcst_valid_epoch + 62135596800) % 86400 - (fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (fcst_valid_epoch - fcst_lead + 62135596800) % 86400 - (fcst_valid_epoch - fcst_lead + 62135596800) % 3600 IN (43200)
     AND fcst_init_beg BETWEEN toDateTime64('2018-01-01 00:00:00', 0, 'UTC') AND toDateTime64('2018-01-02 00:00:00', 0, 'UTC')
   ORDER BY fcst_valid_beg, fcst_init_beg, fcst_lev, fcst_lead, vx_mask

-- wide, iso-range
SELECT vx_mask, fcst_init_beg, fcst_valid_beg, fcst_lead, model, fcst_lev, fcst_var, oabar, fabar, ooabar, foabar, ffabar, total
  FROM "a/wide_sal1l2"
   WHERE model = 'GFS'
     AND fcst_var = 'HGT'
     AND fcst_lev = 'P1000'
     AND vx_mask = 'G2/NHX'
     AND fcst_valid_beg BETWEEN toDateTime64('2018-01-01 00:00:00', 0, 'UTC') AND toDateTime64('2018-01-04 18:00:00', 0, 'UTC')
     AND (fcst_valid_epoch - 1514764800) % 21600 = 0
     AND fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (fcst_valid_epoch + 62135596800) % 86400 - (fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (fcst_valid_epoch - fcst_lead + 62135596800) % 86400 - (fcst_valid_epoch - fcst_lead + 62135596800) % 3600 IN (43200)
     AND fcst_init_beg BETWEEN toDateTime64('2018-01-01 00:00:00', 0, 'UTC') AND toDateTime64('2018-01-02 00:00:00', 0, 'UTC')
   ORDER BY fcst_valid_beg, fcst_init_beg, fcst_lev, fcst_lead, vx_mask

-- wide, epoch-list
SELECT vx_mask, fcst_init_beg, fcst_valid_beg, fcst_lead, model, fcst_lev, fcst_var, oabar, fabar, ooabar, foabar, ffabar, total
  FROM "a/wide_sal1l2"
   WHERE model = 'GFS'
     AND fcst_var = 'HGT'
     AND fcst_lev = 'P1000'
     AND vx_mask = 'G2/NHX'
     AND fcst_valid_epoch IN (1514764800, 1514786400, … 12 more, f8c32e648e87857b …, 1515067200, 1515088800)
     AND fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (fcst_valid_epoch + 62135596800) % 86400 - (fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (fcst_valid_epoch - fcst_lead + 62135596800) % 86400 - (fcst_valid_epoch - fcst_lead + 62135596800) % 3600 IN (43200)
     AND fcst_init_beg BETWEEN toDateTime64('2018-01-01 00:00:00', 0, 'UTC') AND toDateTime64('2018-01-02 00:00:00', 0, 'UTC')
   ORDER BY fcst_valid_beg, fcst_init_beg, fcst_lev, fcst_lead, vx_mask

-- wide, epoch-range
SELECT vx_mask, fcst_init_beg, fcst_valid_beg, fcst_lead, model, fcst_lev, fcst_var, oabar, fabar, ooabar, foabar, ffabar, total
  FROM "a/wide_sal1l2"
   WHERE model = 'GFS'
     AND fcst_var = 'HGT'
     AND fcst_lev = 'P1000'
     AND vx_mask = 'G2/NHX'
     AND fcst_valid_epoch BETWEEN 1514764800 AND 1515088800
     AND (fcst_valid_epoch - 1514764800) % 21600 = 0
     AND fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (fcst_valid_epoch + 62135596800) % 86400 - (fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (fcst_valid_epoch - fcst_lead + 62135596800) % 86400 - (fcst_valid_epoch - fcst_lead + 62135596800) % 3600 IN (43200)
     AND fcst_init_beg BETWEEN toDateTime64('2018-01-01 00:00:00', 0, 'UTC') AND toDateTime64('2018-01-02 00:00:00', 0, 'UTC')
   ORDER BY fcst_valid_beg, fcst_init_beg, fcst_lev, fcst_lead, vx_mask

