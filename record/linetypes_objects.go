package record

// objectTypes are the lines of MODE, MTD and TC-Pairs (TC-Stat). They are not STAT lines, and a
// reader translates them into the fields of one (package metstat describes how). Fields that a STAT
// header does not have precede their own columns. The flags (fcst_flag, simple_flag, matched_flag) are
// METviewer's, derived from the object's name and category.
var objectTypes = []LineType{ //nolint:gochecknoglobals // a constant table
	newLineType("MODE_CTS", "MODE: contingency table of the raw fields or of the objects", modeColumns+`
		*field$ total# fy_oy fy_on fn_oy fn_on baser fmean acc fbias pody podn pofd far csi gss hk hss odds lodds orss eds
		seds edi sedi bagss`),
	newLineType("MODE_OBJ_SINGLE", "MODE: an object or cluster", modeColumns+`
		*object_id$ object_cat$ centroid_x centroid_y centroid_lat centroid_lon axis_ang length width area area_thresh
		curvature curvature_x curvature_y complexity intensity_10 intensity_25 intensity_50 intensity_75 intensity_90
		intensity_nn intensity_sum fcst_flag# simple_flag# matched_flag#`),
	newLineType("MODE_OBJ_PAIR", "MODE: a pair of objects or clusters", modeColumns+`
		*object_id$ object_cat$ centroid_dist boundary_dist convex_hull_dist angle_diff aspect_diff area_ratio
		intersection_area union_area symmetric_diff intersection_over_area curvature_ratio complexity_ratio
		percentile_intensity_ratio interest simple_flag# matched_flag#`),
	newLineType("MTD_2D_OBJ", "MTD: an object at one time", mtdColumns+`
		*time_index# area centroid_x centroid_y centroid_lat centroid_lon axis_ang intensity_10 intensity_25 intensity_50
		intensity_75 intensity_90 intensity_nn fcst_flag# simple_flag# matched_flag#`),
	newLineType("MTD_3D_OBJ_SINGLE", "MTD: an object or cluster in space and time", mtdColumns+`
		centroid_x centroid_y centroid_t centroid_lat centroid_lon x_dot y_dot axis_ang volume start_time end_time
		cdist_travelled intensity_10 intensity_25 intensity_50 intensity_75 intensity_90 intensity_nn fcst_flag# simple_flag#
		matched_flag#`),
	newLineType("MTD_3D_OBJ_PAIR", "MTD: a pair of objects or clusters in space and time", mtdColumns+`
		space_centroid_dist time_centroid_delta axis_diff speed_delta direction_diff volume_ratio start_time_delta
		end_time_delta intersection_volume duration_diff interest simple_flag# matched_flag#`),
	newLineType("TCMPR", "TC-Pairs: forecast and best track of a tropical cyclone", tcColumns+`
		total# *index_pair# storm_level$ watch_warn$ initials$ alat alon blat blon tk_err x_err y_err altk_err crtk_err adland
		bdland amslp bmslp amax_wind bmax_wind aal_wind_34 bal_wind_34 ane_wind_34 bne_wind_34 ase_wind_34 bse_wind_34
		asw_wind_34 bsw_wind_34 anw_wind_34 bnw_wind_34 aal_wind_50 bal_wind_50 ane_wind_50 bne_wind_50 ase_wind_50
		bse_wind_50 asw_wind_50 bsw_wind_50 anw_wind_50 bnw_wind_50 aal_wind_64 bal_wind_64 ane_wind_64 bne_wind_64
		ase_wind_64 bse_wind_64 asw_wind_64 bsw_wind_64 anw_wind_64 bnw_wind_64 aradp bradp arrp brrp amrd bmrd agusts bgusts
		aeye beye adir bdir aspeed bspeed adepth$ bdepth$ num_members# track_spread track_stdev mslp_stdev max_wind_stdev`),
	newLineType("TCDIAG", "TC-Pairs: diagnostics of a tropical cyclone; diag_i lists their names",
		tcColumns+"total# *index_pair# *diag_source$ track_source$ field_source$ diag_i$ n_diag#").
		withGroup(repeatedGroup("n_diag", "value_i")),
	newLineType("PROBRIRW", "TC-Pairs: probabilities of a rapid change of a tropical cyclone's wind", tcColumns+`
		alat alon blat blon initials$ tk_err x_err y_err adland bdland *rirw_beg# *rirw_end# *rirw_window# awind_end bwind_beg
		bwind_end bdelta bdelta_max blevel_beg$ blevel_end$ n_thresh#`).
		withGroup(repeatedGroup("n_thresh", "thresh_i", "prob_i")),
}

const (
	modeColumns = "n_valid# grid_res *fcst_accum# *obs_accum# *obs_rad# "
	mtdColumns  = "t_delta# fcst_t_beg# fcst_t_end# obs_t_beg# obs_t_end# *obs_rad# *object_id$ object_cat$ "
	tcColumns   = "*storm_id$ cyclone# storm_name$ *init_mask$ *valid_mask$ "
)
