package metviewer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/internal/fault"
)

// loadOf parses the content of a load_spec.
func loadOf(t *testing.T, body string) *LoadSpec {
	t.Helper()
	s, err := ParseLoadSpec("l.xml", []byte("<load_spec>"+body+"</load_spec>"))
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return s
}

const oneFile = "<load_files><file>a.stat</file></load_files>"

// TestDefaultsOfLoads: what a load_spec means that only names its files.
func TestDefaultsOfLoads(t *testing.T) {
	s := loadOf(t, oneFile)
	if s.NoStat || s.NoMode || s.NoMTD || s.MPR || s.ORANK || s.Indexes || !s.KeepXML || s.Note != "" || s.Group != "" || s.Description != "" || len(s.Types) > 0 ||
		len(s.Warnings) > 0 || len(s.Ignored) > 0 || s.Connection != (Connection{}) || s.File != "l.xml" || !slices.Equal(s.Files, []string{"a.stat"}) {
		t.Errorf("%+v", s)
	}
	s = loadOf(t, oneFile+"<load_xml>FALSE</load_xml><load_note>N</load_note><group>G</group><description>D</description><line_type><val>sl1l2</val><val>CTC</val></line_type>")
	if s.KeepXML || s.Note != "N" || s.Group != "G" || s.Description != "D" || fmt.Sprint(s.Types) != "[SL1L2 CTC]" || len(s.Warnings) > 0 {
		t.Errorf("%+v", s)
	}
}

// TestFlags: a flag is true or false in any letter case. Another word has no effect, and the warning names the value in
// effect. The first of several elements counts.
func TestFlags(t *testing.T) {
	for body, want := range map[string]string{
		"<load_mpr>True</load_mpr>":                           "true ",
		"<load_mpr>FALSE</load_mpr>":                          "false ",
		"<load_mpr>1</load_mpr>":                              `false line 1: load_mpr: "1" is neither true nor false and counts as false, as for METdbLoad`,
		"<load_mpr>true</load_mpr><load_mpr>false</load_mpr>": "true ",
		"<load_mpr>true</load_mpr>\n<load_stat>y</load_stat>": `true line 2: load_stat: "y" is neither true nor false and counts as true, as for METdbLoad`,
	} {
		s := loadOf(t, oneFile+body)
		if got := fmt.Sprint(s.MPR, " ", joined(s.Warnings)); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

// TestIncludedTypes: line_type selects the types of .stat and VSDB files only.
func TestIncludedTypes(t *testing.T) {
	s := loadOf(t, oneFile+"<line_type><val>SL1L2</val></line_type>")
	for lineType, want := range map[string]bool{
		"SL1L2": true, "CTC": false, "MODE_CTS": true, "MODE_OBJ_PAIR": true, "MTD_2D_OBJ": true, "TCMPR": true, "TCDIAG": true, "PROBRIRW": true, "TCMPRX": false, "MPR": false, "XMODE_": false,
	} {
		if got := s.Includes(lineType); got != want {
			t.Errorf("%s: %t", lineType, got)
		}
	}
}

// TestValuesOfFolders: the values of load_val, from fields and lists of dates; a value is taken once.
func TestValuesOfFolders(t *testing.T) {
	const list = "<date_list name='d'><start>1</start><end>3</end><inc>86400</inc><format>D</format></date_list>"
	const days = "<date_list name='d'><start>2019001</start><end>2019003</end><inc>86400</inc><format>yyyyDDD</format></date_list>"
	for body, want := range map[string]string{
		days + "<folder_tmpl>/a/{m}/{d}</folder_tmpl><load_val><field name='d'><date_list>d</date_list></field><field name='m'><val>x</val></field></load_val>":       "[/a/x/2019001 /a/x/2019002 /a/x/2019003]",
		"<folder_tmpl>/{a}{b}/{a}</folder_tmpl><load_val><field name='a'><val>1</val><val>2</val></field><field name='b'><val>3</val><val>4</val></field></load_val>": "[/13/1 /14/1 /23/2 /24/2]",
		"<folder_tmpl>/{a}</folder_tmpl><load_val><field name='a'><val>1</val><val>2</val><val>1</val></field></load_val>":                                            "[/1 /2] line 1: load_val/field a: names a value twice; it is taken once",
		"<folder_tmpl>/{a}</folder_tmpl><load_val><field name='a'><val>1</val></field><field name='a'><val>2</val><val>1</val></field></load_val>":                    "[/1 /2]",
		"<folder_tmpl>/{a}{b}</folder_tmpl><load_val><field name='a'><val>1</val><val>11</val></field><field name='b'><val>1</val><val>11</val></field></load_val>":   "[/11 /111 /1111]",
		"<folder_tmpl>/{a}</folder_tmpl>" + days + "<load_val><field name='a'><val>1</val></field>\n<field name='b'><val>2</val></field></load_val>": "[/1] line 1: date_list d: is used by no field of load_val; " +
			"line 2: load_val/field b: is not in folder_tmpl and is ignored, as by METdbLoad: does folder_tmpl lack {b}?",
	} {
		s := loadOf(t, body)
		got := fmt.Sprint(s.Folders())
		if len(s.Warnings) > 0 {
			got += " " + joined(s.Warnings)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
	if s := (&LoadSpec{}); s.Folders() != nil {
		t.Errorf("%q", s.Folders())
	}
	if _, err := ParseLoadSpec("l.xml", []byte("<load_spec>"+list+"<folder_tmpl>/{d}</folder_tmpl><load_val><field name='d'><date_list name='d'/></field></load_val></load_spec>")); err == nil {
		t.Error("a list of dates without a year was read")
	}
}

// TestTemplates: a template has a name in each pair of braces.
func TestTemplates(t *testing.T) {
	for text, want := range map[string]string{
		"/a/{b}/{c}{b}": "[b c b]", "/a": "[]", "": "[]", "{ b }": "[ b ]",
		"/a/{}": "has a { without a name and a }", "/a/{b": "has a { without a name and a }", "/a/{b{c}}": "has a { without a name and a }",
		"/a/b}": "has a } without a {", "/a/{b}}": "has a } without a {", "/}a{": "has a } without a {",
	} {
		names, err := placeholders(text)
		got := fmt.Sprint(names)
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != want || err != nil && !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestLimitOfFolders: a template names at most 2^20 folders.
func TestLimitOfFolders(t *testing.T) {
	for n, refused := range map[int]bool{1024: false, 1025: true} {
		values := ""
		for i := range n {
			values += fmt.Sprint("<val>", i, "</val>")
		}
		body := "<load_spec>\n<folder_tmpl>/{a}/{b}</folder_tmpl><load_val><field name='a'>" + values + "</field><field name='b'>" + strings.Join(strings.SplitAfter(values, "</val>")[:1024], "") +
			"</field></load_val></load_spec>"
		s, err := ParseLoadSpec("l.xml", []byte(body))
		f, ok := errors.AsType[*fault.Error](err)
		if ok != refused || ok && (f.Line != 2 || !strings.Contains(err.Error(), "names more than 1048576 folders")) {
			t.Errorf("%d·1024 folders: %v", n, err)
		}
		if !refused && s.folderCount() != 1<<20 {
			t.Errorf("%d folders", s.folderCount())
		}
	}
}

// TestRemarksOnElements: an element that has no effect gets a remark, with its path and its line. Those in a relative date
// get none.
func TestRemarksOnElements(t *testing.T) {
	s := loadOf(t, "<verbose>true</verbose>\n<connection><host>h</host><local_infile>true</local_infile><x/></connection>\n<load_val><field name='a'><val>1</val><value/></field></load_val>"+
		"<date_list name='d'><start><date_offset><day_offset>0</day_offset></date_offset></start><end><offset_days><hour>0</hour></offset_days></end><inc>1</inc><format>yyyy</format></date_list>"+
		"<folder_tmpl>/{a}</folder_tmpl><y><verbose/></y>")
	var ignored, unknown []string
	for _, r := range s.Ignored {
		ignored = append(ignored, fmt.Sprint(r.Line, " ", r.Element, ": ", r.Text))
	}
	for _, r := range s.Warnings {
		unknown = append(unknown, fmt.Sprint(r.Line, " ", r.Element))
	}
	if !slices.Equal(ignored, []string{"1 verbose: ignored; use --verbose", "2 connection/local_infile: not needed: each engine loads by its fastest way"}) {
		t.Errorf("%q", ignored)
	}
	if !slices.Equal(unknown, []string{"2 connection/x", "3 load_val/field/value", "3 y", "3 date_list d"}) {
		t.Errorf("%q", unknown)
	}
	if got := elementsBelow("connection/"); !slices.Equal(got, []string{"management_system", "host", "database", "user", "password", "local_infile"}) {
		t.Errorf("%q", got)
	}
	for _, name := range elementsBelow("") {
		if strings.Contains(name, "/") {
			t.Error(name)
		}
	}
}

// TestIgnoredElements: the elements of METdbLoad and VxIngest that Barograph does not need, and no others.
func TestIgnoredElements(t *testing.T) {
	var got []string
	for _, e := range elements {
		if !e.Used {
			got = append(got, e.Path)
		}
	}
	want := "connection/local_infile verbose insert_size stat_header_table_check stat_header_db_check mode_header_db_check mtd_header_db_check " +
		"tcst_header_db_check drop_indexes force_dup_file email initialize_db organization"
	if strings.Join(got, " ") != want {
		t.Errorf("%q, want %s", got, want)
	}
}

// TestConnections: the host may have a port; the system is in lower case.
func TestConnections(t *testing.T) {
	s := loadOf(t, oneFile+"\n<connection><management_system>MySQL</management_system><host>h:3307</host><database>d</database><user>u</user><password>p</password></connection>")
	if want := (Connection{System: "mysql", Host: "h", Port: "3307", Database: "d", User: "u", Password: "p", Line: 2}); s.Connection != want {
		t.Errorf("%+v, want %+v", s.Connection, want)
	}
	for secret, want := range map[Secret]string{"": "", "x": "******"} {
		if secret.String() != want || fmt.Sprintf("%s", secret) != want || secret.LogValue().String() != want {
			t.Errorf("%q is shown as %q", secret.Reveal(), secret.String())
		}
	}
	plot := specOf(t, "<connection><database> a, b ,,c</database></connection><plot><template>box_plot</template></plot>")
	if !slices.Equal(plot.Databases, []string{"a", "b", "c"}) {
		t.Errorf("%q", plot.Databases)
	}
}

// TestDamagedFiles: each error has the line of the damage, and the encodings of METviewer's files are read.
func TestDamagedFiles(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "l.xml:1 is not a <load_spec> file; see docs/reference/metviewer.md",
		"<!-- only a comment -->":              "l.xml:1 is not a <load_spec> file",
		"<load_spec>\n<a></b></load_spec>":     "l.xml:2 is not well-formed XML: element <a> closed by </b>",
		"<load_spec>\n\n&nothing;</load_spec>": "l.xml:3 is not well-formed XML: invalid character entity &nothing;",
		"<load_spec>":                          "l.xml:1 is not well-formed XML: unexpected EOF",
		"<?xml version='1.0' encoding='utf-16'?><load_spec/>": "the encoding utf-16 is not supported; write UTF-8",
		"\n<plot_spec/>": "l.xml:1 is not a <load_spec> file; it is a <plot_spec>",
	} {
		if _, err := ParseLoadSpec("l.xml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := ParsePlotSpec("p.xml", []byte("<html/>")); err == nil || !strings.Contains(err.Error(), "p.xml:1 is not a <plot_spec> file; see docs/reference/metviewer.md") {
		t.Error(err)
	}
	for _, encoding := range []string{"ISO-8859-1", "latin1", "US-ASCII", "ascii"} {
		s, err := ParseLoadSpec("l.xml", []byte("<?xml version='1.0' encoding='"+encoding+"'?><load_spec><load_note> \xfcber\t</load_note>"+oneFile+"</load_spec>"))
		if err != nil || s.Note != "über" {
			t.Errorf("%s: %v, %v", encoding, s, err)
		}
	}
	missing := filepath.Join(t.TempDir(), "l.xml")
	if _, err := ReadLoadSpec(missing); err == nil || !strings.Contains(err.Error(), "cannot be read") || !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := os.WriteFile(missing, []byte("<load_spec>"+oneFile+"</load_spec>"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := ReadLoadSpec(missing); err != nil || s.File != missing {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestText: the text of an element is the text around its children; that of an attribute has no blanks around it.
func TestText(t *testing.T) {
	n, err := parse("x.xml", []byte("<?xml version='1.0'?>\n<!-- c --><a x=' 1 '>\n b <c>d</c><![CDATA[ e ]]>\n<c/></a>\n"), "a")
	if err != nil {
		t.Fatal(err)
	}
	if n.name != "a" || n.line != 2 || n.attrs["x"] != "1" || n.text != "b  e" || n.value("c") != "d" || len(n.all("c")) != 2 || n.child("c").line != 3 || n.all("c")[1].line != 4 {
		t.Errorf("%+v", n)
	}
	if n.child("none") != nil || n.value("none") != "" || (*node)(nil).child("c") != nil || (*node)(nil).value("c") != "" || (*node)(nil).list() != nil {
		t.Error("a missing element is there")
	}
}
