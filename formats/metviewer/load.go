package metviewer

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
)

// LoadSpec describes what METdbLoad or VxIngest would load, and the target database.
type LoadSpec struct {
	File       string
	Connection Connection
	Files      []string    // load_files; then Template is not used
	Template   string      // folder_tmpl
	Values     []LoadValue // load_val, in the order of the file
	Types      []string    // line_type, in upper case; none = all
	NoStat     bool        // load_stat is false: no .stat and VSDB files; accordingly for MODE and MTD
	NoMode     bool
	NoMTD      bool
	MPR, ORANK bool   // load_mpr, load_orank: lines that are only loaded on request
	Indexes    bool   // apply_indexes: METviewer's further indexes
	Note       string // load_note

	Group, Description string // of the database in METviewer's menu; "" = not given
	KeepXML            bool   // load_xml: store the load_spec in the database
	XML                string // the load_spec as UTF-8, without its password

	Ignored  []Remark // known elements that Barograph does not need, with the reason, by line
	Warnings []Remark // unknown elements, and values without effect, by line
}

// password matches the element with its attributes and content, with any prefix of a namespace.
var password = regexp.MustCompile("(?is)<([\\w.-]+:)?password\\b(" + attributes + "/>|" + attributes + ">.*?</([\\w.-]+:)?password\\s*>)")

const attributes = `(?:[^>"']|"[^"]*"|'[^']*')*`

// LoadValue is a field of load_val.
type LoadValue struct {
	Name   string
	Line   int
	Values []string
}

// ReadLoadSpec reads a load_spec. Errors and remarks name the line.
func ReadLoadSpec(file string) (*LoadSpec, error) { return read(file, ParseLoadSpec) }

func read[T any](file string, parse func(file string, text []byte) (*T, error)) (*T, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, &fault.Error{File: file, Problem: "cannot be read", Err: err, Cure: "check the path"}
	}
	return parse(file, text)
}

// ParseLoadSpec is ReadLoadSpec for a text; messages contain file as its name.
func ParseLoadSpec(file string, text []byte) (*LoadSpec, error) {
	root, err := parse(file, text, "")
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(text) {
		text = fromLatin1(text)
	}
	s := &LoadSpec{
		File: file, Connection: connection(root.child("connection")), Template: root.value("folder_tmpl"), Note: root.value("load_note"),
		Group: root.value("group"), Description: root.value("description"),
		KeepXML: true, XML: password.ReplaceAllString(string(text), "<password/>"),
	}
	s.classify(root, "")
	stat, mode, mtd := true, true, true
	flags := map[string]*bool{
		"load_stat": &stat, "load_mode": &mode, "load_mtd": &mtd, "load_mpr": &s.MPR, "load_orank": &s.ORANK,
		"load_xml": &s.KeepXML, "apply_indexes": &s.Indexes,
	}
	for _, k := range root.kids {
		if flag := flags[k.name]; flag != nil && k == root.child(k.name) {
			if err := s.boolean(k, flag); err != nil {
				return nil, err
			}
		}
	}
	s.NoStat, s.NoMode, s.NoMTD = !stat, !mode, !mtd
	s.Types = lists.Map(root.child("line_type").all("val"), func(k *node) string { return strings.ToUpper(k.text) })
	for _, f := range root.child("load_files").all("file") {
		if f.text == "" {
			return nil, s.errorAt(f.line, "load_files/file", "is empty", "name a file")
		}
		s.Files = append(s.Files, f.text)
	}
	err = cmp.Or(s.values(root), s.check(root))
	slices.SortStableFunc(s.Warnings, func(a, b Remark) int { return a.Line - b.Line })
	return s, err
}

func (s *LoadSpec) errorAt(line int, setting, problem, cure string) error {
	return &fault.Error{File: s.File, Line: line, Setting: setting, Problem: problem, Cure: cure}
}

func (s *LoadSpec) warn(line int, element, text string) {
	s.Warnings = append(s.Warnings, Remark{line, element, text})
}

// notOfStat matches the line types of MODE, MTD and TC-Pairs.
var notOfStat = regexp.MustCompile(`^(MODE_|MTD_|TCMPR$|TCDIAG$|PROBRIRW$)`)

// Includes reports whether lines of a type, named in upper case, are loaded. line_type applies only to
// .stat and VSDB files.
func (s *LoadSpec) Includes(lineType string) bool {
	isListed := len(s.Types) == 0 || slices.Contains(s.Types, lineType) || notOfStat.MatchString(lineType)
	return isListed && (s.MPR || lineType != "MPR") && (s.ORANK || lineType != "ORANK")
}

// IncludesFile reports whether a file is loaded, by METdbLoad's rules for its name: the parts 3d_s
// and 3d_p may be anywhere in the path.
func (s *LoadSpec) IncludesFile(path string) bool {
	path = strings.TrimSuffix(strings.ToLower(path), ".gz")
	ends := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(path, name) })
	}
	mtd := ends("2d.txt") || strings.Contains(path, "3d_s") || strings.Contains(path, "3d_p")
	excluded := s.NoStat && ends(".stat", ".vsdb") || s.NoMode && ends("cts.txt", "obj.txt") || s.NoMTD && mtd
	return !excluded
}

// boolean reads true or false in any letter case, as METdbLoad does. Like METdbLoad it ignores other
// words, but reports a warning. An empty element is an error.
func (s *LoadSpec) boolean(n *node, flag *bool) error {
	switch strings.ToLower(n.text) {
	case "true", "false":
		*flag = strings.EqualFold(n.text, "true")
	case "":
		return s.errorAt(n.line, n.name, "is empty", "write true or false")
	default:
		s.warn(n.line, n.name, fmt.Sprintf("%q is neither true nor false and counts as %t, as for METdbLoad", n.text, *flag))
	}
	return nil
}

// classify looks up every element in the table, and reports those that are not needed and those
// that are unknown.
func (s *LoadSpec) classify(n *node, above string) {
	for _, k := range n.kids {
		path := above + k.name
		i := slices.IndexFunc(elements, func(e Element) bool { return e.Path == path })
		switch {
		case k.name == "date_offset" || k.name == "offset_days": // of a date: see offset
			continue
		case i < 0:
			s.warn(k.line, path, "is not known and has no effect"+fault.Meant(k.name, elementsBelow(above)))
			continue
		case !elements[i].Used:
			s.Ignored = append(s.Ignored, Remark{k.line, path, elements[i].Here})
		}
		s.classify(k, path+"/")
	}
}

// elementsBelow lists the names of the known elements inside of one, whose path ends with a slash;
// "" = load_spec.
func elementsBelow(path string) (names []string) {
	for _, e := range elements {
		if name, ok := strings.CutPrefix(e.Path, path); ok && !strings.Contains(name, "/") {
			names = append(names, name)
		}
	}
	return names
}

// values reads load_val, including its lists of dates.
func (s *LoadSpec) values(root *node) error {
	dateLists, used := map[string]*node{}, map[string]bool{}
	for _, d := range root.all("date_list") {
		dateLists[d.attrs["name"]] = d
	}
	for _, f := range root.child("load_val").all("field") {
		v := LoadValue{Name: f.attrs["name"], Line: f.line}
		for _, k := range f.kids {
			switch k.name {
			case "val":
				v.Values = append(v.Values, k.text)
			case "date_list":
				name := cmp.Or(k.attrs["name"], k.text)
				list := dateLists[name]
				if list == nil {
					problem := "date_list " + strconv.Quote(name) + " does not exist"
					return s.errorAt(k.line, "load_val, field "+strconv.Quote(v.Name), problem, `write <date_list name="…"> below load_spec`)
				}
				ds, err := dates(s.File, list, time.Now().UTC(), true)
				if err != nil {
					return err
				}
				v.Values, used[name] = append(v.Values, ds...), true
			}
		}
		n := len(v.Values)
		if v.Values = unique(v.Values); len(v.Values) < n {
			s.warn(f.line, "load_val/field "+v.Name, "names a value twice; it is taken once")
		}
		if i := slices.IndexFunc(s.Values, func(o LoadValue) bool { return o.Name == v.Name }); i >= 0 {
			s.Values[i].Values = unique(append(s.Values[i].Values, v.Values...)) // METdbLoad takes both fields' values
			continue
		}
		s.Values = append(s.Values, v)
	}
	for _, d := range root.all("date_list") {
		if name := d.attrs["name"]; !used[name] {
			s.warn(d.line, "date_list "+name, "is used by no field of load_val")
		}
	}
	return nil
}

// unique removes repeated values and keeps the order.
func unique(values []string) []string {
	seen := make(map[string]bool, len(values))
	return slices.DeleteFunc(values, func(v string) bool {
		if seen[v] {
			return true
		}
		seen[v] = true
		return false
	})
}

// check compares load_val with folder_tmpl. METdbLoad's predecessor loaded every file once per
// value of a field that the template lacks (dtcenter/MET#659). METdbLoad silently ignores such a
// field, which can hide a misspelt template; therefore check reports a warning.
func (s *LoadSpec) check(root *node) error {
	tmpl := root.child("folder_tmpl")
	if len(s.Files) > 0 {
		if tmpl != nil {
			s.warn(tmpl.line, "folder_tmpl", "is not used, because load_files names the files")
		}
		return nil
	}
	if s.Template == "" {
		return s.errorAt(root.line, "load_spec", "names nothing to load", "give folder_tmpl with load_val, or load_files")
	}
	fields, err := placeholders(s.Template)
	if err != nil {
		return s.errorAt(tmpl.line, "folder_tmpl", err.Error(), "write {field} for each field of load_val")
	}
	s.Values = slices.DeleteFunc(s.Values, func(v LoadValue) bool {
		unused := !slices.Contains(fields, v.Name)
		if unused {
			s.warn(v.Line, "load_val/field "+v.Name, "is not in folder_tmpl and is ignored, as by METdbLoad: does folder_tmpl lack {"+v.Name+"}?")
		}
		return unused
	})
	for _, v := range s.Values {
		if len(v.Values) == 0 {
			return s.errorAt(v.Line, "load_val, field "+strconv.Quote(v.Name), "has no value", "give it a val or a date_list")
		}
	}
	for _, f := range fields {
		if !slices.ContainsFunc(s.Values, func(v LoadValue) bool { return v.Name == f }) {
			return s.errorAt(tmpl.line, "folder_tmpl", "{"+f+"} has no values", `write <field name="`+f+`"> with its values into load_val`)
		}
	}
	if n := s.folderCount(); n > maxFolders {
		problem := fmt.Sprintf("names more than %d folders", maxFolders)
		return s.errorAt(tmpl.line, "folder_tmpl", problem, "let date_list begin later, or split the load_spec")
	}
	return nil
}

// folderCount is the number of folders; more than maxFolders if there are too many.
func (s *LoadSpec) folderCount() int {
	n := 1
	for _, v := range s.Values {
		if n *= len(v.Values); n > maxFolders {
			break
		}
	}
	return n
}

// placeholders lists the fields of a template.
func placeholders(tmpl string) ([]string, error) {
	var out []string
	for rest := tmpl; ; {
		before, after, ok := strings.Cut(rest, "{")
		if strings.Contains(before, "}") {
			return nil, fmt.Errorf("%q has a } without a {", tmpl)
		}
		if !ok {
			return out, nil
		}
		name, remaining, ok := strings.Cut(after, "}")
		if !ok || strings.Contains(name, "{") || name == "" {
			return nil, fmt.Errorf("%q has a { without a name and a }", tmpl)
		}
		out, rest = append(out, name), remaining
	}
}

// Folders fills the template with every combination of values. The first field changes slowest, and
// each folder occurs once. It does not access a disk.
func (s *LoadSpec) Folders() []string {
	if len(s.Files) > 0 || s.Template == "" {
		return nil
	}
	out := []string{s.Template}
	if fault.Planted {
		out[0] = path.Clean(s.Template) // the result differs if the template contains two slashes or a dot as a path element
	}
	for _, v := range s.Values {
		var next []string
		for _, t := range out {
			for _, value := range v.Values {
				next = append(next, strings.ReplaceAll(t, "{"+v.Name+"}", value))
			}
		}
		out = next
	}
	return unique(out)
}
