-- normalized, sql
SELECT VALUE [h.`vx_mask`, ld.`fcst_init_beg`, ld.`fcst_valid_beg`, ld.`fcst_lead`, h.`model`, h.`fcst_lev`, h.`fcst_var`, ld.`oabar`, ld.`fabar`, ld.`ooabar`, ld.`foabar`, ld.`ffabar`, ld.`total`]
  FROM (SELECT VALUE x FROM `barograph`.`stat_header` AS x WHERE x.subset = "a") h, (SELECT VALUE x FROM `barograph`.`line_data` AS x WHERE x.line_type = "SAL1L2") ld
   WHERE h.`model` = "GFS"
     AND h.`fcst_var` = "HGT"
     AND h.`fcst_lev` = "P500"
     AND array_contains(["G2/NHX", "G2/SHX"], h.`vx_mask`)
     AND ld.fcst_valid_beg IN [1546300800, 1546322400, … 269 more, 83b411c81c40c241 …, 1552154400, 1552176000]
     AND ld.`fcst_lead` IN [0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384]
     AND h.id /*+ indexnl */ = ld.stat_header_id
   ORDER BY ld.`fcst_valid_beg`, ld.`fcst_init_beg`, h.`fcst_lev`, ld.`fcst_lead`, h.`vx_mask`

-- normalized, iso-range
SELECT VALUE [h.`vx_mask`, ld.`fcst_init_beg`, ld.`fcst_valid_beg`, ld.`fcst_lead`, h.`model`, h.`fcst_lev`, h.`fcst_var`, ld.`oabar`, ld.`fabar`, ld.`ooabar`, ld.`foabar`, ld.`ffabar`, ld.`total`]
  FROM (SELECT VALUE x FROM `barograph`.`stat_header` AS x WHERE x.subset = "a") h, (SELECT VALUE x FROM `barograph`.`line_data` AS x WHERE x.line_type = "SAL1L2") ld
   WHERE h.`model` = "GFS"
     AND h.`fcst_var` = "HGT"
     AND h.`fcst_lev` = "P500"
     AND array_contains(["G2/NHX", "G2/SHX"], h.`vx_mask`)
     AND ld.fcst_valid_beg BETWEEN 1546300800 AND 1552176000
     AND (ld.fcst_valid_beg - 1546300800) % 21600 = 0
     AND ld.`fcst_lead` IN [0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384]
     AND h.id /*+ indexnl */ = ld.stat_header_id
   ORDER BY ld.`fcst_valid_beg`, ld.`fcst_init_beg`, h.`fcst_lev`, ld.`fcst_lead`, h.`vx_mask`

-- normalized, epoch-range
SELECT VALUE [h.`vx_mask`, ld.`fcst_init_beg`, ld.`fcst_valid_beg`, ld.`fcst_lead`, h.`model`, h.`fcst_lev`, h.`fcst_var`, ld.`oabar`, ld.`fabar`, ld.`ooabar`, ld.`foabar`, ld.`ffabar`, ld.`total`]
  FROM (SELECT VALUE x FROM `barograph`.`stat_header` AS x WHERE x.subset = "a") h, (SELECT VALUE x FROM `barograph`.`line_data` AS x WHERE x.line_type = "SAL1L2") ld
   WHERE h.`model` = "GFS"
     AND h.`fcst_var` = "HGT"
     AND h.`fcst_lev` = "P500"
     AND array_contains(["G2/NHX", "G2/SHX"], h.`vx_mask`)
     AND ld.fcst_valid_beg BETWEEN 1546300800 AND 1552176000
     AND (ld.fcst_valid_beg - 1546300800) % 21600 = 0
     AND ld.`fcst_lead` IN [0, 6, … 49 more, 279bbd35a80a9b98 …, 372, 384]
     AND h.id /*+ indexnl */ = ld.stat_header_id
   ORDER BY ld.`fcst_valid_beg`, ld.`fcst_init_beg`, h.`fcst_lev`, ld.`fcst_lead`, h.`vx_mask`

-- document, iso-list
SELECT VALUE [r.`vx_mask`, r.`fcst_valid_epoch` - d.`fcst_lead`, r.`fcst_valid_epoch`, d.`fcst_lead`, r.`model`, r.`fcst_lev`, r.`fcst_var`, d.`oabar`, d.`fabar`, d.`ooabar`, d.`foabar`, d.`ffabar`, d.`total`]
  FROM `barograph`.`documents` AS r UNNEST r.data AS d
   WHERE r.subset = "a"
     AND r.line_type = "SAL1L2"
     AND r.`model` = "GFS"
     AND r.`fcst_var` = "HGT"
     AND r.`fcst_lev` = "P500"
     AND array_contains(["G2/NHX", "G2/SHX"], r.`vx_mask`)
     AND r.`fcst_valid_beg` IN ["2019-01-01T00:00:00Z", "2019-01-01T06:00:00Z", … 269 more, 3cf47fadfcdabba0 …, "2019-03-09T18:00:00Z", "2019-03-10T00:00:00Z"]
     AND d.`fcst_lead` IN [0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400]
   ORDER BY r.`fcst_valid_epoch`, r.`fcst_valid_epoch` - d.`fcst_lead`, r.`fcst_lev`, d.`fcst_lead`, r.`vx_mask`

-- document, iso-range
SELECT VALUE [r.`vx_mask`, r.`fcst_valid_epoch` - d.`fcst_lead`, r.`fcst_valid_epoch`, d.`fcst_lead`, r.`model`, r.`fcst_lev`, r.`fcst_var`, d.`oabar`, d.`fabar`, d.`ooabar`, d.`foabar`, d.`ffabar`, d.`total`]
  FROM `barograph`.`documents` AS r UNNEST r.data AS d
   WHERE r.subset = "a"
     AND r.line_type = "SAL1L2"
     AND r.`model` = "GFS"
     AND r.`fcst_var` = "HGT"
     AND r.`fcst_lev` = "P500"
     AND array_contains(["G2/NHX", "G2/SHX"], r.`vx_mask`)
     AND r.`fcst_valid_beg` BETWEEN "2019-01-01T00:00:00Z" AND "2019-03-10T00:00:00Z"
     AND (r.`fcst_valid_epoch` - 1546300800) % 21600 = 0
     AND d.`fcst_lead` IN [0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400]
   ORDER BY r.`fcst_valid_epoch`, r.`fcst_valid_epoch` - d.`fcst_lead`, r.`fcst_lev`, d.`fcst_lead`, r.`vx_mask`

-- document, epoch-list
SELECT VALUE [r.`vx_mask`, r.`fcst_valid_epoch` - d.`fcst_lead`, r.`fcst_valid_epoch`, d.`fcst_lead`, r.`model`, r.`fcst_lev`, r.`fcst_var`, d.`oabar`, d.`fabar`, d.`ooabar`, d.`foabar`, d.`ffabar`, d.`total`]
  FROM `barograph`.`documents` AS r UNNEST r.data AS d
   WHERE r.subset = "a"
     AND r.line_type = "SAL1L2"
     AND r.`model` = "GFS"
     AND r.`fcst_var` = "HGT"
     AND r.`fcst_lev` = "P500"
     AND array_contains(["G2/NHX", "G2/SHX"], r.`vx_mask`)
     AND r.`fcst_valid_epoch` IN [1546300800, 1546322400, … 269 more, 83b411c81c40c241 …, 1552154400, 1552176000]
     AND d.`fcst_lead` IN [0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400]
   ORDER BY r.`fcst_valid_epoch`, r.`fcst_valid_epoch` - d.`fcst_lead`, r.`fcst_lev`, d.`fcst_lead`, r.`vx_mask`

-- document, epoch-range
SELECT VALUE [r.`vx_mask`, r.`fcst_valid_epoch` - d.`fcst_lead`, r.`fcst_valid_epoch`, d.`fcst_lead`, r.`model`, r.`fcst_lev`, r.`fcst_var`, d.`oabar`, d.`fabar`, d.`ooabar`, d.`foabar`, d.`ffabar`, d.`total`]
  FROM `barograph`.`documents` AS r UNNEST r.data AS d
   WHERE r.subset = "a"
     AND r.line_type = "SAL1L2"
     AND r.`model` = "GFS"
     AND r.`fcst_var` = "HGT"
     AND r.`fcst_lev` = "P500"
     AND array_contains(["G2/NHX", "G2/SHX"], r.`vx_mask`)
     AND r.`fcst_valid_epoch` BETWEEN 1546300800 AND 1552176000
     AND (r.`fcst_valid_epoch` - 1546300800) % 21600 = 0
     AND d.`fcst_lead` IN [0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400]
   ORDER BY r.`fcst_valid_epoch`, r.`fcst_valid_epoch` - d.`fcst_lead`, r.`fcst_lev`, d.`fcst_lead`, r.`vx_mask`

-- document, keys
SELECT VALUE [r.`vx_mask`, r.`fcst_valid_epoch` - d.`fcst_lead`, r.`fcst_valid_epoch`, d.`fcst_lead`, r.`model`, r.`fcst_lev`, r.`fcst_var`, d.`oabar`, d.`fabar`, d.`ooabar`, d.`foabar`, d.`ffabar`, d.`total`]
  FROM `barograph`.`documents` AS r UNNEST r.data AS d
   WHERE r.id IN $keys
     AND d.`fcst_lead` IN [0, 21600, … 49 more, 67a09cfc20f89314 …, 1339200, 1382400]
   ORDER BY r.`fcst_valid_epoch`, r.`fcst_valid_epoch` - d.`fcst_lead`, r.`fcst_lev`, d.`fcst_lead`, r.`vx_mask`
-- ?1 = DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P500::1546300800,DD::V01::SAL1L2::a::GFS::G2/NHX::HGT::GFS::P500::1546322400,… 542 more, 9424d71d139d8ff1 …,DD::V01::SAL1L2::a::GFS::G2/SHX::HGT::GFS::P500::1552154400,DD::V01::SAL1L2::a::GFS::G2/SHX::HGT::GFS::P500::1552176000
-- 546 keys

