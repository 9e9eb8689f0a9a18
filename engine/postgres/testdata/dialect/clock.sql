-- normalized, metviewer-sql
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a".stat_header h, "a".line_data_sal1l2 ld
   WHERE convert_to(CAST(h.model AS text), 'UTF8') = 'GFS'::bytea
     AND convert_to(CAST(h.fcst_var AS text), 'UTF8') = 'HGT'::bytea
     AND convert_to(CAST(h.fcst_lev AS text), 'UTF8') = 'P1000'::bytea
     AND convert_to(CAST(h.vx_mask AS text), 'UTF8') = 'G2/NHX'::bytea
     AND convert_to(CAST(ld.fcst_valid_beg AS text), 'UTF8') IN ('2018-01-01 00:00:00'::bytea, '2018-01-01 06:00:00'::bytea, … 12 more, 5f4c1c0419379b66 …, '2018-01-04 12:00:00'::bytea, '2018-01-04 18:00:00'::bytea)
     AND convert_to(CAST(ld.fcst_lead AS text), 'UTF8') IN ('0'::bytea, '6'::bytea, … 49 more, b1e85e36c5fc0ff3 …, '372'::bytea, '384'::bytea)
     AND (extract(epoch FROM ld.fcst_valid_beg)::bigint + 62135596800) % 86400 - (extract(epoch FROM ld.fcst_valid_beg)::bigint + 62135596800) % 3600 IN (0, 21600)
     AND (extract(epoch FROM ld.fcst_init_beg)::bigint + 62135596800) % 86400 - (extract(epoch FROM ld.fcst_init_beg)::bigint + 62135596800) % 3600 IN (43200)
     AND convert_to(CAST(ld.fcst_init_beg AS text), 'UTF8') BETWEEN '2018-01-01 00:00:00'::bytea AND '2018-01-02 00:00:00'::bytea
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- normalized, sql
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a".stat_header h, "a".line_data_sal1l2 ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'HGT'
     AND h.fcst_lev = 'P1000'
     AND h.vx_mask = 'G2/NHX'
     AND ld.fcst_valid_beg IN (TIMESTAMP '2018-01-01 00:00:00', TIMESTAMP '2018-01-01 06:00:00', … 12 more, fb1fe835537c1932 …, TIMESTAMP '2018-01-04 12:00:00', TIMESTAMP '2018-01-04 18:00:00')
     AND ld.fcst_lead IN (0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384)
     AND (extract(epoch FROM ld.fcst_valid_beg)::bigint + 62135596800) % 86400 - (extract(epoch FROM ld.fcst_valid_beg)::bigint + 62135596800) % 3600 IN (0, 21600)
     AND (extract(epoch FROM ld.fcst_init_beg)::bigint + 62135596800) % 86400 - (extract(epoch FROM ld.fcst_init_beg)::bigint + 62135596800) % 3600 IN (43200)
     AND ld.fcst_init_beg BETWEEN TIMESTAMP '2018-01-01 00:00:00' AND TIMESTAMP '2018-01-02 00:00:00'
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- normalized, iso-range
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a".stat_header h, "a".line_data_sal1l2 ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'HGT'
     AND h.fcst_lev = 'P1000'
     AND h.vx_mask = 'G2/NHX'
     AND ld.fcst_valid_beg BETWEEN TIMESTAMP '2018-01-01 00:00:00' AND TIMESTAMP '2018-01-04 18:00:00'
     AND (extract(epoch FROM ld.fcst_valid_beg)::bigint - 1514764800) % 21600 = 0
     AND ld.fcst_lead IN (0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384)
     AND (extract(epoch FROM ld.fcst_valid_beg)::bigint + 62135596800) % 86400 - (extract(epoch FROM ld.fcst_valid_beg)::bigint + 62135596800) % 3600 IN (0, 21600)
     AND (extract(epoch FROM ld.fcst_init_beg)::bigint + 62135596800) % 86400 - (extract(epoch FROM ld.fcst_init_beg)::bigint + 62135596800) % 3600 IN (43200)
     AND ld.fcst_init_beg BETWEEN TIMESTAMP '2018-01-01 00:00:00' AND TIMESTAMP '2018-01-02 00:00:00'
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- normalized, epoch-range
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a".stat_header h, "a".line_data_sal1l2 ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'HGT'
     AND h.fcst_lev = 'P1000'
     AND h.vx_mask = 'G2/NHX'
     AND extract(epoch FROM ld.fcst_valid_beg)::bigint BETWEEN 1514764800 AND 1515088800
     AND (extract(epoch FROM ld.fcst_valid_beg)::bigint - 1514764800) % 21600 = 0
     AND ld.fcst_lead IN (0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384)
     AND (extract(epoch FROM ld.fcst_valid_beg)::bigint + 62135596800) % 86400 - (extract(epoch FROM ld.fcst_valid_beg)::bigint + 62135596800) % 3600 IN (0, 21600)
     AND (extract(epoch FROM ld.fcst_init_beg)::bigint + 62135596800) % 86400 - (extract(epoch FROM ld.fcst_init_beg)::bigint + 62135596800) % 3600 IN (43200)
     AND ld.fcst_init_beg BETWEEN TIMESTAMP '2018-01-01 00:00:00' AND TIMESTAMP '2018-01-02 00:00:00'
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- document, iso-list
SELECT r.vx_mask, r.fcst_valid_epoch - d."fcst_lead", r.fcst_valid_epoch, d."fcst_lead", r.model, r.fcst_lev, r.fcst_var, d."oabar", d."fabar", d."ooabar", d."foabar", d."ffabar", d."total"
  FROM "a".doc_sal1l2 AS r, jsonb_to_recordset(r.data) AS d(fcst_lead integer, fcst_valid_end bigint, … 8 more, 4bdccfb492016075 …, "ooabar" double precision, "mae" double precision)
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'HGT'
     AND r.fcst_lev = 'P1000'
     AND r.vx_mask = 'G2/NHX'
     AND r.fcst_valid_beg IN ('2018-01-01T00:00:00Z', '2018-01-01T06:00:00Z', … 12 more, 159d862343079b75 …, '2018-01-04T12:00:00Z', '2018-01-04T18:00:00Z')
     AND d."fcst_lead" IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (r.fcst_valid_epoch + 62135596800) % 86400 - (r.fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (r.fcst_valid_epoch - d."fcst_lead" + 62135596800) % 86400 - (r.fcst_valid_epoch - d."fcst_lead" + 62135596800) % 3600 IN (43200)
     AND r.fcst_valid_epoch - d."fcst_lead" BETWEEN 1514764800 AND 1514851200
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d."fcst_lead", r.fcst_lev, d."fcst_lead", r.vx_mask

-- document, iso-range
SELECT r.vx_mask, r.fcst_valid_epoch - d."fcst_lead", r.fcst_valid_epoch, d."fcst_lead", r.model, r.fcst_lev, r.fcst_var, d."oabar", d."fabar", d."ooabar", d."foabar", d."ffabar", d."total"
  FROM "a".doc_sal1l2 AS r, jsonb_to_recordset(r.data) AS d(fcst_lead integer, fcst_valid_end bigint, … 8 more, 4bdccfb492016075 …, "ooabar" double precision, "mae" double precision)
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'HGT'
     AND r.fcst_lev = 'P1000'
     AND r.vx_mask = 'G2/NHX'
     AND r.fcst_valid_beg BETWEEN '2018-01-01T00:00:00Z' AND '2018-01-04T18:00:00Z'
     AND (r.fcst_valid_epoch - 1514764800) % 21600 = 0
     AND d."fcst_lead" IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (r.fcst_valid_epoch + 62135596800) % 86400 - (r.fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (r.fcst_valid_epoch - d."fcst_lead" + 62135596800) % 86400 - (r.fcst_valid_epoch - d."fcst_lead" + 62135596800) % 3600 IN (43200)
     AND r.fcst_valid_epoch - d."fcst_lead" BETWEEN 1514764800 AND 1514851200
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d."fcst_lead", r.fcst_lev, d."fcst_lead", r.vx_mask

-- document, epoch-list
SELECT r.vx_mask, r.fcst_valid_epoch - d."fcst_lead", r.fcst_valid_epoch, d."fcst_lead", r.model, r.fcst_lev, r.fcst_var, d."oabar", d."fabar", d."ooabar", d."foabar", d."ffabar", d."total"
  FROM "a".doc_sal1l2 AS r, jsonb_to_recordset(r.data) AS d(fcst_lead integer, fcst_valid_end bigint, … 8 more, 4bdccfb492016075 …, "ooabar" double precision, "mae" double precision)
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'HGT'
     AND r.fcst_lev = 'P1000'
     AND r.vx_mask = 'G2/NHX'
     AND r.fcst_valid_epoch IN (1514764800, 1514786400, … 12 more, f8c32e648e87857b …, 1515067200, 1515088800)
     AND d."fcst_lead" IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (r.fcst_valid_epoch + 62135596800) % 86400 - (r.fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (r.fcst_valid_epoch - d."fcst_lead" + 62135596800) % 86400 - (r.fcst_valid_epoch - d."fcst_lead" + 62135596800) % 3600 IN (43200)
     AND r.fcst_valid_epoch - d."fcst_lead" BETWEEN 1514764800 AND 1514851200
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d."fcst_lead", r.fcst_lev, d."fcst_lead", r.vx_mask

-- document, epoch-range
SELECT r.vx_mask, r.fcst_valid_epoch - d."fcst_lead", r.fcst_valid_epoch, d."fcst_lead", r.model, r.fcst_lev, r.fcst_var, d."oabar", d."fabar", d."ooabar", d."foabar", d."ffabar", d."total"
  FROM "a".doc_sal1l2 AS r, jsonb_to_recordset(r.data) AS d(fcst_lead integer, fcst_valid_end bigint, … 8 more, 4bdccfb492016075 …, "ooabar" double precision, "mae" double precision)
   WHERE r.model = 'GFS'
     AND r.fcst_var = 'HGT'
     AND r.fcst_lev = 'P1000'
     AND r.vx_mask = 'G2/NHX'
     AND r.fcst_valid_epoch BETWEEN 1514764800 AND 1515088800
     AND (r.fcst_valid_epoch - 1514764800) % 21600 = 0
     AND d."fcst_lead" IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (r.fcst_valid_epoch + 62135596800) % 86400 - (r.fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (r.fcst_valid_epoch - d."fcst_lead" + 62135596800) % 86400 - (r.fcst_valid_epoch - d."fcst_lead" + 62135596800) % 3600 IN (43200)
     AND r.fcst_valid_epoch - d."fcst_lead" BETWEEN 1514764800 AND 1514851200
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d."fcst_lead", r.fcst_lev, d."fcst_lead", r.vx_mask

-- document, keys
SELECT r.vx_mask, r.fcst_valid_epoch - d."fcst_lead", r.fcst_valid_epoch, d."fcst_lead", r.model, r.fcst_lev, r.fcst_var, d."oabar", d."fabar", d."ooabar", d."foabar", d."ffabar", d."total"
  FROM "a".doc_sal1l2 AS r, jsonb_to_recordset(r.data) AS d(fcst_lead integer, fcst_valid_end bigint, … 8 more, 4bdccfb492016075 …, "ooabar" double precision, "mae" double precision)
   WHERE r.id = ANY($1)
     AND d."fcst_lead" IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (r.fcst_valid_epoch + 62135596800) % 86400 - (r.fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (r.fcst_valid_epoch - d."fcst_lead" + 62135596800) % 86400 - (r.fcst_valid_epoch - d."fcst_lead" + 62135596800) % 3600 IN (43200)
     AND r.fcst_valid_epoch - d."fcst_lead" BETWEEN 1514764800 AND 1514851200
   ORDER BY r.fcst_valid_epoch, r.fcst_valid_epoch - d."fcst_lead", r.fcst_lev, d."fcst_lead", r.vx_mask
-- ?1 = DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P1000::1514764800,DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P1000::1514786400,… 12 more, 0b60c0632d0a2cc6 …,DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P1000::1515067200,DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P1000::1515088800
-- 16 keys

-- wide, sql
SELECT vx_mask, fcst_init_beg, fcst_valid_beg, fcst_lead, model, fcst_lev, fcst_var, oabar, fabar, ooabar, foabar, ffabar, total
  FROM "a".wide_sal1l2
   WHERE model = 'GFS'
     AND fcst_var = 'HGT'
     AND fcst_lev = 'P1000'
     AND vx_mask = 'G2/NHX'
     AND fcst_valid_beg IN (TIMESTAMP '2018-01-01 00:00:00', TIMESTAMP '2018-01-01 06:00:00', … 12 more, fb1fe835537c1932 …, TIMESTAMP '2018-01-04 12:00:00', TIMESTAMP '2018-01-04 18:00:00')
     AND fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (fcst_valid_epoch + 62135596800) % 86400 - (fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (fcst_valid_epoch - fcst_lead + 62135596800) % 86400 - (fcst_valid_epoch - fcst_lead + 62135596800) % 3600 IN (43200)
     AND fcst_init_beg BETWEEN TIMESTAMP '2018-01-01 00:00:00' AND TIMESTAMP '2018-01-02 00:00:00'
   ORDER BY fcst_valid_beg, fcst_init_beg, fcst_lev, fcst_lead, vx_mask

-- wide, iso-list
SELECT vx_mask, fcst_init_beg, fcst_valid_beg, fcst_lead, model, fcst_lev, fcst_var, oabar, fabar, ooabar, foabar, ffabar, total
  FROM "a".wide_sal1l2
   WHERE model = 'GFS'
     AND fcst_var = 'HGT'
     AND fcst_lev = 'P1000'
     AND vx_mask = 'G2/NHX'
     AND fcst_valid_beg IN (TIMESTAMP '2018-01-01 00:00:00', TIMESTAMP '2018-01-01 06:00:00', … 12 more, fb1fe835537c1932 …, TIMESTAMP '2018-01-04 12:00:00', TIMESTAMP '2018-01-04 18:00:00')
     AND fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (fcst_valid_epoch + 62135596800) % 86400 - (fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (fcst_valid_epoch - fcst_lead + 62135596800) % 86400 - (fcst_valid_epoch - fcst_lead + 62135596800) % 3600 IN (43200)
     AND fcst_init_beg BETWEEN TIMESTAMP '2018-01-01 00:00:00' AND TIMESTAMP '2018-01-02 00:00:00'
   ORDER BY fcst_valid_beg, fcst_init_beg, fcst_lev, fcst_lead, vx_mask

-- wide, iso-range
SELECT vx_mask, fcst_init_beg, fcst_valid_beg, fcst_lead, model, fcst_lev, fcst_var, oabar, fabar, ooabar, foabar, ffabar, total
  FROM "a".wide_sal1l2
   WHERE model = 'GFS'
     AND fcst_var = 'HGT'
     AND fcst_lev = 'P1000'
     AND vx_mask = 'G2/NHX'
     AND fcst_valid_beg BETWEEN TIMESTAMP '2018-01-01 00:00:00' AND TIMESTAMP '2018-01-04 18:00:00'
     AND (fcst_valid_epoch - 1514764800) % 21600 = 0
     AND fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (fcst_valid_epoch + 62135596800) % 86400 - (fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (fcst_valid_epoch - fcst_lead + 62135596800) % 86400 - (fcst_valid_epoch - fcst_lead + 62135596800) % 3600 IN (43200)
     AND fcst_init_beg BETWEEN TIMESTAMP '2018-01-01 00:00:00' AND TIMESTAMP '2018-01-02 00:00:00'
   ORDER BY fcst_valid_beg, fcst_init_beg, fcst_lev, fcst_lead, vx_mask

-- wide, epoch-list
SELECT vx_mask, fcst_init_beg, fcst_valid_beg, fcst_lead, model, fcst_lev, fcst_var, oabar, fabar, ooabar, foabar, ffabar, total
  FROM "a".wide_sal1l2
   WHERE model = 'GFS'
     AND fcst_var = 'HGT'
     AND fcst_lev = 'P1000'
     AND vx_mask = 'G2/NHX'
     AND fcst_valid_epoch IN (1514764800, 1514786400, … 12 more, f8c32e648e87857b …, 1515067200, 1515088800)
     AND fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (fcst_valid_epoch + 62135596800) % 86400 - (fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (fcst_valid_epoch - fcst_lead + 62135596800) % 86400 - (fcst_valid_epoch - fcst_lead + 62135596800) % 3600 IN (43200)
     AND fcst_init_beg BETWEEN TIMESTAMP '2018-01-01 00:00:00' AND TIMESTAMP '2018-01-02 00:00:00'
   ORDER BY fcst_valid_beg, fcst_init_beg, fcst_lev, fcst_lead, vx_mask

-- wide, epoch-range
SELECT vx_mask, fcst_init_beg, fcst_valid_beg, fcst_lead, model, fcst_lev, fcst_var, oabar, fabar, ooabar, foabar, ffabar, total
  FROM "a".wide_sal1l2
   WHERE model = 'GFS'
     AND fcst_var = 'HGT'
     AND fcst_lev = 'P1000'
     AND vx_mask = 'G2/NHX'
     AND fcst_valid_epoch BETWEEN 1514764800 AND 1515088800
     AND (fcst_valid_epoch - 1514764800) % 21600 = 0
     AND fcst_lead IN (0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400)
     AND (fcst_valid_epoch + 62135596800) % 86400 - (fcst_valid_epoch + 62135596800) % 3600 IN (0, 21600)
     AND (fcst_valid_epoch - fcst_lead + 62135596800) % 86400 - (fcst_valid_epoch - fcst_lead + 62135596800) % 3600 IN (43200)
     AND fcst_init_beg BETWEEN TIMESTAMP '2018-01-01 00:00:00' AND TIMESTAMP '2018-01-02 00:00:00'
   ORDER BY fcst_valid_beg, fcst_init_beg, fcst_lev, fcst_lead, vx_mask

