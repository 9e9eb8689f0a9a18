package metstat

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/barograph/barograph/record"
)

// GSI's diagnostics have MPR lines with further columns, all named.
func TestFurtherNamedColumns(t *testing.T) {
	const mpr = " TOTAL INDEX OBS_SID OBS_LAT OBS_LON OBS_LVL OBS_ELV FCST OBS OBS_QC "
	head := strings.TrimSpace(head24) + mpr
	for _, c := range []struct{ name, head, tail, left string }{
		{"as MET 12 has it", head + "OBS_CLIMO_MEAN OBS_CLIMO_STDEV OBS_CLIMO_CDF FCST_CLIMO_MEAN FCST_CLIMO_STDEV OBS_PRS QC_WGHT", "MPR 1 0 X 2 3 4 5 6 7 2 NA NA NA NA NA 8 nine", "OBS_PRS QC_WGHT"},
		{"as MET 11 has it", head + "CLIMO_MEAN CLIMO_STDEV CLIMO_CDF OBS_PRS A B C", "V11.0 MPR 1 0 X 2 3 4 5 6 7 2 NA NA NA 8 word word word", "OBS_PRS A B C"},
		{"twin", head + "OBS_CLIMO_MEAN OBS_CLIMO_STDEV OBS_CLIMO_CDF FCST_CLIMO_MEAN FCST_CLIMO_STDEV", "MPR 1 0 X 2 3 4 5 6 7 2 NA NA NA NA NA", ""},
		{"as MET 11 has it, with as many columns as MET 12", head + "CLIMO_MEAN CLIMO_STDEV CLIMO_CDF OBS_PRS QC_WGHT", "V11.0 MPR 1 0 X 2 3 4 5 6 7 2 NA NA NA 8 9", "OBS_PRS QC_WGHT"},
		{"not named", head24, "MPR 1 0 X 2 3 4 5 6 7 2 NA NA NA NA NA 8", "-"},
		{"more than named", head + "A B C D E F", "MPR 1 0 X 2 3 4 5 6 7 2 NA NA NA NA NA 8 9", "-"},
		{"others before the known", strings.TrimSpace(head24) + " A" + mpr + "B C D E F", "MPR 1 1 0 X 2 3 4 5 6 7 2 NA NA NA NA", "-"},
	} {
		b := readAll(t, strings.TrimSpace(c.head)+"\n"+lineOf(c.tail), 0)[0]
		if stored := c.left != "-"; stored != (b.Len() == 1) || stored && c.left != "" != (b.OmittedColumns[c.left] == 1) {
			t.Errorf("%s: %d stored, left out %v, rejects %v", c.name, b.Len(), b.OmittedColumns, b.Rejects)
		} else if stored && (num(t, b, "obs") != 7 || num(t, b, "obs_lon") != 3) {
			t.Errorf("%s: %v", c.name, b.Num)
		}
	}
}

// namesOf returns the names of the columns of record 0, as in record's table.
func namesOf(b *record.Batch) []string {
	lt, names := b.Type, []string{}
	for _, c := range lt.Columns {
		names = append(names, strings.ToUpper(c.Name))
	}
	if lt.Group == nil {
		return names
	}
	group := []string{}
	for i := range b.Repeats(0) {
		k := len(lt.Group.Fields)
		group = append(group, fmt.Sprint(strings.ToUpper(strings.TrimSuffix(lt.Group.Fields[i%k], "i")), i/k+1))
	}
	return slices.Concat(names[:lt.ColumnsBeforeGroup], group, names[lt.ColumnsBeforeGroup:])
}

// namesByMET returns the names of the columns of record 0, as in MET's table of line type b.Type: "TOTAL (N_RANK)
// RANK_[0-9]*".
func namesByMET(b *record.Batch, table string) (names []string) {
	words := strings.Fields(strings.NewReplacer("(", "", ")", "").Replace(table))
	repeats := func(word string) bool { return strings.Contains(word, "[0-9]*") }
	first := slices.IndexFunc(words, repeats)
	if first < 0 {
		return words
	}
	fixed := slices.DeleteFunc(slices.Clone(words), repeats)
	group, k := words[first:first+len(words)-len(fixed)], len(words)-len(fixed)
	for i := range b.Repeats(0) {
		names = append(names, strings.ReplaceAll(group[i%k], "[0-9]*", strconv.Itoa(i/k+1)))
	}
	return slices.Concat(fixed[:first], names, fixed[first:])
}

// TestFurtherNamedColumnsOfEveryType: in lines of any type, the reader omits and counts further columns that are named.
func TestFurtherNamedColumnsOfEveryType(t *testing.T) {
	for _, lt := range record.Types() {
		if lt.Name != vsdbOnly {
			b := random(lt, 1, 4)
			furtherNamedColumns(t, b, namesOf(b))
		}
	}
}

// TestFurtherColumnsAfterMETsNames: the same, with the names in MET's table of columns.
func TestFurtherColumnsAfterMETsNames(t *testing.T) {
	text := string(load(t, filepath.Join(dataDir(t), "met", "met_column_defs_v12.txt")))
	types := 0
	for line := range strings.Lines(text) {
		kind, table, ok := strings.Cut(line, " LINE_TYPE ")
		if f := strings.Fields(kind); ok && f[2] == "STAT" {
			lt, _ := record.TypeByName(strings.Trim(f[4], ": "))
			b := random(lt, 1, 5)
			furtherNamedColumns(t, b, namesByMET(b, table))
			types++
		}
	}
	if types != 34 {
		t.Errorf("%d types", types)
	}
}

func furtherNamedColumns(t *testing.T, b *record.Batch, names []string) {
	t.Helper()
	lt := b.Type
	line := strings.TrimSpace(string(AppendLine(nil, b, 0)))
	head := strings.TrimSpace(head24) + " " + strings.Join(names, " ")
	var want, got record.Hasher
	want.SetBatch(b)
	for _, c := range []struct{ name, head, line, left string }{
		{"none", head, line, ""},
		{"two", head + " N_USE WORD", line + " 1 cloudy", "N_USE WORD"},
	} {
		r := readAll(t, c.head+"\n"+c.line+"\n", 0)[0]
		if r.Len() != 1 {
			t.Errorf("%s, %s: %v", lt.Name, c.name, r.Rejects)
			continue
		}
		got.SetBatch(r)
		if got.Digest(0) != want.Digest(0) || c.left != "" && r.OmittedColumns[c.left] != 1 || c.left == "" && len(r.OmittedColumns) > 0 {
			t.Errorf("%s, %s: left out %v", lt.Name, c.name, r.OmittedColumns)
		}
	}
	if lt.Group == nil || len(lt.Columns) == lt.ColumnsBeforeGroup {
		return
	}
	// The count is larger by one than the header line's: the reader cannot know which columns are further ones.
	tok := strings.Fields(line)
	at := len(commonColumns) + slices.IndexFunc(lt.Columns, func(c record.Column) bool { return c.Name == lt.Group.Count })
	n, _ := strconv.Atoi(tok[at])
	tok[at] = strconv.Itoa(n + 1)
	if r := readAll(t, head+" N_USE WORD\n"+strings.Join(tok, " ")+" 1 1\n", 0); r[0].Len() != 0 {
		t.Errorf("%s: a line with more repeating columns than are named is stored", lt.Name)
	}
}
