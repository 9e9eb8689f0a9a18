-- normalized, sql
SELECT VALUE [h.`vx_mask`, ld.`fcst_init_beg`, ld.`fcst_valid_beg`, ld.`fcst_lead`, h.`model`, h.`fcst_lev`, h.`fcst_var`, ld.`oabar`, ld.`fabar`, ld.`ooabar`, ld.`foabar`, ld.`ffabar`, ld.`total`]
  FROM (SELECT VALUE x FROM `barograph`.`stat_header` AS x WHERE x.subset = "a") h, (SELECT VALUE x FROM `barograph`.`line_data` AS x WHERE x.line_type = "SAL1L2") ld
   WHERE h.`model` = "GFS"
     AND h.`fcst_var` = "HGT"
     AND h.`fcst_lev` = "P1000"
     AND h.`vx_mask` = "G2/NHX"
     AND ld.fcst_valid_beg IN [1514764800, 1514786400, … 12 more, f8c32e648e87857b …, 1515067200, 1515088800]
     AND ld.`fcst_lead` IN [0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384]
     AND (ld.fcst_valid_beg + 62135596800) % 86400 - (ld.fcst_valid_beg + 62135596800) % 3600 IN [0, 21600]
     AND (ld.fcst_init_beg + 62135596800) % 86400 - (ld.fcst_init_beg + 62135596800) % 3600 IN [43200]
     AND ld.fcst_init_beg BETWEEN 1514764800 AND 1514851200
     AND h.id /*+ indexnl */ = ld.stat_header_id
   ORDER BY ld.`fcst_valid_beg`, ld.`fcst_init_beg`, h.`fcst_lev`, ld.`fcst_lead`, h.`vx_mask`

-- normalized, iso-range
SELECT VALUE [h.`vx_mask`, ld.`fcst_init_beg`, ld.`fcst_valid_beg`, ld.`fcst_lead`, h.`model`, h.`fcst_lev`, h.`fcst_var`, ld.`oabar`, ld.`fabar`, ld.`ooabar`, ld.`foabar`, ld.`ffabar`, ld.`total`]
  FROM (SELECT VALUE x FROM `barograph`.`stat_header` AS x WHERE x.subset = "a") h, (SELECT VALUE x FROM `barograph`.`line_data` AS x WHERE x.line_type = "SAL1L2") ld
   WHERE h.`model` = "GFS"
     AND h.`fcst_var` = "HGT"
     AND h.`fcst_lev` = "P1000"
     AND h.`vx_mask` = "G2/NHX"
     AND ld.fcst_valid_beg BETWEEN 1514764800 AND 1515088800
     AND (ld.fcst_valid_beg - 1514764800) % 21600 = 0
     AND ld.`fcst_lead` IN [0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384]
     AND (ld.fcst_valid_beg + 62135596800) % 86400 - (ld.fcst_valid_beg + 62135596800) % 3600 IN [0, 21600]
     AND (ld.fcst_init_beg + 62135596800) % 86400 - (ld.fcst_init_beg + 62135596800) % 3600 IN [43200]
     AND ld.fcst_init_beg BETWEEN 1514764800 AND 1514851200
     AND h.id /*+ indexnl */ = ld.stat_header_id
   ORDER BY ld.`fcst_valid_beg`, ld.`fcst_init_beg`, h.`fcst_lev`, ld.`fcst_lead`, h.`vx_mask`

-- normalized, epoch-range
SELECT VALUE [h.`vx_mask`, ld.`fcst_init_beg`, ld.`fcst_valid_beg`, ld.`fcst_lead`, h.`model`, h.`fcst_lev`, h.`fcst_var`, ld.`oabar`, ld.`fabar`, ld.`ooabar`, ld.`foabar`, ld.`ffabar`, ld.`total`]
  FROM (SELECT VALUE x FROM `barograph`.`stat_header` AS x WHERE x.subset = "a") h, (SELECT VALUE x FROM `barograph`.`line_data` AS x WHERE x.line_type = "SAL1L2") ld
   WHERE h.`model` = "GFS"
     AND h.`fcst_var` = "HGT"
     AND h.`fcst_lev` = "P1000"
     AND h.`vx_mask` = "G2/NHX"
     AND ld.fcst_valid_beg BETWEEN 1514764800 AND 1515088800
     AND (ld.fcst_valid_beg - 1514764800) % 21600 = 0
     AND ld.`fcst_lead` IN [0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384]
     AND (ld.fcst_valid_beg + 62135596800) % 86400 - (ld.fcst_valid_beg + 62135596800) % 3600 IN [0, 21600]
     AND (ld.fcst_init_beg + 62135596800) % 86400 - (ld.fcst_init_beg + 62135596800) % 3600 IN [43200]
     AND ld.fcst_init_beg BETWEEN 1514764800 AND 1514851200
     AND h.id /*+ indexnl */ = ld.stat_header_id
   ORDER BY ld.`fcst_valid_beg`, ld.`fcst_init_beg`, h.`fcst_lev`, ld.`fcst_lead`, h.`vx_mask`

-- document, iso-list
SELECT VALUE [r.`vx_mask`, r.`fcst_valid_epoch` - d.`fcst_lead`, r.`fcst_valid_epoch`, d.`fcst_lead`, r.`model`, r.`fcst_lev`, r.`fcst_var`, d.`oabar`, d.`fabar`, d.`ooabar`, d.`foabar`, d.`ffabar`, d.`total`]
  FROM `barograph`.`documents` AS r UNNEST r.data AS d
   WHERE r.subset = "a"
     AND r.line_type = "SAL1L2"
     AND r.`model` = "GFS"
     AND r.`fcst_var` = "HGT"
     AND r.`fcst_lev` = "P1000"
     AND r.`vx_mask` = "G2/NHX"
     AND r.`fcst_valid_beg` IN ["2018-01-01T00:00:00Z", "2018-01-01T06:00:00Z", … 12 more, 459b27dcd415a961 …, "2018-01-04T12:00:00Z", "2018-01-04T18:00:00Z"]
     AND d.`fcst_lead` IN [0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400]
     AND (r.`fcst_valid_epoch` + 62135596800) % 86400 - (r.`fcst_valid_epoch` + 62135596800) % 3600 IN [0, 21600]
     AND (r.`fcst_valid_epoch` - d.`fcst_lead` + 62135596800) % 86400 - (r.`fcst_valid_epoch` - d.`fcst_lead` + 62135596800) % 3600 IN [43200]
     AND r.`fcst_valid_epoch` - d.`fcst_lead` BETWEEN 1514764800 AND 1514851200
   ORDER BY r.`fcst_valid_epoch`, r.`fcst_valid_epoch` - d.`fcst_lead`, r.`fcst_lev`, d.`fcst_lead`, r.`vx_mask`

-- document, iso-range
SELECT VALUE [r.`vx_mask`, r.`fcst_valid_epoch` - d.`fcst_lead`, r.`fcst_valid_epoch`, d.`fcst_lead`, r.`model`, r.`fcst_lev`, r.`fcst_var`, d.`oabar`, d.`fabar`, d.`ooabar`, d.`foabar`, d.`ffabar`, d.`total`]
  FROM `barograph`.`documents` AS r UNNEST r.data AS d
   WHERE r.subset = "a"
     AND r.line_type = "SAL1L2"
     AND r.`model` = "GFS"
     AND r.`fcst_var` = "HGT"
     AND r.`fcst_lev` = "P1000"
     AND r.`vx_mask` = "G2/NHX"
     AND r.`fcst_valid_beg` BETWEEN "2018-01-01T00:00:00Z" AND "2018-01-04T18:00:00Z"
     AND (r.`fcst_valid_epoch` - 1514764800) % 21600 = 0
     AND d.`fcst_lead` IN [0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400]
     AND (r.`fcst_valid_epoch` + 62135596800) % 86400 - (r.`fcst_valid_epoch` + 62135596800) % 3600 IN [0, 21600]
     AND (r.`fcst_valid_epoch` - d.`fcst_lead` + 62135596800) % 86400 - (r.`fcst_valid_epoch` - d.`fcst_lead` + 62135596800) % 3600 IN [43200]
     AND r.`fcst_valid_epoch` - d.`fcst_lead` BETWEEN 1514764800 AND 1514851200
   ORDER BY r.`fcst_valid_epoch`, r.`fcst_valid_epoch` - d.`fcst_lead`, r.`fcst_lev`, d.`fcst_lead`, r.`vx_mask`

-- document, epoch-list
SELECT VALUE [r.`vx_mask`, r.`fcst_valid_epoch` - d.`fcst_lead`, r.`fcst_valid_epoch`, d.`fcst_lead`, r.`model`, r.`fcst_lev`, r.`fcst_var`, d.`oabar`, d.`fabar`, d.`ooabar`, d.`foabar`, d.`ffabar`, d.`total`]
  FROM `barograph`.`documents` AS r UNNEST r.data AS d
   WHERE r.subset = "a"
     AND r.line_type = "SAL1L2"
     AND r.`model` = "GFS"
     AND r.`fcst_var` = "HGT"
     AND r.`fcst_lev` = "P1000"
     AND r.`vx_mask` = "G2/NHX"
     AND r.`fcst_valid_epoch` IN [1514764800, 1514786400, … 12 more, f8c32e648e87857b …, 1515067200, 1515088800]
     AND d.`fcst_lead` IN [0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400]
     AND (r.`fcst_valid_epoch` + 62135596800) % 86400 - (r.`fcst_valid_epoch` + 62135596800) % 3600 IN [0, 21600]
     AND (r.`fcst_valid_epoch` - d.`fcst_lead` + 62135596800) % 86400 - (r.`fcst_valid_epoch` - d.`fcst_lead` + 62135596800) % 3600 IN [43200]
     AND r.`fcst_valid_epoch` - d.`fcst_lead` BETWEEN 1514764800 AND 1514851200
   ORDER BY r.`fcst_valid_epoch`, r.`fcst_valid_epoch` - d.`fcst_lead`, r.`fcst_lev`, d.`fcst_lead`, r.`vx_mask`

-- document, epoch-range
SELECT VALUE [r.`vx_mask`, r.`fcst_valid_epoch` - d.`fcst_lead`, r.`fcst_valid_epoch`, d.`fcst_lead`, r.`model`, r.`fcst_lev`, r.`fcst_var`, d.`oabar`, d.`fabar`, d.`ooabar`, d.`foabar`, d.`ffabar`, d.`total`]
  FROM `barograph`.`documents` AS r UNNEST r.data AS d
   WHERE r.subset = "a"
     AND r.line_type = "SAL1L2"
     AND r.`model` = "GFS"
     AND r.`fcst_var` = "HGT"
     AND r.`fcst_lev` = "P1000"
     AND r.`vx_mask` = "G2/NHX"
     AND r.`fcst_valid_epoch` BETWEEN 1514764800 AND 1515088800
     AND (r.`fcst_valid_epoch` - 1514764800) % 21600 = 0
     AND d.`fcst_lead` IN [0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400]
     AND (r.`fcst_valid_epoch` + 62135596800) % 86400 - (r.`fcst_valid_epoch` + 62135596800) % 3600 IN [0, 21600]
     AND (r.`fcst_valid_epoch` - d.`fcst_lead` + 62135596800) % 86400 - (r.`fcst_valid_epoch` - d.`fcst_lead` + 62135596800) % 3600 IN [43200]
     AND r.`fcst_valid_epoch` - d.`fcst_lead` BETWEEN 1514764800 AND 1514851200
   ORDER BY r.`fcst_valid_epoch`, r.`fcst_valid_epoch` - d.`fcst_lead`, r.`fcst_lev`, d.`fcst_lead`, r.`vx_mask`

-- document, keys
SELECT VALUE [r.`vx_mask`, r.`fcst_valid_epoch` - d.`fcst_lead`, r.`fcst_valid_epoch`, d.`fcst_lead`, r.`model`, r.`fcst_lev`, r.`fcst_var`, d.`oabar`, d.`fabar`, d.`ooabar`, d.`foabar`, d.`ffabar`, d.`total`]
  FROM `barograph`.`documents` AS r UNNEST r.data AS d
   WHERE r.id IN $keys
     AND d.`fcst_lead` IN [0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400]
     AND (r.`fcst_valid_epoch` + 62135596800) % 86400 - (r.`fcst_valid_epoch` + 62135596800) % 3600 IN [0, 21600]
     AND (r.`fcst_valid_epoch` - d.`fcst_lead` + 62135596800) % 86400 - (r.`fcst_valid_epoch` - d.`fcst_lead` + 62135596800) % 3600 IN [43200]
     AND r.`fcst_valid_epoch` - d.`fcst_lead` BETWEEN 1514764800 AND 1514851200
   ORDER BY r.`fcst_valid_epoch`, r.`fcst_valid_epoch` - d.`fcst_lead`, r.`fcst_lev`, d.`fcst_lead`, r.`vx_mask`
-- ?1 = DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P1000::1514764800,DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P1000::1514786400,… 12 more, 0b60c0632d0a2cc6 …,DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P1000::1515067200,DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P1000::1515088800
-- 16 keys

