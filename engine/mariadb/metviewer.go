package mariadb

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// The tables below are METviewer's interface: names and types of METviewer's schema, in its order
// (source: METdataio, METdbLoad, mv_mysql.sql).
//
// A line of columns has this notation: name = DOUBLE, name~ = DOUBLE DEFAULT -9999,
// name=0.5 = DOUBLE DEFAULT 0.5, name# = INT UNSIGNED, name% = INT, name%~ = INT DEFAULT -9999,
// name:32 = VARCHAR(32), name@ = DATETIME, name? = TINYINT(1), each with ! = NOT NULL. first..last
// are columns of the line type as in records: texts of 32 letters, counts INT UNSIGNED, numbers
// DOUBLE; first..last~ have DEFAULT -9999.

// metviewerLines are the columns of line_data_<type> after the columns that all types have
// (line_data_id comes before those).
var metviewerLines = map[string]string{ //nolint:gochecknoglobals // a constant table
	"CNT":  "alpha total..ranks frank_ties% orank_ties% me..e90_bcu iqr..si_bcu~",
	"CTC":  "total# fy_oy# fy_on# fn_oy# fn_on# ec_value=0.5",
	"CTS":  "alpha total..odds_bcu lodds..hss_ec_bcu~ ec_value=0.5",
	"DMAP": "alpha total# fy% oy% fbias..beta_value",
	"ECLV": "line_data_id# total..n_pnt",
	"ECNT": "total# n_ens% crps..crpss_emp crps_emp_fair~ spread_md mae~ mae_oerr bias_ratio n_ge_obs% me_ge_obs n_lt_obs% me_lt_obs",
	"ENSCNT": `
		rpsf~ rpsf_ncl~ rpsf_ncu~ rpsf_bcl~ rpsf_bcu~ rpscl~ rpscl_ncl~ rpscl_ncu~ rpscl_bcl~ rpscl_bcu~
		rpss~ rpss_ncl~ rpss_ncu~ rpss_bcl~ rpss_bcu~ crpsf~ crpsf_ncl~ crpsf_ncu~ crpsf_bcl~ crpsf_bcu~
		crpscl~ crpscl_ncl~ crpscl_ncu~ crpscl_bcl~ crpscl_bcu~ crpss~ crpss_ncl~ crpss_ncu~ crpss_bcl~ crpss_bcu~`,
	"FHO":    "total..o_rate",
	"GRAD":   "total..s1 s1_og~ fgog_ratio~ dx%~ dy%~",
	"ISC":    "total# tile_dim time_xll tile_yll nscale iscale mse..fbias",
	"MCTC":   "line_data_id# total# n_cat# ec_value~",
	"MCTS":   "alpha total..ger_bcu hss_ec..ec_value~",
	"MPR":    "total..mpr_obs mpr_climo obs_qc..climo_cdf",
	"NBRCNT": "alpha total..fss_bcu afss..o_rate_bcu~",
	"NBRCTC": "cov_thresh:32 total# fy_oy# fy_on# fn_oy# fn_on#",
	"NBRCTS": "cov_thresh:32 alpha total..odds_bcu lodds..bagss_bcu~",
	"ORANK": `
		line_data_id# total# orank_index# obs_sid:64 obs_lat:64 obs_lon:64 obs_lvl:64 obs_elv:64 obs pit obs_rank% n_ens_vld..obs_qc
		ens_mean..climo_stdev~`,
	"PCT":       "line_data_id# cov_thresh:32 total# n_thresh#",
	"PERC":      "fcst_perc obs_perc",
	"PHIST":     "line_data_id# total..n_bin",
	"PJC":       "line_data_id# cov_thresh:32 total# n_thresh#",
	"PRC":       "line_data_id# cov_thresh:32 total# n_thresh#",
	"PSTD":      "line_data_id# cov_thresh:32 alpha total..brier_ncu briercl..bss_smpl~",
	"RELP":      "line_data_id# total# n_ens#",
	"RHIST":     "line_data_id# total# n_rank#",
	"RPS":       "alpha total# n_prob% rps_rel..rps_comp",
	"SAL1L2":    "total..ooabar mae~",
	"SEEPS":     "total..seeps",
	"SEEPS_MPR": "obs_sid..seeps",
	"SL1L2":     "total..oobar mae~",
	"SSIDX":     "alpha fcst_model:40 ref_model:40 n_init..v_vld ss_index~",
	"SSVAR":     "alpha total..rmse",
	"VAL1L2":    "total..uvooabar fa_speed_bar~ oa_speed_bar~",
	"VCNT":      "alpha total..dir_abserr_bcu anom_corr..anom_corr_uncntr_bcu~",
	"VL1L2":     "total..uvoobar f_speed_bar~ o_speed_bar~",
}

// metviewerChildren are the columns of the tables of repeating columns, line_data_<name>.
var metviewerChildren = map[string]string{ //nolint:gochecknoglobals // a constant table
	"mctc_cnt": "fi_oj#!", "pct_thresh": "thresh_i oy_i# on_i#", "pstd_thresh": "thresh_i",
	"pjc_thresh": "thresh_i oy_tp_i on_tp_i calibration_i refinement_i likelihood_i baser_i",
	"prc_thresh": "thresh_i pody_i pofd_i", "rhist_rank": "rank_i#", "relp_ens": "ens_i",
	"eclv_pnt": "x_pnt_i y_pnt_i", "phist_bin": "bin_i#", "orank_ens": "ens_i",
}

// metviewerHeader are the columns of stat_header; interp_pnts is a number.
const metviewerHeader = "version:8 model:80 descr:40='NA' fcst_var:50 fcst_units:100='NA' fcst_lev:100 " +
	"obs_var:50 obs_units:100='NA' obs_lev:100 obtype:20 vx_mask:100 interp_mthd:20 interp_pnts# fcst_thresh:100 obs_thresh:100"

// metviewerNames are METviewer's names of columns whose names differ from MET's.
var metviewerNames = map[string]map[string]string{ //nolint:gochecknoglobals // a constant table
	"CNT": {"kt_corr": "dt_corr", "eiqr": "iqr", "eiqr_bcl": "iqr_bcl", "eiqr_bcu": "iqr_bcu"},
	"MPR": {
		"fcst": "mpr_fcst", "obs": "mpr_obs", "obs_climo_mean": "climo_mean", "obs_climo_stdev": "climo_stdev",
		"obs_climo_cdf": "climo_cdf",
	},
	"ISC":   {"tile_xll": "time_xll"},
	"ECLV":  {"n_pts": "n_pnt"},
	"ORANK": {"obs_climo_mean": "climo_mean", "obs_climo_stdev": "climo_stdev"},
	"SSIDX": {"n_vld": "v_vld"},
	"SEEPS": {"odfl": "s12", "odfh": "s13", "olfd": "s21", "olfh": "s23", "ohfd": "s31", "ohfl": "s32"},
}

// metviewerFiles are the rows of data_file_lu, numbered from 0: name and description.
var metviewerFiles = [...]string{ //nolint:gochecknoglobals // a constant table
	"point_stat|point_stat: forecasts at observation points", "grid_stat|grid_stat: forecasts on a grid",
	"mode_cts|mode: contingency tables", "mode_obj|mode: objects and pairs of objects",
	"wavelet_stat|wavelet_stat: intensity-scale comparison", "ensemble_stat|ensemble_stat: ensembles",
	"vsdb_point_stat|VSDB files", "stat|stat: all line types", "mtd_2d|mtd: 2D objects by time",
	"mtd_3d_pc|mtd: pairs of 3D clusters", "mtd_3d_ps|mtd: pairs of 3D objects", "mtd_3d_sc|mtd: 3D clusters",
	"mtd_3d_ss|mtd: 3D objects", "tcst|tc_stat",
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
	boolean
)

// metCol is one of METviewer's columns.
type metCol struct {
	name         string
	kind         kind
	width        int    // of a varchar, characters
	defaultValue string // DEFAULT
	notNull      bool
}

// sqlType writes the type as in DDL.
func (c *metCol) sqlType() string {
	text := [...]string{"", "DOUBLE", "INT UNSIGNED", "INT", "VARCHAR(" + strconv.Itoa(c.width) + ")", "DATETIME", "TINYINT(1)"}[c.kind]
	if c.defaultValue != "" {
		text += " DEFAULT " + c.defaultValue
	}
	if c.notNull {
		text += " NOT NULL"
	}
	return text
}

// parseColumns parses a line of columns. lineType is needed if the line names columns by the first
// and the last.
func parseColumns(text, lineType string) []metCol {
	var out []metCol
	for word := range strings.FieldsSeq(text) {
		if first, last, ok := strings.Cut(word, ".."); ok {
			out = append(out, columnsOf(lineType, first, last)...)
			continue
		}
		c := metCol{name: word, kind: double}
		c.name, c.notNull = strings.CutSuffix(c.name, "!")
		if name, ok := strings.CutSuffix(c.name, "~"); ok {
			c.name, c.defaultValue = name, "-9999"
		}
		if name, value, ok := strings.Cut(c.name, "="); ok {
			c.name, c.defaultValue = name, value
		}
		// A name has at most one of these suffixes.
		for k, suffix := range map[kind]string{unsigned: "#", signed: "%", datetime: "@", boolean: "?"} {
			if name, ok := strings.CutSuffix(c.name, suffix); ok {
				c.name, c.kind = name, k
			}
		}
		if name, width, ok := strings.Cut(c.name, ":"); ok {
			c.name, c.kind = name, varchar
			c.width, _ = strconv.Atoi(width) // a constant table
		}
		out = append(out, c)
	}
	return out
}

// columnsOf returns METviewer's columns for the columns first to last of a line type.
func columnsOf(lineType, first, last string) (out []metCol) {
	last, missing := strings.CutSuffix(last, "~")
	t, _ := record.TypeByName(lineType) // a constant table
	for _, c := range t.Columns {
		kinds := [...]kind{record.Float: double, record.Count: unsigned, record.Text: varchar}
		m := metCol{name: cmp.Or(metviewerNames[lineType][c.Name], c.Name), kind: kinds[c.Kind], width: 32}
		if missing {
			m.defaultValue = "-9999"
		}
		if m.name == first || out != nil {
			out = append(out, m)
		}
		if m.name == last {
			break
		}
	}
	return out
}

// stdColumns are the columns of all line tables.
func stdColumns(lineType string) []metCol {
	lead := " fcst_lead%"
	if lineType == "ENSCNT" {
		lead = " fcst_lead#"
	}
	return parseColumns("stat_header_id#! data_file_id#! line_num#"+lead+
		" fcst_valid_beg@ fcst_valid_end@ fcst_init_beg@ obs_lead# obs_valid_beg@ obs_valid_end@", "")
}

// rowColumn is Barograph's column that numbers the rows of a table without line_data_id. It is
// invisible: only queries that name it see it.
const rowColumn = "barograph_row"

// repeatsColumn contains the repeating columns of a record unchanged.
const repeatsColumn = "barograph_repeats"

// createMetviewer returns the statements that create METviewer's tables in a database. db is its quoted name and
// a dot. Tables of repeating columns are first: the existence of a line table means that its type is complete.
func (d *database) createMetviewer(db string) []string {
	create, end := "CREATE TABLE IF NOT EXISTS "+db, "\n) ENGINE = "+d.engine+" CHARACTER SET = latin1"
	out := []string{
		create + "data_file_lu (data_file_lu_id INT UNSIGNED NOT NULL, type_name VARCHAR(32), type_desc VARCHAR(128),\n" +
			"  PRIMARY KEY (data_file_lu_id)" + end,
		create + "data_file (data_file_id INT UNSIGNED NOT NULL, data_file_lu_id INT UNSIGNED NOT NULL, filename VARCHAR(110), " +
			"path VARCHAR(120),\n  load_date DATETIME, mod_date DATETIME, PRIMARY KEY (data_file_id), " +
			"CONSTRAINT data_file_unique_pk UNIQUE INDEX (filename, path), INDEX stat_header_data_file_lu_id_pk (data_file_lu_id)" + end,
		create + "metadata (category VARCHAR(30) NOT NULL DEFAULT '', description VARCHAR(300) NOT NULL DEFAULT ''" + d.metadataKey() + end,
		create + "instance_info (instance_info_id INT UNSIGNED NOT NULL, updater VARCHAR(64), update_date DATETIME, " +
			"update_detail VARCHAR(2048),\n  load_xml TEXT, PRIMARY KEY (instance_info_id)" + end,
		create + "model_fcst_lead_offset (model VARCHAR(64), fcst_lead_offset INT, PRIMARY KEY (model)" + end,
		create + "stat_header (stat_header_id INT UNSIGNED NOT NULL" + headerDDL() + end,
	}
	for name, columns := range metviewerChildren {
		keys := "line_data_id, i_value"
		if name == "mctc_cnt" {
			keys += ", j_value"
		}
		columns = strings.ReplaceAll(keys+",", ",", "#!") + " " + columns
		out = append(out, create+"line_data_"+name+" ("+columnsDDL(columns, ", ")+", PRIMARY KEY ("+keys+")"+end)
	}
	for name := range metviewerLines {
		out = append(out, d.lineDDL(db, "line_data_"+strings.ToLower(name), name)+end)
	}
	for _, t := range metviewerObjects {
		cols := []string{columnsDDL(t.columns, ",\n  ")}
		switch keyed := strings.Contains(t.keys, "PRIMARY"); {
		case d.engine == innoDB && !keyed:
			cols = append(cols, d.rowDDL())
		case isView(t.name):
			cols = append(cols, rowColumn+" BIGINT UNSIGNED INVISIBLE")
		}
		out = append(out, create+t.name+" (\n  "+strings.Join(cols, ",\n  ")+",\n  "+t.keys+end)
	}
	out = append(out, create+ownHeader+" (stat_header_id INT UNSIGNED NOT NULL"+headerDDL()+end)
	for _, t := range record.Types() {
		if !hasTable(t) {
			out = append(out, d.lineDDL(db, tableOf(t), t.Name)+end)
		}
	}
	return out
}

// hasTable reports whether METviewer has a table for the lines of a type in this form. It has none
// for GENMPR, nor for objects and cyclones; see objectViews.
func hasTable(t *record.LineType) bool { return metviewerLines[t.Name] != "" }

// columnsDDL returns the definitions of the columns of a line of columns.
func columnsDDL(columns, separator string) string {
	return flavour.Join(parseColumns(columns, ""), separator, func(c metCol) string { return c.name + " " + c.sqlType() })
}

func headerDDL() string {
	return ",\n  " + columnsDDL(metviewerHeader, ",\n  ") + ",\n  PRIMARY KEY (stat_header_id),\n" +
		"  INDEX stat_header_unique_pk (model, fcst_var(20), fcst_lev(10), obs_var(20), obs_lev(10), obtype(10), " +
		"vx_mask(20), interp_mthd, interp_pnts, fcst_thresh(20), obs_thresh(20))"
}

// lineDDL returns the definition of the table of a line type, up to the storage engine. Barograph's
// columns are last and invisible.
func (d *database) lineDDL(db, table, lineType string) string {
	var cols []string
	own := lists.Filter(parseColumns(metviewerLines[lineType], lineType), func(c metCol) bool { return c.name != idOfLines })
	t, ok := record.TypeByName(lineType) // only METviewer has PERC
	id := ok && hasLineID(t)
	if id {
		cols = append(cols, "line_data_id INT UNSIGNED NOT NULL")
	}
	cols = append(cols, lists.Map(append(stdColumns(lineType), own...), func(c metCol) string { return c.name + " " + c.sqlType() })...)
	if id {
		cols = append(cols, "PRIMARY KEY (line_data_id)", repeatsColumn+" LONGTEXT CHARACTER SET ascii INVISIBLE")
	} else {
		cols = append(cols, d.rowDDL())
	}
	cols = append(cols, "INDEX stat_header_id_idx (stat_header_id)", "INDEX "+fileKey(table)+" (data_file_id)")
	return "CREATE TABLE IF NOT EXISTS " + db + table + " (\n  " + strings.Join(cols, ",\n  ")
}

// fileKey returns METviewer's name of the index of a line table by files.
func fileKey(table string) string {
	switch table {
	case "line_data_sal1l2":
		return "line_data_sal2l1_data_file_id_pk"
	case "line_data_enscnt":
		return "line_data_enscnt_file_id_pk"
	}
	return table + "_data_file_id_pk"
}

// rowDDL defines the column that numbers the rows of a table without line_data_id. In InnoDB it is
// the primary key that METviewer's tables lack: it orders the rows, and identifies them in a
// cluster.
func (d *database) rowDDL() string {
	if d.engine == innoDB {
		return rowColumn + " BIGINT UNSIGNED NOT NULL AUTO_INCREMENT INVISIBLE PRIMARY KEY"
	}
	return rowColumn + " BIGINT UNSIGNED INVISIBLE"
}

// metadataKey adds a primary key to METviewer's table metadata in InnoDB.
func (d *database) metadataKey() string {
	if d.engine == innoDB {
		return ", " + d.rowDDL()
	}
	return ""
}

// furtherIndexes returns the statements of apply_indexes.
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

// childTable returns the table of a line table's repeating columns, and its columns; "" = none.
func childTable(lines string) (name string, columns []metCol) {
	for child, text := range metviewerChildren {
		if of, _, _ := strings.Cut(child, "_"); lines == "line_data_"+of {
			return "line_data_" + child, parseColumns(text, "")
		}
	}
	return "", nil
}
