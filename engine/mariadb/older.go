package mariadb

import (
	"context"
	"slices"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/sqlengine"
)

// compareSchema compares the tables with METviewer 5.1's schema. It records the tables and columns that an
// older schema lacks, which repair adds, and returns all other differences.
func (s *adoption) compareSchema() (differences []string) {
	var columns, tables []string
	compare := func(table string, must, may []metCol) {
		if s.tables[table] == nil {
			tables = append(tables, table)
			return
		}
		for _, c := range slices.Concat(must, may) {
			switch {
			case slices.Contains(s.tables[table], c.name):
			case slices.Contains(may, c) && !c.notNull && c.name != idOfLines:
				columns = append(columns, table+"."+c.name)
			default:
				differences = append(differences, table+" lacks "+c.name)
			}
		}
		for _, name := range s.tables[table] {
			isKnown := slices.ContainsFunc(slices.Concat(must, may), func(c metCol) bool { return c.name == name })
			if !isKnown && !strings.HasPrefix(name, "barograph_") {
				differences = append(differences, table+" also has "+name)
			}
		}
	}
	compare(sqlengine.FileTable, parseColumns("data_file_id data_file_lu_id filename path load_date mod_date", ""), nil)
	compare(design.HeaderTable, parseColumns("stat_header_id", ""), parseColumns(metviewerHeader, ""))
	for name, own := range metviewerLines {
		compare("line_data_"+strings.ToLower(name), stdColumns(name), parseColumns(own, name))
	}
	for name, own := range metviewerChildren {
		keys := "line_data_id i_value "
		if name == "mctc_cnt" {
			keys += "j_value "
		}
		parent, _, _ := strings.Cut(name, "_")
		if s.tables["line_data_"+name] == nil && s.tables["line_data_"+parent] != nil {
			differences = append(differences, "line_data_"+parent+" lacks its line_data_"+name)
		}
		compare("line_data_"+name, parseColumns(keys+own, ""), nil)
	}
	for _, t := range metviewerObjects {
		compare(t.name, nil, parseColumns(t.columns, ""))
	}
	for _, name := range [...]string{"data_file_lu", "metadata", "instance_info", "model_fcst_lead_offset"} {
		if s.tables[name] == nil {
			tables = append(tables, name)
		}
	}
	s.tally.list(lacksTable, tables)
	s.tally.list(lacksColumn, columns)
	return differences
}

// unindexed records the tables of lines without an index by files, as in older schemas.
func (s *adoption) unindexed(ctx context.Context) error {
	tables, err := sqlengine.QueryTexts(ctx, s.pool, "SELECT c.table_name FROM information_schema.columns c "+
		"WHERE c.table_schema = ? AND LOCATE('line_data_', c.table_name) = 1 AND c.column_name = 'data_file_id' AND "+
		"NOT EXISTS (SELECT 1 FROM information_schema.statistics i WHERE i.table_schema = c.table_schema AND "+
		"i.table_name = c.table_name AND i.column_name = 'data_file_id' AND i.seq_in_index = 1)", s.result.Database)
	s.tally.list(lacksIndex, tables)
	return err
}

// existingColumns returns those of some columns that a table has. tables are the columns of all tables of a database.
func existingColumns(tables map[string][]string, table string, cols []metCol) []metCol {
	return slices.DeleteFunc(cols, func(c metCol) bool { return !slices.Contains(tables[table], c.name) })
}
