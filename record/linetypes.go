package record

import "strings"

// columns parses a compact list of column names: a trailing '#' marks a Count,
// '$' a Text, a leading '*' a column of the record's identity.
func columns(list string) []Column {
	var cols []Column
	for name := range strings.FieldsSeq(list) {
		var c Column
		name, c.Key = strings.CutPrefix(name, "*")
		switch name[len(name)-1] {
		case '#':
			c.Kind, name = Count, name[:len(name)-1]
		case '$':
			c.Kind, name = Text, name[:len(name)-1]
		}
		c.Name = name
		cols = append(cols, c)
	}
	return cols
}

// types is the table. Its column names are METviewer's (MET's in lower case),
// after MET's met_header_columns_V12.0.txt.
var types = []*LineType{ //nolint:gochecknoglobals // a constant table
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
		Columns: columns("total# ufabar vfabar uoabar voabar uvfoabar uvffabar uvooabar fa_speed_bar oa_speed_bar total_dir# dira_me dira_mae dira_mse"),
	}.index(),
}

var typeIndex = func() map[string]int { //nolint:gochecknoglobals // derived from the table
	m := make(map[string]int, len(types))
	for i, t := range types {
		m[t.Name] = i
	}
	return m
}()
