package mariadb

// metviewerObjects are METviewer's tables of MODE, MTD and tropical cyclones; the notation is that
// of metviewerLines.
var metviewerObjects = [...]struct{ name, columns, keys string }{ //nolint:gochecknoglobals // a constant table
	{
		"mode_header", `
			mode_header_id#! line_type_lu_id#! data_file_id#! linenumber# version:8 model:40 n_valid# grid_res# descr:40='NA'
			fcst_lead% fcst_valid@ fcst_accum# fcst_init@ obs_lead# obs_valid@ obs_accum# fcst_rad# fcst_thr:100 obs_rad#
			obs_thr:100 fcst_var:50 fcst_units:100='NA' fcst_lev:100 obs_var:50 obs_units:100='NA' obs_lev:100`,
		"PRIMARY KEY (mode_header_id), INDEX mode_header_data_file_id_pk (data_file_id), INDEX mode_header_unique_pk (model, fcst_lead, " +
			"fcst_valid, fcst_accum, obs_lead, obs_valid, obs_accum, fcst_rad, fcst_thr(20), obs_rad, obs_thr(20), fcst_var(20), fcst_lev(10), " +
			"obs_var(20), obs_lev(10))",
	},
	{
		"mode_cts", `
			mode_header_id#! field:16 total# fy_oy# fy_on# fn_oy# fn_on# baser fmean acc fbias pody podn pofd far csi gss hk hss
			odds`,
		"INDEX mode_cts_mode_header_id_pk (mode_header_id)",
	},
	{
		"mode_obj_single", `
			mode_obj_id#! mode_header_id#! object_id:128 object_cat:128 centroid_x centroid_y centroid_lat centroid_lon axis_avg
			length width area% area_thresh% curvature curvature_x curvature_y complexity intensity_10 intensity_25 intensity_50
			intensity_75 intensity_90 intensity_nn intensity_sum fcst_flag? simple_flag? matched_flag?`,
		"PRIMARY KEY (mode_obj_id), INDEX mode_obj_single_mode_header_id_pk (mode_header_id)",
	},
	{
		"mode_obj_pair", `
			mode_obj_obs_id#! mode_obj_fcst_id#! mode_header_id#! object_id:128 object_cat:128 centroid_dist boundary_dist
			convex_hull_dist angle_diff aspect_diff area_ratio intersection_area# union_area# symmetric_diff% intersection_over_area
			curvature_ratio complexity_ratio percentile_intensity_ratio interest simple_flag? matched_flag?`,
		"INDEX mode_obj_pair_mode_header_id_pk (mode_header_id), INDEX mode_obj_pair_mode_obj_obs_pk (mode_obj_obs_id), INDEX " +
			"mode_obj_pair_mode_obj_fcst_pk (mode_obj_fcst_id)",
	},
	{
		"mtd_header", `
			mtd_header_id#! line_type_lu_id#! data_file_id#! revision_id# linenumber# version:8 model:40 descr:40='NA' fcst_lead%
			fcst_valid@ fcst_init@ obs_lead% obs_valid@ t_delta% fcst_t_beg% fcst_t_end% fcst_rad# fcst_thr:100 obs_t_beg%
			obs_t_end% obs_rad# obs_thr:100 fcst_var:50 fcst_units:100='NA' fcst_lev:100 obs_var:50 obs_units:100='NA' obs_lev:100`,
		"PRIMARY KEY (mtd_header_id), INDEX mtd_header_data_file_id_pk (data_file_id), INDEX mtd_header_unique_pk (model, descr, fcst_lead," +
			" fcst_valid, obs_lead, obs_valid, t_delta, fcst_rad, fcst_thr(20), obs_rad, obs_thr(20), fcst_var(20), fcst_lev(10), obs_var(20), " +
			"obs_lev(10))",
	},
	{
		"mtd_2d_obj", `
			mtd_header_id#! object_id:128 object_cat:128 time_index area centroid_x centroid_y centroid_lat centroid_lon axis_ang
			intensity_10 intensity_25 intensity_50 intensity_75 intensity_90 intensity_nn fcst_flag?! simple_flag?! matched_flag?!`,
		"INDEX mtd_2d_obj_mtd_header_id_pk (mtd_header_id)",
	},
	{
		"mtd_3d_obj_single", `
			mtd_header_id#! object_id:128 object_cat:128 centroid_x centroid_y centroid_t centroid_lat centroid_lon x_dot y_dot
			axis_ang volume start_time end_time cdist_travelled intensity_10 intensity_25 intensity_50 intensity_75 intensity_90
			intensity_nn fcst_flag?! simple_flag?! matched_flag?!`,
		"INDEX mtd_3d_obj_single_mtd_header_id_pk (mtd_header_id)",
	},
	{
		"mtd_3d_obj_pair", `
			mtd_header_id#! object_id:128 object_cat:128 space_centroid_dist time_centroid_delta axis_diff speed_delta
			direction_diff volume_ratio start_time_delta end_time_delta intersection_volume duration_diff interest simple_flag?!
			matched_flag?!`,
		"INDEX mtd_3d_obj_pair_mtd_header_id_pk (mtd_header_id)",
	},
	{
		"tcst_header", `
			tcst_header_id#! version:8 amodel:40 bmodel:40 descr:40='NA' storm_id:40 basin:40 cyclone# storm_name:40 init_mask:100
			valid_mask:100`,
		"PRIMARY KEY (tcst_header_id), INDEX tcst_header_unique_pk (amodel, bmodel, storm_id, basin, cyclone, storm_name, init_mask, " +
			"valid_mask)",
	},
	{
		"line_data_tcmpr", `
			tcst_header_id#! data_file_id#! line_number#! fcst_lead% fcst_valid@ fcst_init@ total# index_pair# level:2 watch_warn:2
			initials:10 alat alon blat blon tk_err x_err y_err altk_err crtk_err adland bdland amslp bmslp amax_wind bmax_wind
			aal_wind_34 bal_wind_34 ane_wind_34 bne_wind_34 ase_wind_34 bse_wind_34 asw_wind_34 bsw_wind_34 anw_wind_34 bnw_wind_34
			aal_wind_50 bal_wind_50 ane_wind_50 bne_wind_50 ase_wind_50 bse_wind_50 asw_wind_50 bsw_wind_50 anw_wind_50 bnw_wind_50
			aal_wind_64 bal_wind_64 ane_wind_64 bne_wind_64 ase_wind_64 bse_wind_64 asw_wind_64 bsw_wind_64 anw_wind_64 bnw_wind_64
			aradp bradp arrp brrp amrd bmrd agusts bgusts aeye beye adir bdir aspeed bspeed adepth:1 bdepth:1 num_members%
			track_spread track_stdev mslp_stdev max_wind_stdev`,
		"INDEX line_data_tcmpr_data_file_id_pk (data_file_id), INDEX tcst_header_id_idx (tcst_header_id)",
	},
	{
		"line_data_tcdiag", `
			line_data_id#! tcst_header_id#! data_file_id#! line_num#! fcst_lead% fcst_valid@ fcst_init@ total# index_pair
			diag_source:20 track_source:20 field_source:20 n_diag#`,
		"PRIMARY KEY (line_data_id), INDEX line_data_tcdiag_data_file_id_pk (data_file_id), INDEX tcst_header_id_idx (tcst_header_id)",
	},
	{
		"line_data_tcdiag_diag", `
			line_data_id#! i_value#! diag_i:20 value_i`,
		"PRIMARY KEY (line_data_id, i_value)",
	},
	{
		"line_data_probrirw", `
			line_data_id#! tcst_header_id#! data_file_id#! line_num#! fcst_lead% fcst_valid@ fcst_init@ alat alon blat blon
			initials:10 tk_err x_err y_err adland bdland rirw_beg% rirw_end% rirw_window% awind_end% bwind_beg% bwind_end% bdelta%
			bdelta_max% blevel_beg:2 blevel_end:2 n_thresh#`,
		"PRIMARY KEY (line_data_id), INDEX line_data_probrirw_data_file_id_pk (data_file_id), INDEX tcst_header_id_idx (tcst_header_id)",
	},
	{
		"line_data_probrirw_thresh", `
			line_data_id#! i_value#! thresh_i% prob_i%`,
		"PRIMARY KEY (line_data_id, i_value)",
	},
}
