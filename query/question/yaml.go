package question

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/record"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

//go:embed cases/*.yaml
var caseFiles embed.FS

// questionYAML is the YAML form of a Question.
type questionYAML struct {
	Name        string                `yaml:"name"`
	Title       string                `yaml:"title"`
	Untitled    bool                  `yaml:"untitled,omitempty"`
	Changed     stringList            `yaml:"changed,flow,omitempty"`
	Weight      int                   `yaml:"weight,omitempty"`
	Subset      string                `yaml:"subset,omitempty"`
	MoreSubsets stringList            `yaml:"and_subsets,omitempty"`
	LineType    string                `yaml:"line_type"`
	Where       map[string]stringList `yaml:"where,flow,omitempty"`
	Valid       timesYAML             `yaml:"fcst_valid_beg,omitempty"`
	Init        timesYAML             `yaml:"fcst_init_beg,omitempty"`
	ValidHour   []int                 `yaml:"valid_hour,flow,omitempty"`
	InitHour    []int                 `yaml:"init_hour,flow,omitempty"`
	Lead        stringList            `yaml:"fcst_lead,flow,omitempty"`
	Columns     stringList            `yaml:"columns,flow,omitempty"`
	OrderBy     stringList            `yaml:"order_by,flow,omitempty"`
	Mean        string                `yaml:"mean,omitempty"`
	Omitted     stringList            `yaml:"omitted,omitempty"`
	Refused     stringList            `yaml:"refused,omitempty"`

	Drawing drawingYAML `yaml:",inline"`
}

// stringList is a YAML list of strings, or one string without brackets.
type stringList []string

// UnmarshalYAML keeps the text of a value that is not a text in YAML: 0100, which YAML reads as 64, 1.50, True and
// .inf.
func (s *stringList) UnmarshalYAML(node ast.Node) error {
	*s = nil
	for _, item := range itemsOf(node) {
		text := item.GetToken().Value
		if !slices.Contains([]ast.NodeType{ast.IntegerType, ast.FloatType, ast.BoolType, ast.InfinityType, ast.NanType}, item.Type()) {
			if err := yaml.NodeToValue(item, &text); err != nil {
				return err
			}
		}
		if item.Type() == ast.NullType {
			return errors.New("a list has an empty value")
		}
		*s = append(*s, text)
	}
	return nil
}

// itemsOf returns the items of a list, the only item of a value without brackets, and none of an empty value.
func itemsOf(node ast.Node) []ast.Node {
	switch list := node.(type) {
	case *ast.SequenceNode:
		return list.Values
	case *ast.NullNode:
		return nil
	}
	return []ast.Node{node}
}

// MarshalYAML writes a list of one as a single string.
func (s stringList) MarshalYAML() (any, error) {
	if len(s) == 1 {
		return s[0], nil
	}
	return []string(s), nil
}

type timesYAML struct {
	First string     `yaml:"first"`
	Last  string     `yaml:"last"`
	Step  string     `yaml:"step"`
	List  stringList `yaml:"list"`
}

// UnmarshalYAML accepts a map or the command line's form, "2019-01-01..2019-01-31/6h".
func (t *timesYAML) UnmarshalYAML(decode func(any) error) error {
	var text string
	if decode(&text) == nil {
		*t = parseTimesText(text)
		return nil
	}
	type keys timesYAML
	return decode((*keys)(t))
}

// Cases returns the seven cases of the original experiment, in their original order.
func Cases() ([]*Question, error) {
	names, err := fs.Glob(caseFiles, "cases/*.yaml")
	if err != nil {
		return nil, err
	}
	var all []byte // one text with all questions
	for _, name := range names {
		text, err := caseFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		all = append(append(all, "---\n"...), text...)
	}
	return Parse("cases", all)
}

// Limits of a question. Without them, a few bytes of YAML can request gigabytes.
const (
	maxText   = 256 << 10 // bytes
	maxDepth  = 16        // nested brackets, or dashes on one line
	maxTimes  = 1_000_000
	maxLeads  = 100_000
	maxCurves = 1 << 16 // without derived ones
)

var deepDashes = regexp.MustCompile(`(?m)^[ \t]*(?:[-?:][ \t]+){` + strconv.Itoa(maxDepth+1) + `}`)

// yamlProblem returns the reason why a text must not be parsed; "" = parsing is safe. It protects the parser, which
// would expand aliases and recurse without a limit.
func yamlProblem(text []byte) string {
	if len(text) > maxText {
		return fmt.Sprintf("it is longer than %d KiB", maxText>>10)
	}
	if deepDashes.Match(text) {
		return fmt.Sprintf("it has more than %d nested lists", maxDepth)
	}
	depth := 0
	for _, t := range lexer.Tokenize(string(text)) { // a bracket in quotes is no token
		switch t.Type {
		case token.AnchorType, token.AliasType:
			return fmt.Sprintf("line %d: anchors and aliases are not supported; write the values out", t.Position.Line)
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth = max(depth-1, 0)
		}
		if depth > maxDepth {
			return fmt.Sprintf("it has more than %d nested brackets", maxDepth)
		}
	}
	return ""
}

// Parse reads the questions of a YAML file, separated by ---. An unknown field is an error that
// names its line.
func Parse(file string, text []byte) ([]*Question, error) { return parse(file, text, "") }

// parse is Parse. A question without a name gets defaultName.
func parse(file string, text []byte, defaultName string) (qs []*Question, err error) {
	if problem := yamlProblem(text); problem != "" {
		return nil, &fault.Error{File: file, Problem: "is not a question: " + problem, Cure: "see docs/reference/questions.md"}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict())
	for {
		f, err := decode(decoder)
		if errors.Is(err, io.EOF) && len(qs) > 0 {
			return qs, nil
		}
		if err != nil && !errors.Is(err, io.EOF) { // of an empty text, line_type is missing
			problem, _, _ := strings.Cut(yaml.FormatError(err, false, true), "\n")
			return nil, &fault.Error{File: file, Problem: "is not a question: " + problem, Cure: "see docs/reference/questions.md"}
		}
		f.Name = cmp.Or(f.Name, defaultName)
		q, err := f.question()
		if err != nil {
			return nil, &fault.Error{File: file, Err: err}
		}
		if slices.ContainsFunc(qs, func(o *Question) bool { return o.Name == q.Name }) {
			problem := "contains two questions called " + strconv.Quote(q.Name)
			return nil, &fault.Error{File: file, Problem: problem, Cure: "give each a name of its own"}
		}
		qs = append(qs, q)
	}
}

// decode reads one question. A panic of the library, for example on a tag without a value, becomes
// an error.
func decode(decoder *yaml.Decoder) (f questionYAML, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	err = decoder.Decode(&f)
	return f, err
}

func fieldNames() []string {
	return lists.Map(lists.Indices(int(record.NumFields)), func(f int) string { return record.Field(f).String() })
}

func (f *questionYAML) question() (*Question, error) {
	if fault.Planted && len(f.Title) > 5 {
		f.Title = f.Title[:5] // the planted fault, which FuzzParse must find
	}
	q := &Question{
		Name: f.Name, Title: f.Title, Untitled: f.Untitled, Changed: f.Changed, Subset: f.Subset,
		MoreSubsets: f.MoreSubsets, Weight: max(f.Weight, 1), Mean: f.Mean, Omitted: f.Omitted, Refused: f.Refused,
	}
	t, ok := record.TypeByName(strings.ToUpper(f.LineType))
	if f.LineType == "" {
		return nil, q.Check() // which reports that line_type is missing
	}
	if !ok {
		problem := strconv.Quote(f.LineType) + " is not known"
		return nil, &fault.Error{Setting: "line_type", Problem: problem, Cure: "see `barograph list linetypes`"}
	}
	q.Type = t
	for name, values := range f.Where {
		field, ok := record.FieldByName(strings.ToLower(name))
		if !ok {
			unknown := fault.Unknown("where", name, fieldNames())
			unknown.Problem = "is no header field"
			return nil, unknown
		}
		if len(values) == 0 || q.Header[field] != nil { // MODEL is model
			const problem, cure = "has no value or is given twice", "write one list of values, or omit the condition"
			return nil, &fault.Error{Setting: "where " + name, Problem: problem, Cure: cure}
		}
		q.Header[field] = Unique(values)
	}
	var err error
	if q.Valid, err = f.Valid.parse(); err != nil {
		return nil, err
	}
	if q.TimeFilter.Init, err = f.Init.parse(); err != nil {
		return nil, err
	}
	q.TimeFilter.ValidHour, q.TimeFilter.InitHour = slices.Compact(f.ValidHour), slices.Compact(f.InitHour)
	if q.Lead, err = parseLeads(f.Lead); err != nil {
		return nil, err
	}
	if q.Drawing, err = f.Drawing.drawing(q); err != nil {
		return nil, err
	}
	if q.Columns, err = Columns(t, f.Columns...); err != nil {
		return nil, err
	}
	switch {
	case q.Mean != "" && !isStat(q, q.Mean):
		return nil, fault.Unknown("mean of "+t.Name, q.Mean, statsOf(t))
	case q.Mean != "":
		q.Columns = append(q.Columns, groupStatistics()...)
	case len(f.Columns) == 0:
		q.SelectColumns()
	}
	if len(f.OrderBy) == 0 {
		return q, q.Check()
	}
	if q.Order, err = Columns(t, Unique(f.OrderBy)...); err != nil {
		return nil, err
	}
	return q, q.Check()
}

func (t timesYAML) parse() (Times, error) {
	var out Times
	for _, s := range t.List {
		v, err := ParseTime(s)
		if err != nil {
			return out, err
		}
		out.List = append(out.List, v)
	}
	slices.Sort(out.List)
	out.List = slices.Compact(out.List)
	switch {
	case t.First+t.Last+t.Step == "":
		return out, nil
	case out.List != nil || t.First+t.Last == "":
		return out, &fault.Error{Setting: "times", Problem: "are neither a list nor a range", Cure: "give list, or first, last and step"}
	}
	first, err := ParseTime(t.First)
	if err != nil {
		return out, err
	}
	last, err := ParseTime(t.Last)
	if err != nil {
		return out, err
	}
	out = timesBetween(first, last)
	if t.Step != "" {
		d, err := time.ParseDuration(t.Step)
		if err != nil || d == 0 || d%time.Second != 0 {
			setting := "step " + strconv.Quote(t.Step)
			return out, &fault.Error{Setting: setting, Problem: "is not a duration of whole seconds", Cure: "write it as 6h or 90m"}
		}
		out = Times{First: first, Last: last, Step: int64(d / time.Second)}
	}
	return out, nil
}

// ParseTime reads 2019-01-01T00:00:00Z, 2019-01-01 00:00:00, 2019-01-01, 2019010100 (NCEP), 20190101, 20190101_000000
// (MET) or 20190101000000 (what remains of MET's form where YAML reads it as a number), all in UTC and in whole seconds.
func ParseTime(s string) (int64, error) {
	layouts := []string{time.RFC3339, time.DateTime, time.DateOnly, "2006010215", "20060102", "20060102_150405", "20060102150405"}
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, s, time.UTC); err == nil && t.Nanosecond() == 0 {
			return t.Unix(), nil
		}
	}
	return 0, &fault.Error{Setting: strconv.Quote(s), Problem: "is not a time", Cure: "write 2019-01-01T00:00:00Z"}
}

// maxHours is the longest lead whose seconds fit into an int32.
const maxHours = math.MaxInt32 / 3600

// leadHours matches a number of hours, or a range of them with a step.
var leadHours = regexp.MustCompile(`^([+-]?[0-9]+)(?:-(-?[0-9]+)/([0-9]+))?$`)

// parseHour reads digits. A number that does not fit into an int64 becomes the largest or smallest
// int64, which exceeds every limit.
func parseHour(s string) int64 {
	h, _ := strconv.ParseInt(s, 10, 64) // an error gives the largest or smallest
	return h
}

// parseLeads reads forecast leads: "24" is hours, "1h30m" a duration, and "0-240/6" the hours from
// 0 to 240 in steps of 6. An item may contain several of these, separated by commas.
func parseLeads(items []string) ([]int32, error) {
	var leads []int32
	if len(items) == 0 {
		return nil, nil
	}
	for s := range strings.SplitSeq(strings.Join(items, ","), ",") {
		s = strings.TrimSpace(s)
		bad := &fault.Error{Setting: "fcst_lead", Problem: strconv.Quote(s) + " is not a lead"}
		bad.Cure = "write hours (24), a duration (1h30m) or a range of hours (0-240/6)"
		if m := leadHours.FindStringSubmatch(s); m != nil {
			first, last, step := parseHour(m[1]), parseHour(cmp.Or(m[2], m[1])), parseHour(cmp.Or(m[3], "1"))
			if step <= 0 || step > maxHours || first < -maxHours || first > last || last > maxHours {
				return nil, bad
			}
			for h := first; h <= last && len(leads) <= maxLeads; h += step {
				leads = append(leads, int32(h)*3600)
			}
		} else if d, err := time.ParseDuration(s); err == nil && d.Abs() <= maxHours*time.Hour && d%time.Second == 0 {
			leads = append(leads, int32(d/time.Second))
		} else {
			return nil, bad
		}
		if len(leads) > maxLeads {
			bad.Problem, bad.Cure = "has more than 100,000 leads up to "+strconv.Quote(s), "name fewer, or omit fcst_lead to request all"
			return nil, bad
		}
	}
	slices.Sort(leads)
	return slices.Compact(leads), nil
}
