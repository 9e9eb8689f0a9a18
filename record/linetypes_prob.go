package record

// probTypes are the line types of probability and ensemble forecasts.
var probTypes = []LineType{ //nolint:gochecknoglobals // a constant table
	newLineType("PCT", "contingency table counts of a probability forecast", "total# n_thresh#").
		withGroup(binnedGroup("n_thresh", "thresh_i", "oy_i", "on_i")),
	newLineType("PSTD", "statistics of a probability forecast", `
		total# n_thresh# baser baser_ncl baser_ncu reliability resolution uncertainty roc_auc brier brier_ncl brier_ncu
		briercl briercl_ncl briercl_ncu bss bss_smpl`).withGroup(repeatedGroup("n_thresh", "thresh_i")),
	newLineType("PJC", "joint and conditional factorization of a probability forecast", "total# n_thresh#").
		withGroup(binnedGroup("n_thresh",
			"thresh_i", "oy_tp_i", "on_tp_i", "calibration_i", "refinement_i", "likelihood_i", "baser_i")),
	newLineType("PRC", "receiver operating characteristic of a probability forecast", "total# n_thresh#").
		withGroup(binnedGroup("n_thresh", "thresh_i", "pody_i", "pofd_i")),
	newLineType("ECLV", "economic cost/loss relative value", "total# baser value_baser n_pts#").
		withGroup(repeatedGroup("n_pts", "x_pnt_i", "y_pnt_i")),
	newLineType("ECNT", "continuous statistics of an ensemble", `
		total# n_ens# crps crpss ign me rmse spread me_oerr rmse_oerr spread_oerr spread_plus_oerr crpscl crps_emp crpscl_emp
		crpss_emp crps_emp_fair spread_md mae mae_oerr bias_ratio n_ge_obs# me_ge_obs n_lt_obs# me_lt_obs ign_conv_oerr
		ign_corr_oerr`),
	newLineType("RPS", "ranked probability score", "total# n_prob# rps_rel rps_res rps_unc rps rpss rpss_smpl rps_comp"),
	newLineType("RHIST", "ranked histogram", "total# n_rank#").withGroup(repeatedGroup("n_rank", "rank_i")),
	newLineType("PHIST", "histogram of the probability integral transform", "total# bin_size n_bin#").
		withGroup(repeatedGroup("n_bin", "bin_i")),
	newLineType("RELP", "relative position of ensemble members", "total# n_ens#").
		withGroup(repeatedGroup("n_ens", "ens_i")),
	newLineType("ORANK", "rank of an observation in the ensemble", `
		total# *orank_index# *obs_sid$ *obs_lat *obs_lon *obs_lvl *obs_elv obs pit obs_rank# n_ens_vld# n_ens# obs_qc$
		ens_mean obs_climo_mean spread ens_mean_oerr spread_oerr spread_plus_oerr obs_climo_stdev fcst_climo_mean
		fcst_climo_stdev`).withGroupAfter(12, repeatedGroup("n_ens", "ens_i")),
	newLineType("SSVAR", "spread/skill, binned by ensemble variance", `
		total# n_bin# *bin_i# bin_n# var_min var_max var_mean fbar obar fobar ffbar oobar fbar_ncl fbar_ncu fstdev fstdev_ncl
		fstdev_ncu obar_ncl obar_ncu ostdev ostdev_ncl ostdev_ncu pr_corr pr_corr_ncl pr_corr_ncu me me_ncl me_ncu estdev
		estdev_ncl estdev_ncu mbias mse bcmse rmse`),
	newLineType("ENSCNT", "continuous statistics of an ensemble, from VSDB's RPS lines (no type of MET)",
		"rpsf rpscl rpss crpsf crpscl crpss"),
}
