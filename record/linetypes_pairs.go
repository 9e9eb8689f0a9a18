package record

// pairTypes are the line types of deterministic forecasts: partial sums, contingency
// tables, continuous, neighborhood and matched-pair lines.
var pairTypes = []LineType{ //nolint:gochecknoglobals // a constant table
	{Name: "SL1L2", Summary: "scalar partial sums", Columns: columns("total# fbar obar fobar ffbar oobar mae")},
	{Name: "SAL1L2", Summary: "scalar anomaly partial sums",
		Columns: columns("total# fabar oabar foabar ffabar ooabar mae")},
	{Name: "VL1L2", Summary: "vector partial sums", Columns: columns(`
		total# ufbar vfbar uobar vobar uvfobar uvffbar uvoobar f_speed_bar o_speed_bar total_dir# dir_me dir_mae dir_mse`)},
	{Name: "VAL1L2", Summary: "vector anomaly partial sums", Columns: columns(`
		total# ufabar vfabar uoabar voabar uvfoabar uvffabar uvooabar fa_speed_bar oa_speed_bar total_dir# dira_me dira_mae
		dira_mse`)},
	{Name: "FHO", Summary: "forecast, hit and observation rates", Columns: columns("total# f_rate h_rate o_rate")},
	{Name: "CTC", Summary: "contingency table counts", Columns: columns("total# fy_oy fy_on fn_oy fn_on ec_value")},
	{Name: "CTS", Summary: "contingency table statistics", Columns: columns(`
		total# baser± fmean± acc± fbias~ pody± podn± pofd± far± csi± gss~ hk± hss~ odds± lodds± orss± eds± seds± edi± sedi±
		bagss~ hss_ec~ ec_value`)},
	{Name: "MCTC", Summary: "multi-category contingency table counts", Columns: columns("total# n_cat# ec_value"),
		ColumnsBeforeGroup: 2, Group: squareGroup("n_cat", "fi_oj")},
	{Name: "MCTS", Summary: "multi-category contingency table statistics",
		Columns: columns("total# n_cat# acc± hk~ hss~ ger~ hss_ec~ ec_value")},
	{Name: "CNT", Summary: "continuous statistics", Columns: columns(`
		total# fbar± fstdev± obar± ostdev± pr_corr± sp_corr kt_corr ranks# frank_ties# orank_ties# me± estdev± mbias~ mae~
		mse~ bcmse~ rmse~ e10~ e25~ e50~ e75~ e90~ eiqr~ mad~ anom_corr± me2~ msess~ rmsfa~ rmsoa~ anom_corr_uncntr~ si~`)},
	{Name: "VCNT", Summary: "continuous statistics of vectors", Columns: columns(`
		total# fbar~ obar~ fs_rms~ os_rms~ msve~ rmsve~ fstdev~ ostdev~ fdir~ odir~ fbar_speed~ obar_speed~ vdiff_speed~
		vdiff_dir~ speed_err~ speed_abserr~ dir_err~ dir_abserr~ anom_corr± anom_corr_uncntr~ total_dir# dir_me~ dir_mae~
		dir_mse~ dir_rmse~`)},
	{Name: "NBRCTC", Summary: "neighborhood contingency table counts", Columns: columns("total# fy_oy fy_on fn_oy fn_on")},
	{Name: "NBRCTS", Summary: "neighborhood contingency table statistics", Columns: columns(`
		total# baser± fmean± acc± fbias~ pody± podn± pofd± far± csi± gss~ hk± hss~ odds± lodds± orss± eds± seds± edi± sedi±
		bagss~`)},
	{Name: "NBRCNT", Summary: "neighborhood continuous statistics, e.g. the fractions skill score",
		Columns: columns("total# fbs~ fss~ afss~ ufss~ f_rate~ o_rate~")},
	{Name: "GRAD", Summary: "gradient statistics (S1 score)",
		Columns: columns("total# fgbar ogbar mgbar egbar s1 s1_og fgog_ratio *dx *dy")},
	{Name: "DMAP", Summary: "distance map statistics", Columns: columns(`
		total# fy# oy# fbias baddeley hausdorff med_fo med_of med_min med_max med_mean fom_fo fom_of fom_min fom_max fom_mean
		zhu_fo zhu_of zhu_min zhu_max zhu_mean g gbeta beta_value`)},
	{Name: "MPR", Summary: "matched pairs of forecast and observation", Columns: columns(`
		total# *mp_index# *obs_sid$ *obs_lat *obs_lon *obs_lvl *obs_elv fcst obs obs_qc$ obs_climo_mean obs_climo_stdev
		obs_climo_cdf fcst_climo_mean fcst_climo_stdev`)},
	{Name: "SEEPS", Summary: "stable equitable error in probability space",
		Columns: columns("total# odfl odfh olfd olfh ohfd ohfl pf1 pf2 pf3 pv1 pv2 pv3 mean_fcst mean_obs seeps")},
	{Name: "SEEPS_MPR", Summary: "matched pairs of SEEPS",
		Columns: columns("*obs_sid$ *obs_lat *obs_lon fcst obs obs_qc$ fcst_cat# obs_cat# p1 p2 t1 t2 seeps")},
	{Name: "ISC", Summary: "intensity-scale statistics",
		Columns: columns("total# *tile_dim# *tile_xll# *tile_yll# nscale# *iscale# mse isc fenergy2 oenergy2 baser fbias")},
	{Name: "SSIDX", Summary: "skill score index",
		Columns: columns("*fcst_model$ *ref_model$ n_init# n_term# n_vld# ss_index")},
	{Name: "GENMPR", Summary: "matched pairs of tropical cyclone genesis", Columns: columns(`
		total# *gen_index# *storm_id$ *prob_lead# prob_val agen_init$ agen_fhr# agen_lat agen_lon agen_dland bgen_lat bgen_lon
		bgen_dland gen_dist gen_tdiff$ init_tdiff$ dev_cat$ ops_cat$`)},
}
