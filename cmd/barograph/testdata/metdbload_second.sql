-- What METdbLoad's second load of mv_site_2 brings, beside what is there: new
-- numbers of files, headers by their 14 texts, rows in the order of the columns.
SET @file = (SELECT MAX(data_file_id) FROM data_file);
INSERT INTO data_file SELECT data_file_id + @file, data_file_lu_id, filename, CONCAT(path, '/again'), load_date, mod_date FROM mv_site_2.data_file WHERE path = '/data/site/stat2';
CREATE TEMPORARY TABLE headers SELECT t.stat_header_id AS theirs, MIN(o.stat_header_id) AS ours FROM mv_site_2.stat_header t JOIN stat_header o
  USING (model, descr, fcst_var, fcst_units, fcst_lev, obs_var, obs_units, obs_lev, obtype, vx_mask, interp_mthd, interp_pnts, fcst_thresh, obs_thresh) GROUP BY 1;
INSERT INTO line_data_sal1l2 SELECT ours, l.data_file_id + @file, line_num, fcst_lead, fcst_valid_beg, fcst_valid_end, fcst_init_beg, obs_lead, obs_valid_beg, obs_valid_end,
  total, fabar, oabar, foabar, ffabar, ooabar, mae FROM mv_site_2.line_data_sal1l2 l JOIN headers ON theirs = l.stat_header_id
  JOIN mv_site_2.data_file f USING (data_file_id) WHERE f.path = '/data/site/stat2';
INSERT INTO line_data_val1l2 SELECT ours, l.data_file_id + @file, line_num, fcst_lead, fcst_valid_beg, fcst_valid_end, fcst_init_beg, obs_lead, obs_valid_beg, obs_valid_end,
  total, ufabar, vfabar, uoabar, voabar, uvfoabar, uvffabar, uvooabar, fa_speed_bar, oa_speed_bar FROM mv_site_2.line_data_val1l2 l JOIN headers ON theirs = l.stat_header_id
  JOIN mv_site_2.data_file f USING (data_file_id) WHERE f.path = '/data/site/stat2';
