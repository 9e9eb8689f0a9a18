package mariadb

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/barograph/barograph/record"
)

// The tables below are METviewer's interface: names and types as METviewer's
// schema has them, in its order (spec: METdataio, METdbLoad, mv_mysql.sql).
//
// A line of columns reads: name = DOUBLE, name~ = DOUBLE DEFAULT -9999,
// name=0.5 = DOUBLE DEFAULT 0.5, name# = INT UNSIGNED, name% = INT,
// name%~ = INT DEFAULT -9999, name:32 = VARCHAR(32).

// metviewerLines are the columns of line_data_<type> after those that all
// types have (line_data_id stands before them).
var metviewerLines = map[string]string{ //nolint:gochecknoglobals // a constant table
	"FHO": "total# f_rate h_rate o_rate",
	"CTS": `
		alpha total# baser baser_ncl baser_ncu baser_bcl baser_bcu fmean fmean_ncl fmean_ncu fmean_bcl fmean_bcu acc acc_ncl
		acc_ncu acc_bcl acc_bcu fbias fbias_bcl fbias_bcu pody pody_ncl pody_ncu pody_bcl pody_bcu podn podn_ncl podn_ncu
		podn_bcl podn_bcu pofd pofd_ncl pofd_ncu pofd_bcl pofd_bcu far far_ncl far_ncu far_bcl far_bcu csi csi_ncl csi_ncu
		csi_bcl csi_bcu gss gss_bcl gss_bcu hk hk_ncl hk_ncu hk_bcl hk_bcu hss hss_bcl hss_bcu odds odds_ncl odds_ncu odds_bcl
		odds_bcu lodds~ lodds_ncl~ lodds_ncu~ lodds_bcl~ lodds_bcu~ orss~ orss_ncl~ orss_ncu~ orss_bcl~ orss_bcu~ eds~ eds_ncl~
		eds_ncu~ eds_bcl~ eds_bcu~ seds~ seds_ncl~ seds_ncu~ seds_bcl~ seds_bcu~ edi~ edi_ncl~ edi_ncu~ edi_bcl~ edi_bcu~ sedi~
		sedi_ncl~ sedi_ncu~ sedi_bcl~ sedi_bcu~ bagss~ bagss_bcl~ bagss_bcu~ hss_ec~ hss_ec_bcl~ hss_ec_bcu~ ec_value=0.5`,
	"CNT": `
		alpha total# fbar fbar_ncl fbar_ncu fbar_bcl fbar_bcu fstdev fstdev_ncl fstdev_ncu fstdev_bcl fstdev_bcu obar obar_ncl
		obar_ncu obar_bcl obar_bcu ostdev ostdev_ncl ostdev_ncu ostdev_bcl ostdev_bcu pr_corr pr_corr_ncl pr_corr_ncu
		pr_corr_bcl pr_corr_bcu sp_corr dt_corr ranks# frank_ties% orank_ties% me me_ncl me_ncu me_bcl me_bcu estdev estdev_ncl
		estdev_ncu estdev_bcl estdev_bcu mbias mbias_bcl mbias_bcu mae mae_bcl mae_bcu mse mse_bcl mse_bcu bcmse bcmse_bcl
		bcmse_bcu rmse rmse_bcl rmse_bcu e10 e10_bcl e10_bcu e25 e25_bcl e25_bcu e50 e50_bcl e50_bcu e75 e75_bcl e75_bcu e90
		e90_bcl e90_bcu iqr~ iqr_bcl~ iqr_bcu~ mad~ mad_bcl~ mad_bcu~ anom_corr~ anom_corr_ncl~ anom_corr_ncu~ anom_corr_bcl~
		anom_corr_bcu~ me2~ me2_bcl~ me2_bcu~ msess~ msess_bcl~ msess_bcu~ rmsfa~ rmsfa_bcl~ rmsfa_bcu~ rmsoa~ rmsoa_bcl~
		rmsoa_bcu~ anom_corr_uncntr~ anom_corr_uncntr_bcl~ anom_corr_uncntr_bcu~ si~ si_bcl~ si_bcu~`,
	"ECNT": `
		total# n_ens% crps crpss ign me rmse spread me_oerr rmse_oerr spread_oerr spread_plus_oerr crpscl crps_emp crpscl_emp
		crpss_emp crps_emp_fair~ spread_md mae~ mae_oerr bias_ratio n_ge_obs% me_ge_obs n_lt_obs% me_lt_obs`,
	"MCTS": `
		alpha total# n_cat# acc acc_ncl acc_ncu acc_bcl acc_bcu hk hk_bcl hk_bcu hss hss_bcl hss_bcu ger ger_bcl ger_bcu hss_ec~
		hss_ec_bcl~ hss_ec_bcu~ ec_value~`,
	"PCT": "line_data_id# cov_thresh:32 total# n_thresh#",
	"PSTD": `
		line_data_id# cov_thresh:32 alpha total# n_thresh# baser baser_ncl baser_ncu reliability resolution uncertainty roc_auc
		brier brier_ncl brier_ncu briercl~ briercl_ncl~ briercl_ncu~ bss~ bss_smpl~`,
	"PJC":    "line_data_id# cov_thresh:32 total# n_thresh#",
	"PRC":    "line_data_id# cov_thresh:32 total# n_thresh#",
	"SL1L2":  "total# fbar obar fobar ffbar oobar mae~",
	"GRAD":   "total# fgbar ogbar mgbar egbar s1 s1_og~ fgog_ratio~ dx%~ dy%~",
	"SAL1L2": "total# fabar oabar foabar ffabar ooabar mae~",
	"VL1L2":  "total# ufbar vfbar uobar vobar uvfobar uvffbar uvoobar f_speed_bar~ o_speed_bar~",
	"VAL1L2": "total# ufabar vfabar uoabar voabar uvfoabar uvffabar uvooabar fa_speed_bar~ oa_speed_bar~",
	"MPR": `
		total# mp_index# obs_sid:32 obs_lat obs_lon obs_lvl obs_elv mpr_fcst mpr_obs mpr_climo obs_qc:32 climo_mean climo_stdev
		climo_cdf`,
	"NBRCTS": `
		cov_thresh:32 alpha total# baser baser_ncl baser_ncu baser_bcl baser_bcu fmean fmean_ncl fmean_ncu fmean_bcl fmean_bcu
		acc acc_ncl acc_ncu acc_bcl acc_bcu fbias fbias_bcl fbias_bcu pody pody_ncl pody_ncu pody_bcl pody_bcu podn podn_ncl
		podn_ncu podn_bcl podn_bcu pofd pofd_ncl pofd_ncu pofd_bcl pofd_bcu far far_ncl far_ncu far_bcl far_bcu csi csi_ncl
		csi_ncu csi_bcl csi_bcu gss gss_bcl gss_bcu hk hk_ncl hk_ncu hk_bcl hk_bcu hss hss_bcl hss_bcu odds odds_ncl odds_ncu
		odds_bcl odds_bcu lodds~ lodds_ncl~ lodds_ncu~ lodds_bcl~ lodds_bcu~ orss~ orss_ncl~ orss_ncu~ orss_bcl~ orss_bcu~ eds~
		eds_ncl~ eds_ncu~ eds_bcl~ eds_bcu~ seds~ seds_ncl~ seds_ncu~ seds_bcl~ seds_bcu~ edi~ edi_ncl~ edi_ncu~ edi_bcl~
		edi_bcu~ sedi~ sedi_ncl~ sedi_ncu~ sedi_bcl~ sedi_bcu~ bagss~ bagss_bcl~ bagss_bcu~`,
	"NBRCNT": `
		alpha total# fbs fbs_bcl fbs_bcu fss fss_bcl fss_bcu afss~ afss_bcl~ afss_bcu~ ufss~ ufss_bcl~ ufss_bcu~ f_rate~
		f_rate_bcl~ f_rate_bcu~ o_rate~ o_rate_bcl~ o_rate_bcu~`,
	"ENSCNT": `
		rpsf~ rpsf_ncl~ rpsf_ncu~ rpsf_bcl~ rpsf_bcu~ rpscl~ rpscl_ncl~ rpscl_ncu~ rpscl_bcl~ rpscl_bcu~ rpss~ rpss_ncl~
		rpss_ncu~ rpss_bcl~ rpss_bcu~ crpsf~ crpsf_ncl~ crpsf_ncu~ crpsf_bcl~ crpsf_bcu~ crpscl~ crpscl_ncl~ crpscl_ncu~
		crpscl_bcl~ crpscl_bcu~ crpss~ crpss_ncl~ crpss_ncu~ crpss_bcl~ crpss_bcu~`,
	"ISC":   "total# tile_dim time_xll tile_yll nscale iscale mse isc fenergy2 oenergy2 baser fbias",
	"RHIST": "line_data_id# total# n_rank#",
	"RELP":  "line_data_id# total# n_ens#",
	"ECLV":  "line_data_id# total# baser value_baser n_pnt#",
	"PHIST": "line_data_id# total# bin_size n_bin#",
	"ORANK": `
		line_data_id# total# orank_index# obs_sid:64 obs_lat:64 obs_lon:64 obs_lvl:64 obs_elv:64 obs pit obs_rank% n_ens_vld#
		n_ens# obs_qc:32 ens_mean~ climo_mean~ spread~ ens_mean_oerr~ spread_oerr~ spread_plus_oerr~ climo_stdev~`,
	"SSVAR": `
		alpha total# n_bin# bin_i# bin_n# var_min var_max var_mean fbar obar fobar ffbar oobar fbar_ncl fbar_ncu fstdev
		fstdev_ncl fstdev_ncu obar_ncl obar_ncu ostdev ostdev_ncl ostdev_ncu pr_corr pr_corr_ncl pr_corr_ncu me me_ncl me_ncu
		estdev estdev_ncl estdev_ncu mbias mse bcmse rmse`,
	"VCNT": `
		alpha total# fbar fbar_bcl fbar_bcu obar obar_bcl obar_bcu fs_rms fs_rms_bcl fs_rms_bcu os_rms os_rms_bcl os_rms_bcu
		msve msve_bcl msve_bcu rmsve rmsve_bcl rmsve_bcu fstdev fstdev_bcl fstdev_bcu ostdev ostdev_bcl ostdev_bcu fdir fdir_bcl
		fdir_bcu odir odir_bcl odir_bcu fbar_speed fbar_speed_bcl fbar_speed_bcu obar_speed obar_speed_bcl obar_speed_bcu
		vdiff_speed vdiff_speed_bcl vdiff_speed_bcu vdiff_dir vdiff_dir_bcl vdiff_dir_bcu speed_err speed_err_bcl speed_err_bcu
		speed_abserr speed_abserr_bcl speed_abserr_bcu dir_err dir_err_bcl dir_err_bcu dir_abserr dir_abserr_bcl dir_abserr_bcu
		anom_corr~ anom_corr_ncl~ anom_corr_ncu~ anom_corr_bcl~ anom_corr_bcu~ anom_corr_uncntr~ anom_corr_uncntr_bcl~
		anom_corr_uncntr_bcu~`,
	"SSIDX": "alpha fcst_model:40 ref_model:40 n_init# n_term# v_vld# ss_index~",
	"PERC":  "fcst_perc obs_perc",
	"DMAP": `
		alpha total# fy% oy% fbias baddeley hausdorff med_fo med_of med_min med_max med_mean fom_fo fom_of fom_min fom_max
		fom_mean zhu_fo zhu_of zhu_min zhu_max zhu_mean g gbeta beta_value`,
	"RPS":       "alpha total# n_prob% rps_rel rps_res rps_unc rps rpss rpss_smpl rps_comp",
	"SEEPS":     "total# s12 s13 s21 s23 s31 s32 pf1 pf2 pf3 pv1 pv2 pv3 mean_fcst mean_obs seeps",
	"SEEPS_MPR": "obs_sid:32 obs_lat obs_lon fcst obs obs_qc:32 fcst_cat# obs_cat# p1 p2 t1 t2 seeps",
	"CTC":       "total# fy_oy# fy_on# fn_oy# fn_on# ec_value=0.5",
	"NBRCTC":    "cov_thresh:32 total# fy_oy# fy_on# fn_oy# fn_on#",
	"MCTC":      "line_data_id# total# n_cat# ec_value~",
}

// metviewerChildren are the tables of repeating columns: line_data_<name>.
var metviewerChildren = map[string]string{ //nolint:gochecknoglobals // a constant table
	"mctc_cnt":    "fi_oj#",
	"pct_thresh":  "thresh_i oy_i# on_i#",
	"pstd_thresh": "thresh_i",
	"pjc_thresh":  "thresh_i oy_tp_i on_tp_i calibration_i refinement_i likelihood_i baser_i",
	"prc_thresh":  "thresh_i pody_i pofd_i",
	"rhist_rank":  "rank_i#",
	"relp_ens":    "ens_i",
	"eclv_pnt":    "x_pnt_i y_pnt_i",
	"phist_bin":   "bin_i#",
	"orank_ens":   "ens_i",
}

// metviewerHeader are the columns of stat_header, with interp_pnts a number.
const metviewerHeader = "version:8 model:80 descr:40 fcst_var:50 fcst_units:100 fcst_lev:100 obs_var:50 obs_units:100 obs_lev:100 " +
	"obtype:20 vx_mask:100 interp_mthd:20 interp_pnts# fcst_thresh:100 obs_thresh:100"

// metviewerNames are the columns that METviewer names otherwise than MET.
var metviewerNames = map[string]map[string]string{ //nolint:gochecknoglobals // a constant table
	"CNT":   {"kt_corr": "dt_corr", "eiqr": "iqr", "eiqr_bcl": "iqr_bcl", "eiqr_bcu": "iqr_bcu"},
	"MPR":   {"fcst": "mpr_fcst", "obs": "mpr_obs", "obs_climo_mean": "climo_mean", "obs_climo_stdev": "climo_stdev", "obs_climo_cdf": "climo_cdf"},
	"ISC":   {"tile_xll": "time_xll"},
	"ECLV":  {"n_pts": "n_pnt"},
	"ORANK": {"obs_climo_mean": "climo_mean", "obs_climo_stdev": "climo_stdev"},
	"SSIDX": {"n_vld": "v_vld"},
	"SEEPS": {"odfl": "s12", "odfh": "s13", "olfd": "s21", "olfh": "s23", "ohfd": "s31", "ohfl": "s32"},
}

// metviewerFiles are the rows of data_file_lu, numbered from 0.
var metviewerFiles = [...][2]string{ //nolint:gochecknoglobals // a constant table
	{"point_stat", "point_stat: forecasts at observation points"},
	{"grid_stat", "grid_stat: forecasts on a grid"},
	{"mode_cts", "mode: contingency tables"},
	{"mode_obj", "mode: objects and pairs of objects"},
	{"wavelet_stat", "wavelet_stat: intensity-scale comparison"},
	{"ensemble_stat", "ensemble_stat: ensembles"},
	{"vsdb_point_stat", "VSDB files"},
	{"stat", "stat: all line types"},
	{"mtd_2d", "mtd: 2D objects by time"},
	{"mtd_3d_pc", "mtd: pairs of 3D clusters"},
	{"mtd_3d_ps", "mtd: pairs of 3D objects"},
	{"mtd_3d_sc", "mtd: 3D clusters"},
	{"mtd_3d_ss", "mtd: 3D objects"},
	{"tcst", "tc_stat"},
}

// kind is the type of one of METviewer's columns.
type kind uint8

const (
	none     kind = iota // METviewer has no such column
	double               // a missing value is -9999
	unsigned             // a missing value is NULL
	signed               // a missing value is -9999
	varchar
	datetime
)

// metCol is one of METviewer's columns.
type metCol struct {
	name    string
	kind    kind
	width   int    // of a varchar, characters
	ordinal string // DEFAULT
}

// sqlType writes the type as in DDL.
func (c *metCol) sqlType() string {
	text := [...]string{"", "DOUBLE", "INT UNSIGNED", "INT", "VARCHAR(" + strconv.Itoa(c.width) + ")", "DATETIME"}[c.kind]
	if c.ordinal != "" {
		text += " DEFAULT " + c.ordinal
	}
	return text
}

// parseColumns reads a line of columns.
func parseColumns(text string) []metCol {
	var out []metCol
	for word := range strings.FieldsSeq(text) {
		c := metCol{name: word, kind: double}
		if name, ok := strings.CutSuffix(c.name, "~"); ok {
			c.name, c.ordinal = name, "-9999"
		}
		if name, value, ok := strings.Cut(c.name, "="); ok {
			c.name, c.ordinal = name, value
		}
		if name, ok := strings.CutSuffix(c.name, "#"); ok {
			c.name, c.kind = name, unsigned
		}
		if name, ok := strings.CutSuffix(c.name, "%"); ok {
			c.name, c.kind = name, signed
		}
		if name, width, ok := strings.Cut(c.name, ":"); ok {
			c.name, c.kind = name, varchar
			c.width, _ = strconv.Atoi(width) // a constant table
		}
		out = append(out, c)
	}
	return out
}

// stdColumns are the columns that all line tables have.
func stdColumns(lineType string) []metCol {
	lead := signed
	if lineType == "ENSCNT" {
		lead = unsigned
	}
	return []metCol{
		{name: "stat_header_id", kind: unsigned},
		{name: "data_file_id", kind: unsigned},
		{name: "line_num", kind: unsigned},
		{name: "fcst_lead", kind: lead},
		{name: "fcst_valid_beg", kind: datetime},
		{name: "fcst_valid_end", kind: datetime},
		{name: "fcst_init_beg", kind: datetime},
		{name: "obs_lead", kind: unsigned},
		{name: "obs_valid_beg", kind: datetime},
		{name: "obs_valid_end", kind: datetime},
	}
}

// rowColumn is the column of ours that numbers the rows of a table without
// line_data_id. Nobody sees it who does not name it.
const rowColumn = "barograph_row"

// repeatsColumn holds the repeating columns of a record as they are.
const repeatsColumn = "barograph_repeats"

// createMetviewer lists the statements that make METviewer's tables in a
// database, quoted already, which ends in a dot.
func (d *database) createMetviewer(db string) []string {
	end := "\n) ENGINE = " + d.engine + " CHARACTER SET = latin1"
	out := []string{
		"CREATE TABLE IF NOT EXISTS " + db + "data_file_lu (data_file_lu_id INT UNSIGNED NOT NULL, type_name VARCHAR(32), type_desc VARCHAR(128),\n  PRIMARY KEY (data_file_lu_id)" + end,
		"CREATE TABLE IF NOT EXISTS " + db + "data_file (data_file_id INT UNSIGNED NOT NULL, data_file_lu_id INT UNSIGNED NOT NULL, filename VARCHAR(110), path VARCHAR(120),\n" +
			"  load_date DATETIME, mod_date DATETIME, PRIMARY KEY (data_file_id), CONSTRAINT data_file_unique_pk UNIQUE INDEX (filename, path)" + end,
		"CREATE TABLE IF NOT EXISTS " + db + "metadata (category VARCHAR(30) NOT NULL DEFAULT '', description VARCHAR(300) NOT NULL DEFAULT ''" + d.metadataKey() + end,
		"CREATE TABLE IF NOT EXISTS " + db + "instance_info (instance_info_id INT UNSIGNED NOT NULL, updater VARCHAR(64), update_date DATETIME, update_detail VARCHAR(2048),\n" +
			"  load_xml TEXT, PRIMARY KEY (instance_info_id)" + end,
		"CREATE TABLE IF NOT EXISTS " + db + "model_fcst_lead_offset (model VARCHAR(64), fcst_lead_offset INT, PRIMARY KEY (model)" + end,
		"CREATE TABLE IF NOT EXISTS " + db + "stat_header (stat_header_id INT UNSIGNED NOT NULL" + headerDDL() + end,
	}
	for name, columns := range metviewerChildren { // before the tables by which a type is known to be there
		keys := "line_data_id, i_value"
		var b strings.Builder
		b.WriteString("CREATE TABLE IF NOT EXISTS " + db + "line_data_" + name + " (line_data_id INT UNSIGNED NOT NULL, i_value INT UNSIGNED NOT NULL")
		null := ""
		if name == "mctc_cnt" {
			keys += ", j_value"
			null = " NOT NULL"
			b.WriteString(", j_value INT UNSIGNED NOT NULL")
		}
		for _, c := range parseColumns(columns) {
			b.WriteString(", " + c.name + " " + c.sqlType() + null)
		}
		out = append(out, b.String()+", PRIMARY KEY ("+keys+")"+end)
	}
	for name := range metviewerLines {
		out = append(out, d.lineDDL(db, "line_data_"+strings.ToLower(name), name)+end)
	}
	return append(out, d.lineDDL(db, genmprTable, genmpr)+end)
}

// genmpr is a line type that METviewer has no table for.
const (
	genmpr      = "GENMPR"
	genmprTable = "barograph_line_data_genmpr"
)

func headerDDL() string {
	var b strings.Builder
	for _, c := range parseColumns(metviewerHeader) {
		b.WriteString(",\n  " + c.name + " " + c.sqlType())
		if c.name == "descr" || c.name == "fcst_units" || c.name == "obs_units" {
			b.WriteString(" DEFAULT 'NA'")
		}
	}
	return b.String() + ",\n  PRIMARY KEY (stat_header_id),\n  INDEX stat_header_unique_pk (model, fcst_var(20), fcst_lev(10), obs_var(20), obs_lev(10), obtype(10), " +
		"vx_mask(20), interp_mthd, interp_pnts, fcst_thresh(20), obs_thresh(20))"
}

// lineDDL writes the table of a line type, up to the storage engine. The
// columns of ours come last and are invisible.
func (d *database) lineDDL(db, table, lineType string) string {
	var cols []string
	own := parseColumns(metviewerLines[lineType])
	id := lineType != genmpr && own[0].name == "line_data_id"
	if id {
		cols, own = append(cols, "line_data_id INT UNSIGNED NOT NULL"), own[1:]
	}
	for i, c := range append(stdColumns(lineType), own...) {
		null := ""
		if i < 2 {
			null = " NOT NULL"
		}
		cols = append(cols, c.name+" "+c.sqlType()+null)
	}
	if id {
		cols = append(cols, "PRIMARY KEY (line_data_id)", repeatsColumn+" LONGTEXT CHARACTER SET ascii INVISIBLE")
	} else {
		cols = append(cols, d.rowDDL())
	}
	cols = append(cols, "INDEX stat_header_id_idx (stat_header_id)")
	return "CREATE TABLE IF NOT EXISTS " + db + table + " (\n  " + strings.Join(cols, ",\n  ")
}

// rowDDL is the column that numbers the rows of a table without line_data_id.
// In InnoDB it is the key that METviewer's tables lack: the rows lie in its
// order, and a cluster tells by it which row is meant.
func (d *database) rowDDL() string {
	if d.engine == innoDB {
		return rowColumn + " BIGINT UNSIGNED NOT NULL AUTO_INCREMENT INVISIBLE PRIMARY KEY"
	}
	return rowColumn + " BIGINT UNSIGNED INVISIBLE"
}

// metadataKey gives METviewer's table metadata a key in InnoDB.
func (d *database) metadataKey() string {
	if d.engine == innoDB {
		return ", " + d.rowDDL()
	}
	return ""
}

// furtherIndexes are the statements of apply_indexes.
func (d *database) furtherIndexes(db string) []string {
	var out []string
	index := func(table, column string) {
		out = append(out, fmt.Sprintf("CREATE INDEX IF NOT EXISTS %s_%s_idx ON %s%s (%s)", table, column, db, table, column))
	}
	for _, c := range [...]string{"model", "fcst_var", "fcst_lev", "obtype", "vx_mask", "interp_mthd", "interp_pnts", "fcst_thresh"} {
		index("stat_header", c)
	}
	for name := range metviewerLines {
		for _, c := range [...]string{"fcst_lead", "fcst_valid_beg", "fcst_init_beg"} {
			index("line_data_"+strings.ToLower(name), c)
		}
	}
	return out
}

// hasLineID reports whether METviewer numbers the records of a type.
func hasLineID(t *record.LineType) bool { return t.Group != nil }

// childTable is the table of a type's repeating columns, and its columns.
func childTable(t *record.LineType) (name string, columns []metCol) {
	for child, text := range metviewerChildren {
		if of, _, _ := strings.Cut(child, "_"); of == strings.ToLower(t.Name) {
			return "line_data_" + child, parseColumns(text)
		}
	}
	return "", nil
}
