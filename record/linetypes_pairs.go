package record

// pairTypes are the line types of deterministic forecasts: partial sums, contingency
// tables, continuous, neighborhood and matched-pair lines.
var pairTypes = []*LineType{ //nolint:gochecknoglobals // a constant table
	LineType{
		Name: "SL1L2", Summary: "scalar partial sums",
		Columns: columns("total# fbar obar fobar ffbar oobar mae"),
	}.index(),
	LineType{
		Name: "SAL1L2", Summary: "scalar anomaly partial sums",
		Columns: columns("total# fabar oabar foabar ffabar ooabar mae"),
	}.index(),
	LineType{
		Name: "VL1L2", Summary: "vector partial sums",
		Columns: columns("total# ufbar vfbar uobar vobar uvfobar uvffbar uvoobar f_speed_bar o_speed_bar total_dir# dir_me dir_mae dir_mse"),
	}.index(),
	LineType{
		Name: "VAL1L2", Summary: "vector anomaly partial sums",
		Columns: columns(`
			total# ufabar vfabar uoabar voabar uvfoabar uvffabar uvooabar fa_speed_bar oa_speed_bar total_dir# dira_me dira_mae
			dira_mse`),
	}.index(),
	LineType{
		Name: "FHO", Summary: "forecast, hit and observation rates",
		Columns: columns("total# f_rate h_rate o_rate"),
	}.index(),
	LineType{
		Name: "CTC", Summary: "contingency table counts",
		Columns: columns("total# fy_oy fy_on fn_oy fn_on ec_value"),
	}.index(),
	LineType{
		Name: "CTS", Summary: "contingency table statistics",
		Columns: columns(`
			total# baser baser_ncl baser_ncu baser_bcl baser_bcu fmean fmean_ncl fmean_ncu fmean_bcl fmean_bcu acc acc_ncl acc_ncu
			acc_bcl acc_bcu fbias fbias_bcl fbias_bcu pody pody_ncl pody_ncu pody_bcl pody_bcu podn podn_ncl podn_ncu podn_bcl
			podn_bcu pofd pofd_ncl pofd_ncu pofd_bcl pofd_bcu far far_ncl far_ncu far_bcl far_bcu csi csi_ncl csi_ncu csi_bcl
			csi_bcu gss gss_bcl gss_bcu hk hk_ncl hk_ncu hk_bcl hk_bcu hss hss_bcl hss_bcu odds odds_ncl odds_ncu odds_bcl
			odds_bcu lodds lodds_ncl lodds_ncu lodds_bcl lodds_bcu orss orss_ncl orss_ncu orss_bcl orss_bcu eds eds_ncl eds_ncu
			eds_bcl eds_bcu seds seds_ncl seds_ncu seds_bcl seds_bcu edi edi_ncl edi_ncu edi_bcl edi_bcu sedi sedi_ncl sedi_ncu
			sedi_bcl sedi_bcu bagss bagss_bcl bagss_bcu hss_ec hss_ec_bcl hss_ec_bcu ec_value`),
	}.index(),
	LineType{
		Name: "MCTC", Summary: "multi-category contingency table counts",
		Columns: columns("total# n_cat# ec_value"), Lead: 2,
		Group: &Group{Count: "n_cat", Fields: []string{"fi_oj"}, Len: square},
	}.index(),
	LineType{
		Name: "MCTS", Summary: "multi-category contingency table statistics",
		Columns: columns(`
			total# n_cat# acc acc_ncl acc_ncu acc_bcl acc_bcu hk hk_bcl hk_bcu hss hss_bcl hss_bcu ger ger_bcl ger_bcu hss_ec
			hss_ec_bcl hss_ec_bcu ec_value`),
	}.index(),
	LineType{
		Name: "CNT", Summary: "continuous statistics",
		Columns: columns(`
			total# fbar fbar_ncl fbar_ncu fbar_bcl fbar_bcu fstdev fstdev_ncl fstdev_ncu fstdev_bcl fstdev_bcu obar obar_ncl
			obar_ncu obar_bcl obar_bcu ostdev ostdev_ncl ostdev_ncu ostdev_bcl ostdev_bcu pr_corr pr_corr_ncl pr_corr_ncu
			pr_corr_bcl pr_corr_bcu sp_corr kt_corr ranks# frank_ties# orank_ties# me me_ncl me_ncu me_bcl me_bcu estdev
			estdev_ncl estdev_ncu estdev_bcl estdev_bcu mbias mbias_bcl mbias_bcu mae mae_bcl mae_bcu mse mse_bcl mse_bcu bcmse
			bcmse_bcl bcmse_bcu rmse rmse_bcl rmse_bcu e10 e10_bcl e10_bcu e25 e25_bcl e25_bcu e50 e50_bcl e50_bcu e75 e75_bcl
			e75_bcu e90 e90_bcl e90_bcu eiqr eiqr_bcl eiqr_bcu mad mad_bcl mad_bcu anom_corr anom_corr_ncl anom_corr_ncu
			anom_corr_bcl anom_corr_bcu me2 me2_bcl me2_bcu msess msess_bcl msess_bcu rmsfa rmsfa_bcl rmsfa_bcu rmsoa rmsoa_bcl
			rmsoa_bcu anom_corr_uncntr anom_corr_uncntr_bcl anom_corr_uncntr_bcu si si_bcl si_bcu`),
	}.index(),
	LineType{
		Name: "VCNT", Summary: "continuous statistics of vectors",
		Columns: columns(`
			total# fbar fbar_bcl fbar_bcu obar obar_bcl obar_bcu fs_rms fs_rms_bcl fs_rms_bcu os_rms os_rms_bcl os_rms_bcu msve
			msve_bcl msve_bcu rmsve rmsve_bcl rmsve_bcu fstdev fstdev_bcl fstdev_bcu ostdev ostdev_bcl ostdev_bcu fdir fdir_bcl
			fdir_bcu odir odir_bcl odir_bcu fbar_speed fbar_speed_bcl fbar_speed_bcu obar_speed obar_speed_bcl obar_speed_bcu
			vdiff_speed vdiff_speed_bcl vdiff_speed_bcu vdiff_dir vdiff_dir_bcl vdiff_dir_bcu speed_err speed_err_bcl
			speed_err_bcu speed_abserr speed_abserr_bcl speed_abserr_bcu dir_err dir_err_bcl dir_err_bcu dir_abserr dir_abserr_bcl
			dir_abserr_bcu anom_corr anom_corr_ncl anom_corr_ncu anom_corr_bcl anom_corr_bcu anom_corr_uncntr anom_corr_uncntr_bcl
			anom_corr_uncntr_bcu total_dir# dir_me dir_me_bcl dir_me_bcu dir_mae dir_mae_bcl dir_mae_bcu dir_mse dir_mse_bcl
			dir_mse_bcu dir_rmse dir_rmse_bcl dir_rmse_bcu`),
	}.index(),
	LineType{
		Name: "NBRCTC", Summary: "neighborhood contingency table counts",
		Columns: columns("total# fy_oy fy_on fn_oy fn_on"),
	}.index(),
	LineType{
		Name: "NBRCTS", Summary: "neighborhood contingency table statistics",
		Columns: columns(`
			total# baser baser_ncl baser_ncu baser_bcl baser_bcu fmean fmean_ncl fmean_ncu fmean_bcl fmean_bcu acc acc_ncl acc_ncu
			acc_bcl acc_bcu fbias fbias_bcl fbias_bcu pody pody_ncl pody_ncu pody_bcl pody_bcu podn podn_ncl podn_ncu podn_bcl
			podn_bcu pofd pofd_ncl pofd_ncu pofd_bcl pofd_bcu far far_ncl far_ncu far_bcl far_bcu csi csi_ncl csi_ncu csi_bcl
			csi_bcu gss gss_bcl gss_bcu hk hk_ncl hk_ncu hk_bcl hk_bcu hss hss_bcl hss_bcu odds odds_ncl odds_ncu odds_bcl
			odds_bcu lodds lodds_ncl lodds_ncu lodds_bcl lodds_bcu orss orss_ncl orss_ncu orss_bcl orss_bcu eds eds_ncl eds_ncu
			eds_bcl eds_bcu seds seds_ncl seds_ncu seds_bcl seds_bcu edi edi_ncl edi_ncu edi_bcl edi_bcu sedi sedi_ncl sedi_ncu
			sedi_bcl sedi_bcu bagss bagss_bcl bagss_bcu`),
	}.index(),
	LineType{
		Name: "NBRCNT", Summary: "neighborhood continuous statistics, e.g. the fractions skill score",
		Columns: columns(`
			total# fbs fbs_bcl fbs_bcu fss fss_bcl fss_bcu afss afss_bcl afss_bcu ufss ufss_bcl ufss_bcu f_rate f_rate_bcl
			f_rate_bcu o_rate o_rate_bcl o_rate_bcu`),
	}.index(),
	LineType{
		Name: "GRAD", Summary: "gradient statistics (S1 score)",
		Columns: columns("total# fgbar ogbar mgbar egbar s1 s1_og fgog_ratio *dx *dy"),
	}.index(),
	LineType{
		Name: "DMAP", Summary: "distance map statistics",
		Columns: columns(`
			total# fy# oy# fbias baddeley hausdorff med_fo med_of med_min med_max med_mean fom_fo fom_of fom_min fom_max fom_mean
			zhu_fo zhu_of zhu_min zhu_max zhu_mean g gbeta beta_value`),
	}.index(),
	LineType{
		Name: "MPR", Summary: "matched pairs of forecast and observation",
		Columns: columns(`
			total# *mp_index# *obs_sid$ *obs_lat *obs_lon *obs_lvl *obs_elv fcst obs obs_qc$ obs_climo_mean obs_climo_stdev
			obs_climo_cdf fcst_climo_mean fcst_climo_stdev`),
	}.index(),
	LineType{
		Name: "SEEPS", Summary: "stable equitable error in probability space",
		Columns: columns("total# odfl odfh olfd olfh ohfd ohfl pf1 pf2 pf3 pv1 pv2 pv3 mean_fcst mean_obs seeps"),
	}.index(),
	LineType{
		Name: "SEEPS_MPR", Summary: "matched pairs of SEEPS",
		Columns: columns("*obs_sid$ *obs_lat *obs_lon fcst obs obs_qc$ fcst_cat# obs_cat# p1 p2 t1 t2 seeps"),
	}.index(),
	LineType{
		Name: "ISC", Summary: "intensity-scale statistics",
		Columns: columns("total# *tile_dim# *tile_xll# *tile_yll# nscale# *iscale# mse isc fenergy2 oenergy2 baser fbias"),
	}.index(),
	LineType{
		Name: "SSIDX", Summary: "skill score index",
		Columns: columns("*fcst_model$ *ref_model$ n_init# n_term# n_vld# ss_index"),
	}.index(),
	LineType{
		Name: "GENMPR", Summary: "matched pairs of tropical cyclone genesis",
		Columns: columns(`
			total# *gen_index# *storm_id$ *prob_lead# prob_val agen_init$ agen_fhr# agen_lat agen_lon agen_dland bgen_lat bgen_lon
			bgen_dland gen_dist gen_tdiff$ init_tdiff$ dev_cat$ ops_cat$`),
	}.index(),
}
