-- normalized, sql
SELECT VALUE [r.model, r.fcst_var, r.fcst_lev, r.vx_mask, r.fcst_lead, count(*), count(r.acc), avg(r.acc)]
FROM (SELECT r.model AS model, r.fcst_var AS fcst_var, r.fcst_lev AS fcst_lev, r.vx_mask AS vx_mask, r.fcst_lead AS fcst_lead, CASE WHEN r.corr BETWEEN -1.0 AND 1.0 THEN r.corr WHEN r.corr BETWEEN 1.0 AND 1.000000001 THEN 1.0 WHEN r.corr BETWEEN -1.000000001 AND -1.0 THEN -1.0 END AS acc
FROM (SELECT r.model AS model, r.fcst_var AS fcst_var, r.fcst_lev AS fcst_lev, r.vx_mask AS vx_mask, r.fcst_lead AS fcst_lead, CASE WHEN r.fvar > 0 AND r.ovar > 0 THEN r.cov / (sqrt(r.fvar) * sqrt(r.ovar)) END AS corr
FROM (SELECT r.model AS model, r.fcst_var AS fcst_var, r.fcst_lev AS fcst_lev, r.vx_mask AS vx_mask, r.fcst_lead AS fcst_lead, r.foabar - r.fabar * r.oabar AS cov, r.ffabar - r.fabar * r.fabar AS fvar, r.ooabar - r.oabar * r.oabar AS ovar
FROM (SELECT h.`model` AS model, h.`fcst_var` AS fcst_var, h.`fcst_lev` AS fcst_lev, h.`vx_mask` AS vx_mask, ld.`fcst_lead` AS fcst_lead, CASE WHEN ld.`fabar` <> -9999 THEN ld.`fabar` END AS fabar, CASE WHEN ld.`oabar` <> -9999 THEN ld.`oabar` END AS oabar, CASE WHEN ld.`foabar` <> -9999 THEN ld.`foabar` END AS foabar, CASE WHEN ld.`ffabar` <> -9999 THEN ld.`ffabar` END AS ffabar, CASE WHEN ld.`ooabar` <> -9999 THEN ld.`ooabar` END AS ooabar
  FROM (SELECT VALUE x FROM `barograph`.`stat_header` AS x WHERE x.subset = "a") h, (SELECT VALUE x FROM `barograph`.`line_data` AS x WHERE x.line_type = "SAL1L2") ld
   WHERE ld.stat_header_id = h.stat_header_id) AS r) AS r) AS r) AS r
GROUP BY r.model, r.fcst_var, r.fcst_lev, r.vx_mask, r.fcst_lead

-- document, epoch-range
SELECT VALUE [r.model, r.fcst_var, r.fcst_lev, r.vx_mask, r.fcst_lead, count(*), count(r.acc), avg(r.acc)]
FROM (SELECT r.model AS model, r.fcst_var AS fcst_var, r.fcst_lev AS fcst_lev, r.vx_mask AS vx_mask, r.fcst_lead AS fcst_lead, CASE WHEN r.corr BETWEEN -1.0 AND 1.0 THEN r.corr WHEN r.corr BETWEEN 1.0 AND 1.000000001 THEN 1.0 WHEN r.corr BETWEEN -1.000000001 AND -1.0 THEN -1.0 END AS acc
FROM (SELECT r.model AS model, r.fcst_var AS fcst_var, r.fcst_lev AS fcst_lev, r.vx_mask AS vx_mask, r.fcst_lead AS fcst_lead, CASE WHEN r.fvar > 0 AND r.ovar > 0 THEN r.cov / (sqrt(r.fvar) * sqrt(r.ovar)) END AS corr
FROM (SELECT r.model AS model, r.fcst_var AS fcst_var, r.fcst_lev AS fcst_lev, r.vx_mask AS vx_mask, r.fcst_lead AS fcst_lead, r.foabar - r.fabar * r.oabar AS cov, r.ffabar - r.fabar * r.fabar AS fvar, r.ooabar - r.oabar * r.oabar AS ovar
FROM (SELECT r.`model` AS model, r.`fcst_var` AS fcst_var, … 6 more, 9c708ccff840c637 …, d.`ffabar` AS ffabar, d.`ooabar` AS ooabar
  FROM `barograph`.`documents` AS r UNNEST r.data AS d
   WHERE r.subset = "a"
     AND r.line_type = "SAL1L2") AS r) AS r) AS r) AS r
GROUP BY r.model, r.fcst_var, r.fcst_lev, r.vx_mask, r.fcst_lead

