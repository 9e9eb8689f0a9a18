-- normalized, sql
SELECT r.model, r.fcst_var, r.fcst_lev, r.vx_mask, r.fcst_lead, toFloat64(count(*)), toFloat64(count(r.acc)), avg(r.acc)
FROM (SELECT r.model AS model, r.fcst_var AS fcst_var, r.fcst_lev AS fcst_lev, r.vx_mask AS vx_mask, r.fcst_lead AS fcst_lead, CASE WHEN r.corr BETWEEN -1.0 AND 1.0 THEN r.corr WHEN r.corr BETWEEN 1.0 AND 1.000000001 THEN 1.0 WHEN r.corr BETWEEN -1.000000001 AND -1.0 THEN -1.0 END AS acc
FROM (SELECT r.model AS model, r.fcst_var AS fcst_var, r.fcst_lev AS fcst_lev, r.vx_mask AS vx_mask, r.fcst_lead AS fcst_lead, CASE WHEN r.fvar > 0 AND r.ovar > 0 THEN r.cov / (sqrt(r.fvar) * sqrt(r.ovar)) END AS corr
FROM (SELECT r.model AS model, r.fcst_var AS fcst_var, r.fcst_lev AS fcst_lev, r.vx_mask AS vx_mask, r.fcst_lead AS fcst_lead, r.foabar - r.fabar * r.oabar AS cov, r.ffabar - r.fabar * r.fabar AS fvar, r.ooabar - r.oabar * r.oabar AS ovar
FROM (SELECT h.model AS model, h.fcst_var AS fcst_var, … 7 more, 2922e3d7556b92f1 …, CASE WHEN ld.ooabar <> -9999 THEN ld.ooabar END AS ooabar
  FROM "a/stat_header" h, "a/line_data_sal1l2" ld
   WHERE ld.stat_header_id = h.stat_header_id) AS r) AS r) AS r) AS r
GROUP BY r.model, r.fcst_var, r.fcst_lev, r.vx_mask, r.fcst_lead

-- document, epoch-range
SELECT r.model, r.fcst_var, r.fcst_lev, r.vx_mask, r.fcst_lead, toFloat64(count(*)), toFloat64(count(r.acc)), avg(r.acc)
FROM (SELECT r.model AS model, r.fcst_var AS fcst_var, r.fcst_lev AS fcst_lev, r.vx_mask AS vx_mask, r.fcst_lead AS fcst_lead, CASE WHEN r.corr BETWEEN -1.0 AND 1.0 THEN r.corr WHEN r.corr BETWEEN 1.0 AND 1.000000001 THEN 1.0 WHEN r.corr BETWEEN -1.000000001 AND -1.0 THEN -1.0 END AS acc
FROM (SELECT r.model AS model, r.fcst_var AS fcst_var, r.fcst_lev AS fcst_lev, r.vx_mask AS vx_mask, r.fcst_lead AS fcst_lead, CASE WHEN r.fvar > 0 AND r.ovar > 0 THEN r.cov / (sqrt(r.fvar) * sqrt(r.ovar)) END AS corr
FROM (SELECT r.model AS model, r.fcst_var AS fcst_var, r.fcst_lev AS fcst_lev, r.vx_mask AS vx_mask, r.fcst_lead AS fcst_lead, r.foabar - r.fabar * r.oabar AS cov, r.ffabar - r.fabar * r.fabar AS fvar, r.ooabar - r.oabar * r.oabar AS ovar
FROM (SELECT r.model AS model, r.fcst_var AS fcst_var, … 11 more, 1a00f47a076de57d …, r.data.ffabar AS d_ffabar, r.data.ooabar AS d_ooabar
   WHERE 1 = 1) AS r) AS r) AS r) AS r
GROUP BY r.model, r.fcst_var, r.fcst_lev, r.vx_mask, r.fcst_lead

-- wide, sql
SELECT r.model, r.fcst_var, r.fcst_lev, r.vx_mask, r.fcst_lead, toFloat64(count(*)), toFloat64(count(r.acc)), avg(r.acc)
FROM (SELECT r.model AS model, r.fcst_var AS fcst_var, r.fcst_lev AS fcst_lev, r.vx_mask AS vx_mask, r.fcst_lead AS fcst_lead, CASE WHEN r.corr BETWEEN -1.0 AND 1.0 THEN r.corr WHEN r.corr BETWEEN 1.0 AND 1.000000001 THEN 1.0 WHEN r.corr BETWEEN -1.000000001 AND -1.0 THEN -1.0 END AS acc
FROM (SELECT r.model AS model, r.fcst_var AS fcst_var, r.fcst_lev AS fcst_lev, r.vx_mask AS vx_mask, r.fcst_lead AS fcst_lead, CASE WHEN r.fvar > 0 AND r.ovar > 0 THEN r.cov / (sqrt(r.fvar) * sqrt(r.ovar)) END AS corr
FROM (SELECT r.model AS model, r.fcst_var AS fcst_var, r.fcst_lev AS fcst_lev, r.vx_mask AS vx_mask, r.fcst_lead AS fcst_lead, r.foabar - r.fabar * r.oabar AS cov, r.ffabar - r.fabar * r.fabar AS fvar, r.ooabar - r.oabar * r.oabar AS ovar
FROM (SELECT model AS model, fcst_var AS fcst_var, … 6 more, 412390551d05c848 …, ffabar AS ffabar, ooabar AS ooabar
  FROM "a/wide_sal1l2"
   WHERE 1 = 1) AS r) AS r) AS r) AS r
GROUP BY r.model, r.fcst_var, r.fcst_lev, r.vx_mask, r.fcst_lead

