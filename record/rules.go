package record

import (
	"fmt"
	"math"
	"strings"
)

// Rule is the set of values that MET's documentation allows in a numeric column. Readers of VSDB
// and MET quarantine a line with a value that violates the rule of its column. A missing value
// (NaN) is always allowed.
type Rule struct {
	Min, Max float64
	Integer  bool
	Allowed  string // describes an allowed value: "a number from 0 to 1"
}

// MaxCount is the largest count. Above it, a float64 does not distinguish neighboring integers.
const MaxCount = 1<<53 - 1

// Accepts reports whether v is missing or obeys the rule.
func (r *Rule) Accepts(v float64) bool {
	return !(v < r.Min || v > r.Max) && (!r.Integer || v == math.Trunc(v) || math.IsNaN(v))
}

// Violation is the reason for quarantining a line. value is the text of the column, or its number
// if the format uses another text.
func (r *Rule) Violation(column, value string) string {
	return fmt.Sprintf("column %s: %s is not %s", column, value, r.Allowed)
}

// Rules that ruleOf uses. The rule "finite" is used if a limit would be a guess, or if MET itself exceeds it: bcmse by
// rounding, orss (real lines have 1.01966), thresh_i of ensembles (-0.07143), interest (-1), and the columns of
// cyclones, in which -99 means unknown.
var (
	count  = Rule{0, MaxCount, true, "a count: a whole number from 0 to 9007199254740991"} //nolint:gochecknoglobals // a constant
	finite = Rule{-math.MaxFloat64, math.MaxFloat64, false, "a finite number"}             //nolint:gochecknoglobals // a constant
)

// rules is the table of value rules for VSDB and MET: every numeric column and every repeating
// column of every line type by its name, or by TYPE.name if a type uses the name for something
// else. A Count that the table does not list has the rule of a count. Limits of confidence
// intervals must be finite: those of the normal approximation may be outside the range of their
// statistic.
// Source: MET User's Guide 12.0, the tables of columns of each tool, and appendix C, which gives
// the range of each statistic.
var rules = func() map[string]*Rule { //nolint:gochecknoglobals // a constant table
	var (
		integer     = Rule{-MaxCount, MaxCount, true, "a whole number from -9007199254740991 to 9007199254740991"}
		caseCount   = Rule{0, MaxCount, false, "a number of cases, from 0 to 9007199254740991"}
		nonNegative = Rule{0, math.MaxFloat64, false, "a finite number that is not negative"}
		probability = Rule{0, 1, false, "a number from 0 to 1"}
		percent     = Rule{0, 100, false, "a number from 0 to 100"}
		correlation = Rule{-1, 1, false, "a number from -1 to 1"}
		atMostOne   = Rule{-math.MaxFloat64, 1, false, "a finite number of at most 1"} // a skill score has no lower limit
		latitude    = Rule{-90, 90, false, "a latitude from -90 to 90"}
		longitude   = Rule{-360, 360, false, "a longitude from -360 to 360"}
	)
	byName := map[string]*Rule{}
	for _, r := range []struct {
		rule    *Rule
		columns string
	}{
		{&integer, `tile_xll tile_yll iscale fcst_t_beg fcst_t_end obs_t_beg obs_t_end t_delta rirw_beg rirw_end agen_fhr`},
		{&caseCount, `fy_oy fy_on fn_oy fn_on fi_oj oy_i on_i rank_i PHIST.bin_i RELP.ens_i`},
		{&nonNegative, `
			ffbar oobar mae ffabar ooabar uvffbar uvoobar f_speed_bar o_speed_bar uvffabar uvooabar dir_mae dir_mse dira_mae dira_mse
			fbias odds fstdev ostdev estdev mse rmse eiqr mad me2 rmsfa rmsoa
			VCNT.fbar VCNT.obar fs_rms os_rms msve rmsve fbar_speed obar_speed vdiff_speed speed_abserr dir_abserr dir_rmse
			fbs fgbar ogbar mgbar egbar s1 s1_og fgog_ratio
			baddeley hausdorff med_fo med_of med_min med_max med_mean zhu_fo zhu_of zhu_min zhu_max zhu_mean g beta_value
			obs_climo_stdev fcst_climo_stdev seeps fenergy2 oenergy2 gen_dist
			reliability resolution uncertainty crps crpscl crps_emp crpscl_emp spread_md mae_oerr rmse_oerr
			spread spread_oerr spread_plus_oerr rps_rel rps_res rps_unc rps var_min var_max var_mean
			grid_res length width MODE_OBJ_SINGLE.area area_thresh centroid_dist boundary_dist convex_hull_dist angle_diff aspect_diff
			area_ratio intersection_area union_area symmetric_diff intersection_over_area
			volume cdist_travelled space_centroid_dist volume_ratio intersection_volume
			tk_err track_spread track_stdev mslp_stdev max_wind_stdev`},
		{&probability, `
			f_rate h_rate o_rate ec_value baser fmean acc pody podn pofd far csi fss afss ufss fom_fo fom_of fom_min fom_max fom_mean
			gbeta obs_climo_cdf pf1 pf2 pf3 pv1 pv2 pv3 p1 p2 oy_tp_i on_tp_i calibration_i refinement_i likelihood_i
			baser_i pody_i pofd_i roc_auc brier briercl x_pnt_i bin_size pit`},
		{&percent, `prob_i prob_val`},
		{&correlation, `gss hk eds pr_corr sp_corr kt_corr anom_corr anom_corr_uncntr ger`},
		{&atMostOne, `hss hss_ec seds edi sedi msess bss bss_smpl value_baser y_pnt_i crpss crpss_emp rpss rpss_smpl rps_comp`},
		{&latitude, `obs_lat agen_lat bgen_lat centroid_lat alat blat`},
		{&longitude, `obs_lon agen_lon bgen_lon centroid_lon alon blon`},
		{&finite, `
			fbar obar fobar fabar oabar foabar ufbar vfbar uobar vobar uvfobar dir_me ufabar vfabar uoabar voabar uvfoabar
			fa_speed_bar oa_speed_bar dira_me lodds orss bagss me mbias bcmse e10 e25 e50 e75 e90 si fdir odir vdiff_dir speed_err dir_err
			dx dy obs_lvl obs_elv fcst obs obs_climo_mean fcst_climo_mean odfl odfh olfd olfh ohfd ohfl mean_fcst mean_obs t1 t2
			isc ss_index agen_dland bgen_dland thresh_i interest ign me_oerr crps_emp_fair bias_ratio me_ge_obs me_lt_obs
			ign_conv_oerr ign_corr_oerr ens_i ens_mean ens_mean_oerr rpsf rpscl crpsf
			centroid_x centroid_y axis_ang curvature curvature_x curvature_y complexity intensity_10 intensity_25 intensity_50
			intensity_75 intensity_90 intensity_nn intensity_sum curvature_ratio complexity_ratio percentile_intensity_ratio
			centroid_t x_dot y_dot start_time end_time time_centroid_delta axis_diff speed_delta direction_diff start_time_delta
			end_time_delta duration_diff x_err y_err altk_err crtk_err adland bdland adir bdir value_i bdelta bdelta_max
			amslp bmslp amax_wind bmax_wind aal_wind_34 bal_wind_34 ane_wind_34 bne_wind_34 ase_wind_34 bse_wind_34
			asw_wind_34 bsw_wind_34 anw_wind_34 bnw_wind_34 aal_wind_50 bal_wind_50 ane_wind_50 bne_wind_50 ase_wind_50
			bse_wind_50 asw_wind_50 bsw_wind_50 anw_wind_50 bnw_wind_50 aal_wind_64 bal_wind_64 ane_wind_64 bne_wind_64
			ase_wind_64 bse_wind_64 asw_wind_64 bsw_wind_64 anw_wind_64 bnw_wind_64 aradp bradp arrp brrp amrd bmrd
			agusts bgusts aeye beye aspeed bspeed awind_end bwind_beg bwind_end
			MTD_2D_OBJ.area MTD_2D_OBJ.centroid_lat MTD_2D_OBJ.centroid_lon`}, // of MTD's revisions: differences
	} {
		for name := range strings.FieldsSeq(r.columns) {
			byName[name] = r.rule
		}
	}
	return byName
}()

// ruleOf finds the rule of a column of a line type; nil if the table has none.
func ruleOf(lineType, column string, k Kind) *Rule {
	if r, ok := rules[lineType+"."+column]; ok {
		return r
	}
	if r, ok := rules[column]; ok {
		return r
	}
	if k == Count {
		return &count
	}
	for _, limit := range [...]string{"_ncl", "_ncu", "_bcl", "_bcu"} {
		if strings.HasSuffix(column, limit) {
			return &finite
		}
	}
	return nil
}
