package metviewer

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/internal/fault"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s differs (rewrite with -update):\n%s", path, got)
	}
}

// TestLoadSpecGolden compares a load_spec, as it is read, with a golden file.
func TestLoadSpecGolden(t *testing.T) {
	s, err := ReadLoadSpec(filepath.Join("testdata", "load.xml"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\nindexes %v, stat %v, note %q\n", s.Connection, s.Indexes, !s.NoStat, s.Note)
	for _, f := range s.Folders() {
		fmt.Fprintln(&b, f)
	}
	for _, r := range s.Warnings {
		fmt.Fprintln(&b, "warning", r)
	}
	for _, r := range s.Ignored {
		fmt.Fprintln(&b, "set aside", r)
	}
	golden(t, "load.golden", b.String())
}

// TestPasswordIsNeverPrinted prints a load_spec in every way there is.
func TestPasswordIsNeverPrinted(t *testing.T) {
	s, err := ReadLoadSpec(filepath.Join("testdata", "load.xml"))
	if err != nil {
		t.Fatal(err)
	}
	if s.Connection.Password.Reveal() != "s3cret-word" {
		t.Fatal("the password was not read")
	}
	asJSON, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var logged strings.Builder
	slog.New(slog.NewTextHandler(&logged, nil)).Info("x", "c", s.Connection, "p", s.Connection.Password)
	for _, text := range []string{
		string(asJSON), logged.String(), s.Connection.Password.String(),
		fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %q %x %d", *s, *s, *s, s.Connection.Password, s.Connection.Password, s.Connection.Password),
	} {
		if strings.Contains(text, "s3cret") || strings.Contains(text, "733363726574") {
			t.Errorf("the password is printed: %s", text)
		}
	}
	if !strings.Contains(string(asJSON), hidden) {
		t.Error("the text does not show that there is a password")
	}
}

// TestRealLoadSpecs: all public load_specs are read except one, whose template has fields without
// values: METdbLoad stops there as well. Those whose template lacks a field of load_val name one
// folder, as for METdbLoad (dtcenter/MET#659).
func TestRealLoadSpecs(t *testing.T) {
	root := os.Getenv("BAROGRAPH_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "data")
	}
	files, _ := filepath.Glob(filepath.Join(root, "met", "load_xml", "*.xml"))
	if len(files) == 0 {
		t.Skip("no load_specs: set BAROGRAPH_DATA to a folder with met/load_xml")
	}
	if len(files) != 21 {
		t.Errorf("%d files, want 21", len(files))
	}
	for _, file := range files {
		s, err := ReadLoadSpec(file)
		if refused := strings.HasSuffix(file, "recursive_payload_fields.xml"); refused != (err != nil) {
			t.Errorf("%s: %v", file, err)
		}
		if err != nil {
			continue
		}
		lacking := 0
		for _, w := range s.Warnings {
			if strings.Contains(w.Text, "is not in folder_tmpl") {
				lacking++
			}
		}
		folders := s.Folders()
		if len(s.Files) == 0 && (len(folders) == 0 || strings.ContainsAny(folders[0], "{}")) || lacking > 0 && !strings.Contains(s.Template, "{") && len(folders) != 1 {
			t.Errorf("%s: folders %v, warnings %v", file, folders, s.Warnings)
		}
	}
}

// TestVariantsOfLoads: each feature of a load_spec by a small one that has it.
func TestVariantsOfLoads(t *testing.T) {
	dated := func(dates string) string {
		return `<date_list name="d">` + dates + `</date_list><folder_tmpl>/a/{m}/{day}</folder_tmpl><load_val><field name="m"><val>gfs</val><val>ecm</val></field><field name="day"><date_list name="d"/></field></load_val>`
	}
	today := time.Now().UTC().Format("20060102")
	for body, want := range map[string]string{
		dated("<start>20190101</start><end>20190102</end><inc>86400</inc><format>yyyyMMdd</format>"):                                     "[/a/gfs/20190101 /a/gfs/20190102 /a/ecm/20190101 /a/ecm/20190102]",
		dated("<start>2019010100V</start><end>2019010106V</end><inc>21600</inc><format>yyyyMMddHH'V'</format>"):                          "[/a/gfs/2019010100V /a/gfs/2019010106V /a/ecm/2019010100V /a/ecm/2019010106V]",
		dated("<start>2019010106V_06h</start><end>2019010112V_06h</end><inc>21600</inc><format>yyyyMMddHH'V_06h'</format>"):              "[/a/gfs/2019010106V_06h /a/gfs/2019010112V_06h /a/ecm/2019010106V_06h /a/ecm/2019010112V_06h]", // METviewer's own of 2010
		dated("<start>2019010106V_06h</start><end>2019010112V_03h</end><inc>21600</inc><format>yyyyMMddHH'V_06h'</format>"):              "no",
		dated("<start>201932</start><end>201933</end><inc>86400</inc><format>yyyyD</format>"):                                            "no",
		dated("<start>2019032</start><end>2019032</end><inc>86400</inc><format>yyyyD</format>"):                                          "[/a/gfs/2019032 /a/ecm/2019032]",
		dated("<start>2019010101</start><end>2019010102</end><inc>3600</inc><format>yyyyMMddhh</format>"):                                "[/a/gfs/2019010101 /a/gfs/2019010102 /a/ecm/2019010101 /a/ecm/2019010102]",
		dated("<start><date_offset><day_offset>0</day_offset></date_offset></start><end>20190102</end><inc>1</inc>"):                     "no", // no format
		`<folder_tmpl>/a</folder_tmpl><load_val><field name="x"><val>1</val></field></load_val>`:                                         "[/a]",
		`<folder_tmpl>/a/{x}</folder_tmpl><load_val><field name="x"><val>1</val></field><field name="x"><val>2</val></field></load_val>`: "[/a/1 /a/2]",
		`<folder_tmpl>/a</folder_tmpl><load_stat>yes</load_stat><apply_indexes>TRUE</apply_indexes><insert_size>many</insert_size><verbose>1</verbose>
			<stat_header_db_check>False</stat_header_db_check><force_dup_file>true</force_dup_file><drop_indexes>true</drop_indexes><load_mtd>false</load_mtd>`: "[/a] indexes",
		dated("<start><date_offset><day_offset>0</day_offset><hour>0</hour></date_offset></start><end><date_offset><day_offset>0</day_offset><hour>0</hour></date_offset></end><inc>86400</inc><format>yyyyMMdd</format>"): "[/a/gfs/" + today + " /a/ecm/" + today + "]",
	} {
		got := "no"
		if s, err := ParseLoadSpec("l.xml", []byte("<load_spec>"+body+"</load_spec>")); err == nil && !s.NoStat && !strings.Contains(fmt.Sprint(s.Warnings), "is not known") {
			if got = fmt.Sprint(s.Folders()); s.Indexes {
				got += " indexes"
			}
		}
		if got != want {
			t.Errorf("%s\n  %s, want\n  %s", body, got, want)
		}
	}
}

// TestIncludesFile: load_stat, load_mode and load_mtd exclude files by their names.
func TestIncludesFile(t *testing.T) {
	files := []string{"a/x.stat", "x.vsdb", "mode_cts.txt", "mode_obj.txt.gz", "mtd_2d.txt", "mtd_3d_single_simple.txt", "mtd_3D_pair_cluster.txt", "a.tcst"}
	for flags, want := range map[string]string{
		"":                             "a/x.stat x.vsdb mode_cts.txt mode_obj.txt.gz mtd_2d.txt mtd_3d_single_simple.txt mtd_3D_pair_cluster.txt a.tcst",
		"<load_stat>false</load_stat>": "mode_cts.txt mode_obj.txt.gz mtd_2d.txt mtd_3d_single_simple.txt mtd_3D_pair_cluster.txt a.tcst",
		"<load_mode>FALSE</load_mode>": "a/x.stat x.vsdb mtd_2d.txt mtd_3d_single_simple.txt mtd_3D_pair_cluster.txt a.tcst",
		"<load_mode>true</load_mode><load_mtd>false</load_mtd>":     "a/x.stat x.vsdb mode_cts.txt mode_obj.txt.gz a.tcst",
		"<load_stat>false</load_stat><load_mtd>nonsense</load_mtd>": "mode_cts.txt mode_obj.txt.gz mtd_2d.txt mtd_3d_single_simple.txt mtd_3D_pair_cluster.txt a.tcst",
	} {
		s, err := ParseLoadSpec("l.xml", []byte("<load_spec><folder_tmpl>/a</folder_tmpl>"+flags+"</load_spec>"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range files {
			if s.IncludesFile(f) {
				got = append(got, f)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q", flags, got)
		}
	}
}

// TestIncludes: line_type, load_mpr and load_orank.
func TestIncludes(t *testing.T) {
	const file = "<load_files><file>a.stat</file></load_files>"
	for body, want := range map[string]string{
		"": "SL1L2 CTC", "<load_mpr>true</load_mpr>": "SL1L2 CTC MPR", "<load_orank>True</load_orank>": "SL1L2 CTC ORANK",
		"<line_type><val>ctc</val><val>MPR</val></line_type>": "CTC", "<line_type><val>MPR</val></line_type><load_mpr>true</load_mpr>": "MPR",
	} {
		s, err := ParseLoadSpec("l.xml", []byte("<div>"+file+body+"</div>")) // METdbLoad looks at no name of the root
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, lineType := range []string{"SL1L2", "CTC", "MPR", "ORANK"} {
			if s.Includes(lineType) {
				got = append(got, lineType)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s takes %v, want %s", body, got, want)
		}
	}
	if _, err := ParseLoadSpec("l.xml", []byte("<plot_spec/>")); err == nil {
		t.Error("a plot_spec was loaded")
	}
}

// TestLoadSpecErrors: each error names the line and the field.
func TestLoadSpecErrors(t *testing.T) {
	for name, c := range map[string]struct {
		body  string
		line  int
		texts []string // of the message
	}{
		"template field without values": {"\n<folder_tmpl>/a/{model}/{cycle}</folder_tmpl>\n<load_val><field name=\"model\"><val>gfs</val></field></load_val>", 3, []string{"{cycle}"}},
		"no load_val at all":            {"<folder_tmpl>/a/{model}</folder_tmpl>", 2, []string{"{model}"}},
		"field without a value":         {"<folder_tmpl>/a/{m}</folder_tmpl>\n<load_val><field name=\"m\"/></load_val>", 3, []string{`"m"`, "no value"}},
		"brace left open":               {"<folder_tmpl>/a/{m</folder_tmpl>", 2, []string{"{"}},
		"brace closed only":             {"<folder_tmpl>/a/m}</folder_tmpl>", 2, []string{"}"}},
		"nothing to load":               {"<verbose>true</verbose>", 1, []string{"nothing to load"}},
		"date_list that is not there":   {"<folder_tmpl>/a/{m}</folder_tmpl>\n<load_val><field name=\"m\"><date_list name=\"d\"/></field></load_val>", 3, []string{`"d"`, "does not exist"}},
		"date that does not fit":        {"<folder_tmpl>/a/{m}</folder_tmpl><load_val><field name=\"m\"><date_list name=\"d\"/></field></load_val><date_list name=\"d\">\n<start>2019</start>\n<end>20190101</end><inc>1</inc><format>yyyyMMdd</format></date_list>", 3, []string{"start", "yyyyMMdd"}},
		"dates without a step":          {"<folder_tmpl>/a/{m}</folder_tmpl><load_val><field name=\"m\"><date_list name=\"d\"/></field></load_val><date_list name=\"d\"><start>20190101</start><end>20190101</end>\n<inc>0</inc><format>yyyyMMdd</format></date_list>", 3, []string{"seconds"}},
		"too many dates":                {"<folder_tmpl>/a/{m}</folder_tmpl><load_val><field name=\"m\"><date_list name=\"d\"/></field></load_val>\n<date_list name=\"d\"><start>1000</start><end>9999</end><inc>1</inc><format>yyyy</format></date_list>", 3, []string{"more than"}},
		"unknown letters":               {"<folder_tmpl>/a/{m}</folder_tmpl><load_val><field name=\"m\"><date_list name=\"d\"/></field></load_val><date_list name=\"d\"><start>1</start><end>2</end><inc>1</inc>\n<format>yyyyww</format></date_list>", 3, []string{"ww"}},
		"flag that is none":             {"<load_files><file>a.stat</file></load_files>\n<load_stat/>", 3, []string{"load_stat", "true"}},
		"not closed":                    {"<verbose>true", 2, []string{"well-formed"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ParseLoadSpec("l.xml", []byte("<load_spec>\n"+c.body+"</load_spec>"))
			f, ok := errors.AsType[*fault.Error](err)
			if !ok {
				t.Fatalf("error %v", err)
			}
			if f.Line != c.line || f.File != "l.xml" {
				t.Errorf("line %d, want %d: %v", f.Line, c.line, err)
			}
			for _, s := range c.texts {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%v does not contain %s", err, s)
				}
			}
		})
	}
}

func TestFilesWinOverTheTemplate(t *testing.T) {
	s, err := ParseLoadSpec("l.xml", []byte("<load_spec><load_files><file>a.stat</file><file> b.stat </file></load_files>\n<folder_tmpl>/x/{y}</folder_tmpl></load_spec>"))
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(s.Files) != "[a.stat b.stat]" || s.Folders() != nil || len(s.Warnings) != 1 || s.Warnings[0].Line != 2 {
		t.Errorf("%+v", s)
	}
}

func TestDates(t *testing.T) {
	for _, c := range []struct {
		start, end, inc, format string
		closed                  bool
		want                    string
	}{
		{"20190101", "20190103", "86400", "yyyyMMdd", true, "[20190101 20190102 20190103]"},
		{"2019010100", "2019010120", "43200", "yyyyMMddHH", true, "[2019010100 2019010112 2019010120]"}, // METdbLoad: the end is always there
		{"2019010100", "2019010120", "43200", "yyyyMMddHH", false, "[2019010100 2019010112]"},
		{"2019-02-28 00:00:00", "2019-03-01 00:00:00", "86400", "yyyy-MM-dd HH:mm:ss", false, "[2019-02-28 00:00:00 2019-03-01 00:00:00]"},
		{"2019/V01", "2019/V01", "1", "yyyy/'V'MM", true, "[2019/V01]"},
	} {
		n, err := parse("d.xml", fmt.Appendf(nil, `<date_list name="d"><start>%s</start><end>%s</end><inc>%s</inc><format>%s</format></date_list>`, c.start, c.end, c.inc, c.format), "date_list")
		if err != nil {
			t.Fatal(err)
		}
		got, err := dates("d.xml", n, time.Time{}, c.closed)
		if err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
}

// TestElementsAreDocumented: the table of docs/reference/load-spec.md has a row for every
// element that the reader knows, and no other row.
func TestElementsAreDocumented(t *testing.T) {
	page := filepath.Join("..", "..", "docs", "reference", "load-spec.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, table, _ := strings.Cut(string(text), "| element |")
	want := "| element | METdbLoad, VxIngest | here |\n|---|---|---|\n"
	for _, e := range elements {
		want += fmt.Sprintf("| `%s` | %s | %s |\n", e.Path, e.Meaning, e.Here)
	}
	if got := "| element |" + table; got == want {
		return
	}
	if !*update {
		t.Fatalf("the table of %s is not this one; run the test with -update:\n%s", page, want)
	}
	if err := os.WriteFile(page, []byte(before+want), 0o600); err != nil {
		t.Fatal(err)
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range []string{"load.xml", "plot.xml"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("<load_spec><folder_tmpl>/a/{b}/c</folder_tmpl><load_val><field name='b'><val>1</val><val>2</val></field></load_val></load_spec>"))
	f.Add([]byte("<load_spec><folder_tmpl>{a}{a}</folder_tmpl><load_val><field name='a'><val>{a}</val></field></load_val></load_spec>"))
	f.Add([]byte("<?xml version='1.0' encoding='ISO-8859-1'?><plot_spec><plot><plot_fix><field><set/></field></plot_fix></plot></plot_spec>"))
	f.Add([]byte("<plot_spec><plot><ci_alpha>nan</ci_alpha><plot_fix><field name='fcst_valid_beg'>" + ranges("2020-01-01", "2020-01-02", "60", "60") + "</field></plot_fix></plot></plot_spec>"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, err := ParseLoadSpec("f.xml", text); err == nil && s.folderCount() < 1000 && !strings.Contains(string(text), "{{") {
			want := []string{s.Template}
			if len(s.Files) > 0 {
				want = nil
			}
			for _, v := range s.Values {
				want = filled(want, v)
			}
			slices.Sort(want)
			got := s.Folders()
			slices.Sort(got)
			if want = slices.Compact(want); !slices.Equal(got, want) {
				t.Errorf("%q expands to %q, want %q", s.Template, got, want)
			}
		}
		if s, err := ParsePlotSpec("f.xml", text); err == nil && len(s.Plots) == 0 {
			t.Error("no plot, and no error")
		}
	})
}

// filled is every template with every value of a field, piece by piece.
func filled(templates []string, v LoadValue) (out []string) {
	for _, t := range templates {
		for _, value := range v.Values {
			out = append(out, strings.Join(strings.Split(t, "{"+v.Name+"}"), value))
		}
	}
	return out
}

// TestOtherSpec: a file of the other kind is reported with what it is for.
func TestOtherSpec(t *testing.T) {
	_, err := ParseLoadSpec("p.xml", []byte("<plot_spec/>"))
	if err == nil || !strings.Contains(err.Error(), "p.xml:1 is not a <load_spec> file; it is a <plot_spec>, for `barograph ask`") {
		t.Error(err)
	}
	if _, err := ParsePlotSpec("l.xml", []byte("<load_spec/>")); err == nil || !strings.Contains(err.Error(), "for `barograph load --spec`") {
		t.Error(err)
	}
}

// TestHourlySince2010: a site's list of dates begins with its first data and ends today.
func TestHourlySince2010(t *testing.T) {
	s, err := ParseLoadSpec("l.xml", []byte(`<load_spec><date_list name="d"><start>2010051914V</start><end>2026051913V</end><inc>3600</inc><format>yyyyMMddHH'V'</format></date_list>
		<folder_tmpl>/a/{m}/{t}</folder_tmpl><load_val><field name="m"><val>hrrr</val><val>nam</val></field><field name="t"><date_list name="d"/></field></load_val></load_spec>`))
	if err != nil {
		t.Fatal(err)
	}
	if all := s.Folders(); len(all) != 2*5844*24 || all[0] != "/a/hrrr/2010051914V" {
		t.Errorf("%d folders, %s", len(all), all[0])
	}
}

// TestMisspeltElements: a misspelt element is reported with the intended one, among those of its place.
func TestMisspeltElements(t *testing.T) {
	s, err := ParseLoadSpec("l.xml", []byte("<load_spec><lod_stat>true</lod_stat><connection><hots>h</hots></connection><nonsense/><load_files><file>a.stat</file></load_files></load_spec>"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"(did you mean load_stat?)", "(did you mean host?)", "is not known and has no effect"}
	if len(s.Warnings) != len(want) {
		t.Fatalf("%d warnings: %v", len(s.Warnings), s.Warnings)
	}
	for i, w := range s.Warnings {
		if !strings.HasSuffix(w.Text, want[i]) {
			t.Errorf("%s: %s, want … %s", w.Element, w.Text, want[i])
		}
	}
}

// TestStoredXML: the text that an archive keeps has no password, whatever prefix or letter case its
// element has, and is UTF-8.
func TestStoredXML(t *testing.T) {
	for _, password := range []string{
		"<password>s3cret</password>", "<db:password>s3cret</db:password>", "<password note='a/>b'\n>s3cret</password >",
		"<PASSWORD>s3cret</PASSWORD>", "<!-- <password>s3cret</password> --><password/>",
	} {
		s, err := ParseLoadSpec("l.xml", []byte("<load_spec><connection><host>h</host>"+password+"</connection>\n<load_note>kept</load_note>"+
			"<load_files><file>a.stat</file></load_files></load_spec>"))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(s.XML, "s3cret") || !strings.Contains(s.XML, "<host>h</host>") || !strings.Contains(s.XML, "<load_note>kept</load_note>") {
			t.Errorf("%s is kept as %s", password, s.XML)
		}
	}
	s, err := ParseLoadSpec("l.xml", []byte("<?xml version='1.0' encoding='ISO-8859-1'?><load_spec><load_note>M\xe4rz</load_note>"+
		"<load_files><file>a.stat</file></load_files></load_spec>"))
	if err != nil || s.Note != "März" || !strings.Contains(s.XML, "<load_note>März</load_note>") {
		t.Errorf("a file in Latin-1 is kept as %q, %v", s.XML, err)
	}
}

// TestRemarksHaveAnOrder: those of one line have the order of the file, in every run, and all are in the order of their
// lines.
func TestRemarksHaveAnOrder(t *testing.T) {
	text := []byte("<load_spec><folder_tmpl>/a</folder_tmpl>\n<load_stat>x</load_stat><load_mode>x</load_mode><load_mtd>x</load_mtd>" +
		"<date_list name='b'/><date_list name='a'/><load_val><field name='c'><val>1</val></field></load_val>\n<unknown/></load_spec>")
	want := "2 load_stat 2 load_mode 2 load_mtd 2 date_list b 2 date_list a 2 load_val/field c 3 unknown "
	for range 20 {
		s, err := ParseLoadSpec("l.xml", text)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, r := range s.Warnings {
			got += fmt.Sprint(r.Line, " ", r.Element, " ")
		}
		if got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
}

// TestSecondRoot: what follows the first root element is not silently ignored.
func TestSecondRoot(t *testing.T) {
	_, err := ParseLoadSpec("l.xml", []byte("<load_spec><load_files><file>a.stat</file></load_files></load_spec>\n<load_spec/>"))
	if f, ok := errors.AsType[*fault.Error](err); !ok || f.Line != 2 || !strings.Contains(err.Error(), "<load_spec>") {
		t.Errorf("two root elements: %v", err)
	}
}

// TestLongListsOfDates: steps over more than the 292 years of a time.Duration, and one date in another zone.
func TestLongListsOfDates(t *testing.T) {
	for _, c := range []struct{ start, end, inc, format, want string }{
		{"1600", "2000", "2147483647", "yyyy", "[1600 1668 1736 1804 1872 1940 2000]"},
		{"2019010100+0130", "2019010100+0130", "60", "yyyyMMddHHz", "[2019010100+0130]"},
	} {
		n, err := parse("d.xml", fmt.Appendf(nil, "<d><start>%s</start><end>%s</end><inc>%s</inc><format>%s</format></d>", c.start, c.end, c.inc, c.format), "d")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := dates("d.xml", n, time.Time{}, true); err != nil || fmt.Sprint(got) != c.want {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
}
