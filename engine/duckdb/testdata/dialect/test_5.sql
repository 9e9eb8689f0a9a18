-- normalized, metviewer-sql
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a".stat_header h, "a".line_data_sal1l2 ld
   WHERE CAST(h.model AS VARCHAR) = 'GFS'
     AND CAST(h.fcst_var AS VARCHAR) = 'HGT'
     AND CAST(h.fcst_lev AS VARCHAR) IN ('P10', 'P20', … 12 more, 9e99959d467ca34a …, 'P925', 'P1000')
     AND CAST(h.vx_mask AS VARCHAR) IN ('G2/NHX', 'G2/SHX')
     AND CAST(ld.fcst_valid_beg AS VARCHAR) IN ('2019-01-01 00:00:00', '2019-01-01 06:00:00', … 269 more, 0725f2eb5fd11f17 …, '2019-03-09 18:00:00', '2019-03-10 00:00:00')
     AND CAST(ld.fcst_lead AS VARCHAR) IN ('144')
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- normalized, sql
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a".stat_header h, "a".line_data_sal1l2 ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'HGT'
     AND h.fcst_lev IN ('P10', 'P20', … 12 more, 9e99959d467ca34a …, 'P925', 'P1000')
     AND h.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND ld.fcst_valid_beg IN (TIMESTAMP '2019-01-01 00:00:00', TIMESTAMP '2019-01-01 06:00:00', … 269 more, 60ae8ffd4fbda14b …, TIMESTAMP '2019-03-09 18:00:00', TIMESTAMP '2019-03-10 00:00:00')
     AND ld.fcst_lead IN (144)
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- normalized, iso-range
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a".stat_header h, "a".line_data_sal1l2 ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'HGT'
     AND h.fcst_lev IN ('P10', 'P20', … 12 more, 9e99959d467ca34a …, 'P925', 'P1000')
     AND h.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND ld.fcst_valid_beg BETWEEN TIMESTAMP '2019-01-01 00:00:00' AND TIMESTAMP '2019-03-10 00:00:00'
     AND (epoch(ld.fcst_valid_beg)::BIGINT - 1546300800) % 21600 = 0
     AND ld.fcst_lead IN (144)
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- normalized, epoch-range
SELECT h.vx_mask, ld.fcst_init_beg, ld.fcst_valid_beg, ld.fcst_lead, h.model, h.fcst_lev, h.fcst_var, ld.oabar, ld.fabar, ld.ooabar, ld.foabar, ld.ffabar, ld.total
  FROM "a".stat_header h, "a".line_data_sal1l2 ld
   WHERE h.model = 'GFS'
     AND h.fcst_var = 'HGT'
     AND h.fcst_lev IN ('P10', 'P20', … 12 more, 9e99959d467ca34a …, 'P925', 'P1000')
     AND h.vx_mask IN ('G2/NHX', 'G2/SHX')
     AND epoch(ld.fcst_valid_beg)::BIGINT BETWEEN 1546300800 AND 1552176000
     AND (epoch(ld.fcst_valid_beg)::BIGINT - 1546300800) % 21600 = 0
     AND ld.fcst_lead IN (144)
     AND ld.stat_header_id = h.stat_header_id
   ORDER BY ld.fcst_valid_beg, ld.fcst_init_beg, h.fcst_lev, ld.fcst_lead, h.vx_mask

-- document, iso-list
SELECT vx_mask, fcst_valid_epoch - d.fcst_lead, fcst_valid_epoch, d.fcst_lead, model, fcst_lev, fcst_var, d.oabar, d.fabar, d.ooabar, d.foabar, d.ffabar, d.total
  FROM (SELECT *, unnest(data) AS d FROM "a".doc_sal1l2
      WHERE model = 'GFS'
     AND fcst_var = 'HGT'
     AND fcst_lev IN ('P10', 'P20', … 12 more, 9e99959d467ca34a …, 'P925', 'P1000')
     AND vx_mask IN ('G2/NHX', 'G2/SHX')
     AND fcst_valid_beg IN ('2019-01-01T00:00:00Z', '2019-01-01T06:00:00Z', … 269 more, 3c1d42f9a4c824c1 …, '2019-03-09T18:00:00Z', '2019-03-10T00:00:00Z')) AS r
   WHERE d.fcst_lead IN (518400)
   ORDER BY fcst_valid_epoch, fcst_valid_epoch - d.fcst_lead, fcst_lev, d.fcst_lead, vx_mask

-- document, iso-range
SELECT vx_mask, fcst_valid_epoch - d.fcst_lead, fcst_valid_epoch, d.fcst_lead, model, fcst_lev, fcst_var, d.oabar, d.fabar, d.ooabar, d.foabar, d.ffabar, d.total
  FROM (SELECT *, unnest(data) AS d FROM "a".doc_sal1l2
      WHERE model = 'GFS'
     AND fcst_var = 'HGT'
     AND fcst_lev IN ('P10', 'P20', … 12 more, 9e99959d467ca34a …, 'P925', 'P1000')
     AND vx_mask IN ('G2/NHX', 'G2/SHX')
     AND fcst_valid_beg BETWEEN '2019-01-01T00:00:00Z' AND '2019-03-10T00:00:00Z'
     AND (fcst_valid_epoch - 1546300800) % 21600 = 0) AS r
   WHERE d.fcst_lead IN (518400)
   ORDER BY fcst_valid_epoch, fcst_valid_epoch - d.fcst_lead, fcst_lev, d.fcst_lead, vx_mask

-- document, epoch-list
SELECT vx_mask, fcst_valid_epoch - d.fcst_lead, fcst_valid_epoch, d.fcst_lead, model, fcst_lev, fcst_var, d.oabar, d.fabar, d.ooabar, d.foabar, d.ffabar, d.total
  FROM (SELECT *, unnest(data) AS d FROM "a".doc_sal1l2
      WHERE model = 'GFS'
     AND fcst_var = 'HGT'
     AND fcst_lev IN ('P10', 'P20', … 12 more, 9e99959d467ca34a …, 'P925', 'P1000')
     AND vx_mask IN ('G2/NHX', 'G2/SHX')
     AND fcst_valid_epoch IN (1546300800, 1546322400, … 269 more, 83b411c81c40c241 …, 1552154400, 1552176000)) AS r
   WHERE d.fcst_lead IN (518400)
   ORDER BY fcst_valid_epoch, fcst_valid_epoch - d.fcst_lead, fcst_lev, d.fcst_lead, vx_mask

-- document, epoch-range
SELECT vx_mask, fcst_valid_epoch - d.fcst_lead, fcst_valid_epoch, d.fcst_lead, model, fcst_lev, fcst_var, d.oabar, d.fabar, d.ooabar, d.foabar, d.ffabar, d.total
  FROM (SELECT *, unnest(data) AS d FROM "a".doc_sal1l2
      WHERE model = 'GFS'
     AND fcst_var = 'HGT'
     AND fcst_lev IN ('P10', 'P20', … 12 more, 9e99959d467ca34a …, 'P925', 'P1000')
     AND vx_mask IN ('G2/NHX', 'G2/SHX')
     AND fcst_valid_epoch BETWEEN 1546300800 AND 1552176000
     AND (fcst_valid_epoch - 1546300800) % 21600 = 0) AS r
   WHERE d.fcst_lead IN (518400)
   ORDER BY fcst_valid_epoch, fcst_valid_epoch - d.fcst_lead, fcst_lev, d.fcst_lead, vx_mask

-- document, keys
SELECT vx_mask, fcst_valid_epoch - d.fcst_lead, fcst_valid_epoch, d.fcst_lead, model, fcst_lev, fcst_var, d.oabar, d.fabar, d.ooabar, d.foabar, d.ffabar, d.total
  FROM (SELECT *, unnest(data) AS d FROM "a".doc_sal1l2
      WHERE id IN (SELECT unnest($1::VARCHAR[]))) AS r
   WHERE d.fcst_lead IN (518400)
   ORDER BY fcst_valid_epoch, fcst_valid_epoch - d.fcst_lead, fcst_lev, d.fcst_lead, vx_mask
-- ?1 = DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P10::1546300800,DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P10::1546322400,… 8732 more, b875d943ce3f086b …,DD::V01::SAL1L2::a::GFS::G2/SHX::HGT::GFS::P1000::1552154400,DD::V01::SAL1L2::a::GFS::G2/SHX::HGT::GFS::P1000::1552176000
-- 8736 keys

-- wide, sql
SELECT vx_mask, fcst_init_beg, fcst_valid_beg, fcst_lead, model, fcst_lev, fcst_var, oabar, fabar, ooabar, foabar, ffabar, total
  FROM "a".wide_sal1l2
   WHERE model = 'GFS'
     AND fcst_var = 'HGT'
     AND fcst_lev IN ('P10', 'P20', … 12 more, 9e99959d467ca34a …, 'P925', 'P1000')
     AND vx_mask IN ('G2/NHX', 'G2/SHX')
     AND fcst_valid_beg IN (TIMESTAMP '2019-01-01 00:00:00', TIMESTAMP '2019-01-01 06:00:00', … 269 more, 60ae8ffd4fbda14b …, TIMESTAMP '2019-03-09 18:00:00', TIMESTAMP '2019-03-10 00:00:00')
     AND fcst_lead IN (518400)
   ORDER BY fcst_valid_beg, fcst_init_beg, fcst_lev, fcst_lead, vx_mask

-- wide, iso-list
SELECT vx_mask, fcst_init_beg, fcst_valid_beg, fcst_lead, model, fcst_lev, fcst_var, oabar, fabar, ooabar, foabar, ffabar, total
  FROM "a".wide_sal1l2
   WHERE model = 'GFS'
     AND fcst_var = 'HGT'
     AND fcst_lev IN ('P10', 'P20', … 12 more, 9e99959d467ca34a …, 'P925', 'P1000')
     AND vx_mask IN ('G2/NHX', 'G2/SHX')
     AND fcst_valid_beg IN (TIMESTAMP '2019-01-01 00:00:00', TIMESTAMP '2019-01-01 06:00:00', … 269 more, 60ae8ffd4fbda14b …, TIMESTAMP '2019-03-09 18:00:00', TIMESTAMP '2019-03-10 00:00:00')
     AND fcst_lead IN (518400)
   ORDER BY fcst_valid_beg, fcst_init_beg, fcst_lev, fcst_lead, vx_mask

-- wide, iso-range
SELECT vx_mask, fcst_init_beg, fcst_valid_beg, fcst_lead, model, fcst_lev, fcst_var, oabar, fabar, ooabar, foabar, ffabar, total
  FROM "a".wide_sal1l2
   WHERE model = 'GFS'
     AND fcst_var = 'HGT'
     AND fcst_lev IN ('P10', 'P20', … 12 more, 9e99959d467ca34a …, 'P925', 'P1000')
     AND vx_mask IN ('G2/NHX', 'G2/SHX')
     AND fcst_valid_beg BETWEEN TIMESTAMP '2019-01-01 00:00:00' AND TIMESTAMP '2019-03-10 00:00:00'
     AND (fcst_valid_epoch - 1546300800) % 21600 = 0
     AND fcst_lead IN (518400)
   ORDER BY fcst_valid_beg, fcst_init_beg, fcst_lev, fcst_lead, vx_mask

-- wide, epoch-list
SELECT vx_mask, fcst_init_beg, fcst_valid_beg, fcst_lead, model, fcst_lev, fcst_var, oabar, fabar, ooabar, foabar, ffabar, total
  FROM "a".wide_sal1l2
   WHERE model = 'GFS'
     AND fcst_var = 'HGT'
     AND fcst_lev IN ('P10', 'P20', … 12 more, 9e99959d467ca34a …, 'P925', 'P1000')
     AND vx_mask IN ('G2/NHX', 'G2/SHX')
     AND fcst_valid_epoch IN (1546300800, 1546322400, … 269 more, 83b411c81c40c241 …, 1552154400, 1552176000)
     AND fcst_lead IN (518400)
   ORDER BY fcst_valid_beg, fcst_init_beg, fcst_lev, fcst_lead, vx_mask

-- wide, epoch-range
SELECT vx_mask, fcst_init_beg, fcst_valid_beg, fcst_lead, model, fcst_lev, fcst_var, oabar, fabar, ooabar, foabar, ffabar, total
  FROM "a".wide_sal1l2
   WHERE model = 'GFS'
     AND fcst_var = 'HGT'
     AND fcst_lev IN ('P10', 'P20', … 12 more, 9e99959d467ca34a …, 'P925', 'P1000')
     AND vx_mask IN ('G2/NHX', 'G2/SHX')
     AND fcst_valid_epoch BETWEEN 1546300800 AND 1552176000
     AND (fcst_valid_epoch - 1546300800) % 21600 = 0
     AND fcst_lead IN (518400)
   ORDER BY fcst_valid_beg, fcst_init_beg, fcst_lev, fcst_lead, vx_mask

