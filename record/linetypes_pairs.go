package record

// pairTypes are the line types of deterministic forecasts: partial sums, contingency
// tables, continuous, neighborhood and matched-pair lines.
var pairTypes = []LineType{ //nolint:gochecknoglobals // a constant table
	newLineType("SL1L2", "scalar partial sums", "total# fbar obar fobar ffbar oobar mae"),
	newLineType("SAL1L2", "scalar anomaly partial sums", "total# fabar oabar foabar ffabar ooabar mae"),
	newLineType("VL1L2", "vector partial sums",
		"total# ufbar vfbar uobar vobar uvfobar uvffbar uvoobar f_speed_bar o_speed_bar total_dir# dir_me dir_mae dir_mse"),
	newLineType("VAL1L2", "vector anomaly partial sums", `
		total# ufabar vfabar uoabar voabar uvfoabar uvffabar uvooabar fa_speed_bar oa_speed_bar total_dir# dira_me dira_mae
		dira_mse`),
	newLineType("FHO", "forecast, hit and observation rates", "total# f_rate h_rate o_rate"),
	newLineType("CTC", "contingency table counts", "total# fy_oy fy_on fn_oy fn_on ec_value"),
	newLineType("CTS", "contingency table statistics", `
		total# baser± fmean± acc± fbias~ pody± podn± pofd± far± csi± gss~ hk± hss~ odds± lodds± orss± eds± seds± edi± sedi±
		bagss~ hss_ec~ ec_value`),
	newLineType("MCTC", "multi-category contingency table counts", "total# n_cat# ec_value").
		withGroupAfter(2, squareGroup("n_cat", "fi_oj")),
	newLineType("MCTS", "multi-category contingency table statistics",
		"total# n_cat# acc± hk~ hss~ ger~ hss_ec~ ec_value"),
	newLineType("CNT", "continuous statistics", `
		total# fbar± fstdev± obar± ostdev± pr_corr± sp_corr kt_corr ranks# frank_ties# orank_ties# me± estdev± mbias~ mae~
		mse~ bcmse~ rmse~ e10~ e25~ e50~ e75~ e90~ eiqr~ mad~ anom_corr± me2~ msess~ rmsfa~ rmsoa~ anom_corr_uncntr~ si~`),
	newLineType("VCNT", "continuous statistics of vectors", `
		total# fbar~ obar~ fs_rms~ os_rms~ msve~ rmsve~ fstdev~ ostdev~ fdir~ odir~ fbar_speed~ obar_speed~ vdiff_speed~
		vdiff_dir~ speed_err~ speed_abserr~ dir_err~ dir_abserr~ anom_corr± anom_corr_uncntr~ total_dir# dir_me~ dir_mae~
		dir_mse~ dir_rmse~`),
	newLineType("NBRCTC", "neighborhood contingency table counts", "total# fy_oy fy_on fn_oy fn_on"),
	newLineType("NBRCTS", "neighborhood contingency table statistics", `
		total# baser± fmean± acc± fbias~ pody± podn± pofd± far± csi± gss~ hk± hss~ odds± lodds± orss± eds± seds± edi± sedi±
		bagss~`),
	newLineType("NBRCNT", "neighborhood continuous statistics, e.g. the fractions skill score",
		"total# fbs~ fss~ afss~ ufss~ f_rate~ o_rate~"),
	newLineType("GRAD", "gradient statistics (S1 score)", "total# fgbar ogbar mgbar egbar s1 s1_og fgog_ratio *dx *dy"),
	newLineType("DMAP", "distance map statistics", `
		total# fy# oy# fbias baddeley hausdorff med_fo med_of med_min med_max med_mean fom_fo fom_of fom_min fom_max fom_mean
		zhu_fo zhu_of zhu_min zhu_max zhu_mean g gbeta beta_value`),
	newLineType("MPR", "matched pairs of forecast and observation", `
		total# *mp_index# *obs_sid$ *obs_lat *obs_lon *obs_lvl *obs_elv fcst obs obs_qc$ obs_climo_mean obs_climo_stdev
		obs_climo_cdf fcst_climo_mean fcst_climo_stdev`),
	newLineType("SEEPS", "stable equitable error in probability space",
		"total# odfl odfh olfd olfh ohfd ohfl pf1 pf2 pf3 pv1 pv2 pv3 mean_fcst mean_obs seeps"),
	newLineType("SEEPS_MPR", "matched pairs of SEEPS",
		"*obs_sid$ *obs_lat *obs_lon fcst obs obs_qc$ fcst_cat# obs_cat# p1 p2 t1 t2 seeps"),
	newLineType("ISC", "intensity-scale statistics",
		"total# *tile_dim# *tile_xll# *tile_yll# nscale# *iscale# mse isc fenergy2 oenergy2 baser fbias"),
	newLineType("SSIDX", "skill score index", "*fcst_model$ *ref_model$ n_init# n_term# n_vld# ss_index"),
	newLineType("GENMPR", "matched pairs of tropical cyclone genesis", `
		total# *gen_index# *storm_id$ *prob_lead# prob_val agen_init$ agen_fhr# agen_lat agen_lon agen_dland bgen_lat bgen_lon
		bgen_dland gen_dist gen_tdiff$ init_tdiff$ dev_cat$ ops_cat$`),
}
