package report

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"html/template"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/advise"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

//go:embed template/*.html
var templates embed.FS

//go:embed template/style.css
var pageStyle template.CSS

//go:embed template/sort.js
var pageScript template.JS

// FileName is the report's name in the run folder.
const FileName = "report.html"

// Open reads a run folder of any workload, or a folder with studies of several sizes.
func Open(dir string) (*Report, error) { return OpenAdvising(dir, Advising{}) }

// OpenAdvising does the same as Open, with the weights and folders of a reader.
func OpenAdvising(dir string, o Advising) (*Report, error) {
	if o.Weights == nil {
		o.Weights = advise.Defaults()
	}
	if len(run.SizeFolders(dir)) > 1 {
		return openGrowth(dir, o)
	}
	r, samples, err := run.Read(dir)
	if err != nil {
		return nil, err
	}
	open := map[string]func(string, *run.Run, []run.Sample) *Report{
		run.MixWorkload: openPoints, run.ScanWorkload: openScans, run.PostWorkload: openPosts, run.OwnWorkload: openOwn,
		run.LakeWorkload: openLake, DaysWorkload: openDays, "faults": openKills,
	}[r.Workload]
	if open != nil {
		out := open(dir, r, samples)
		out.advising = o
		return out, nil
	}
	f, err := openMet(dir, r, samples)
	if err != nil {
		return nil, err
	}
	return f.report(o)
}

// Write writes report.html into the run folder and returns its path.
func (r *Report) Write() (path string, err error) {
	for _, sub := range r.linked {
		if _, err := Write(sub, r.advising); err != nil {
			return "", err
		}
	}
	page, err := r.Page()
	if err != nil {
		return "", err
	}
	return filepath.Join(r.dir, FileName), run.WriteFile(r.dir, FileName, page)
}

// Pictures writes each picture of the report as a separate SVG file, named after its section, and returns their paths.
func (r *Report) Pictures(dir string) (paths []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var write func(name string, s *Section) error
	write = func(name string, s *Section) error {
		for i, d := range s.Pictures {
			svg, err := d.Draw()
			if err != nil {
				return err
			}
			path := filepath.Join(dir, fmt.Sprintf("%s-%d.svg", name, i+1))
			if err := os.WriteFile(path, svg, 0o644); err != nil {
				return err
			}
			paths = append(paths, path)
		}
		for i := range s.Parts {
			if err := write(fmt.Sprintf("%s-part%d", name, i+1), &s.Parts[i]); err != nil {
				return err
			}
		}
		return nil
	}
	for i := range r.Sections {
		if err := write(strings.ReplaceAll(cmp.Or(r.Sections[i].ID, "section"), "/", "-"), &r.Sections[i]); err != nil {
			return paths, err
		}
	}
	return paths, nil
}

// Page returns the report as HTML that refers to no external resource.
func (r *Report) Page() ([]byte, error) {
	page := struct {
		*Report
		Style template.CSS
		Code  template.JS
	}{r, pageStyle, pageScript}
	classes := styles{}
	t, err := template.New("page.html").Funcs(template.FuncMap{"svg": func(d Drawing) (template.HTML, error) {
		svg, err := d.Draw() // escapes every text in it
		return classes.shorten(svg), err
	}}).ParseFS(templates, "template/*.html")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, page)
	return shortenPage(bytes.Replace(b.Bytes(), []byte("</style>"), append(classes.css(), "</style>"...), 1)), err
}

// styles contains the styles that pictures repeat thousands of times. On a page they are classes; the value is the name
// of the class.
type styles map[string]string

var (
	styleAttr = regexp.MustCompile(`(?: transform="(scale\(1, -1\))")?\s+style="([^"]*)"`)
	pathBreak = regexp.MustCompile(` />\n<path d="`)
)

// shorten replaces the styles of a picture by classes.
func (s styles) shorten(svg []byte) template.HTML {
	svg = styleAttr.ReplaceAllFunc(shortenPaths(svg), func(text []byte) []byte {
		m := styleAttr.FindSubmatch(text)
		style := string(m[2])
		if len(m[1]) > 0 {
			style += ";transform:" + string(m[1])
		}
		if s[style] == "" {
			s[style] = fmt.Sprintf("p%d", len(s))
		}
		return []byte(" class=" + s[style])
	})
	return template.HTML(pathBreak.ReplaceAll(svg, []byte(` /><path d="`))) //nolint:gosec // a picture of ours
}

// css returns the rules of the classes.
func (s styles) css() (out []byte) {
	for _, style := range slices.Sorted(maps.Keys(s)) {
		out = fmt.Appendf(out, ".%s{%s}", s[style], style)
	}
	return out
}

// Write reads a run folder and rewrites its report.html.
func Write(dir string, o Advising) (path string, err error) {
	r, err := OpenAdvising(dir, o)
	if err != nil {
		return "", err
	}
	return r.Write()
}

// newReport returns a report without content.
func newReport(dir, name string, started time.Time, question string) *Report {
	return &Report{dir: dir, Name: name, When: started.UTC().Format("2 January 2006, 15:04 UTC"), Question: question}
}

// ofRun returns a report with the warnings, the state and the engines of a run.
func ofRun(dir string, r *run.Run, question string) *Report {
	out := newReport(dir, r.ID, r.Started, question)
	out.Warnings = append(append(out.Warnings, r.Warnings...), unranked(r)...)
	switch events, err := run.ReadEvents(dir); {
	case err == nil && run.StateOf(events, time.Now()) == run.Running:
		out.Answers = append(out.Answers, Words{"alarm", prose("running")})
	case r.Finished.IsZero():
		out.Answers = append(out.Answers, Words{"alarm", prose("interrupted")})
	}
	out.About = filled(Section{Title: "Engines, versions and settings", Folded: true, Table: engineTable(r)})
	return out
}

// unranked lists the engines that are not ranked, with the reason, unless the run's warnings contain it.
func unranked(r *run.Run) (all []string) {
	for _, a := range r.Archives {
		isReason := func(warning string) bool { return strings.Contains(warning, a.Unranked) }
		if a.Unranked != "" && !slices.ContainsFunc(r.Warnings, isReason) {
			all = appendNew(all, a.Engine+" is not ranked: "+a.Unranked)
		}
	}
	return all
}

// isUnranked reports whether an engine of a run is excluded from rankings.
func isUnranked(r *run.Run, engine string) bool {
	return slices.ContainsFunc(r.Archives, func(a run.Archive) bool { return a.Engine == engine && a.Unranked != "" })
}

// verdict returns the answer whether all results are correct.
func verdict(allCorrect bool, words string) Words {
	if allCorrect {
		return Words{"answer right", words}
	}
	return Words{"answer bad", words}
}

// headline returns an answer.
func headline(format string, args ...any) Words { return Words{"answer", fmt.Sprintf(format, args...)} }

// These patterns match what a page repeats tens of thousands of times, and what has a shorter form: a circle is a line
// of length zero with a round end, a horizontal or vertical line needs one coordinate less, numbers and words need no
// quotes, and a cell needs no end tag.
var (
	circle = regexp.MustCompile(`d="M(-?[\d.]+),(-?[\d.]+)A([\d.]+),[\d.]+ 0 1 1 -?[\d.]+,-?[\d.]+` +
		`A[\d.]+,[\d.]+ 0 1 1 -?[\d.]+,-?[\d.]+Z"\s+style="fill:([^";]*)(?:;fill-opacity:([\d.]+))?"`)
	straightLine = regexp.MustCompile(`d="M(-?[\d.]+),(-?[\d.]+)L(-?[\d.]+),(-?[\d.]+)"`)
	plainValue   = regexp.MustCompile(`\b((?:class|d|x|y|data-v|text-anchor|scope)=)"([\w.#,-]+) ?"(>| |/)`)
	needless     = regexp.MustCompile(` class=""|</td>`)
)

// shortenPaths shortens the circles and the horizontal and vertical lines of a picture.
func shortenPaths(svg []byte) []byte {
	svg = circle.ReplaceAllFunc(svg, func(path []byte) []byte {
		m := circle.FindSubmatch(path)
		radius := numberOf(m[3])
		out := fmt.Appendf(nil, `d="M%.1f,%.1fh0" style="stroke:%s;stroke-width:%.3g;stroke-linecap:round`,
			numberOf(m[1])-radius, numberOf(m[2]), m[4], 2*radius)
		if len(m[5]) > 0 {
			out = fmt.Appendf(out, ";stroke-opacity:%s", m[5])
		}
		return append(out, '"')
	})
	return straightLine.ReplaceAllFunc(svg, func(path []byte) []byte {
		m := straightLine.FindSubmatch(path)
		switch from := fmt.Sprintf(`d="M%g,%g`, tenths(m[1]), tenths(m[2])); {
		case bytes.Equal(m[1], m[3]):
			return fmt.Appendf(nil, `%sV%g"`, from, tenths(m[4]))
		case bytes.Equal(m[2], m[4]):
			return fmt.Appendf(nil, `%sH%g"`, from, tenths(m[3]))
		}
		return path
	})
}

// numberOf returns a number that a pattern matched.
func numberOf(text []byte) float64 {
	v, _ := strconv.ParseFloat(string(text), 64) // the pattern matches only numbers
	return v
}

// tenths rounds a number that a pattern matched to one decimal.
func tenths(text []byte) float64 { return math.Round(10*numberOf(text)) / 10 }

// Sort returns the value by which a column is sorted; "" if the text itself is the number.
func (c Cell) Sort() string {
	v, err := strconv.ParseFloat(strings.ReplaceAll(c.Text, ",", ""), 64)
	if !c.Known || err == nil && math.Abs(v-c.Value) <= 0.01*math.Abs(c.Value) {
		return ""
	}
	return fmt.Sprintf("%.9g", c.Value)
}

// shortenPage shortens a page without its script. Quotes occur only in tags, because the template escapes those of
// texts.
func shortenPage(page []byte) []byte {
	before, script, _ := bytes.Cut(page, []byte("<script>"))
	out := needless.ReplaceAll(plainValue.ReplaceAllFunc(before, func(attribute []byte) []byte {
		m := plainValue.FindSubmatch(attribute)
		out := append(append([]byte{}, m[1]...), m[2]...)
		if m[3][0] == '/' { // without a space the slash would belong to the value
			out = append(out, ' ')
		}
		return append(out, m[3]...)
	}), nil)
	return append(append(out, "<script>"...), script...)
}

// machineFacts describes the client's machine.
func machineFacts(m measure.Machine) []Fact {
	machine := fmt.Sprintf("%s · %s, %d usable by the client · %s memory · %s · %s",
		m.CPU, several(m.Threads, "thread"), m.UsableCPUs, byteSize(float64(m.Memory)), m.OS, m.Kernel)
	if m.Virtual != "" {
		machine += " · virtual (" + m.Virtual + ")"
	}
	disk := fmt.Sprintf("%s, %s of %s free · load average before the run %.2f",
		m.Disk.Type, byteSize(float64(m.Disk.Free)), byteSize(float64(m.Disk.Total)), m.Load[0])
	out := []Fact{{"Machine", machine}, {"Disk", disk}}
	if len(m.Unknown) > 0 {
		out = append(out, Fact{"Not known", strings.Join(m.Unknown, "; ")})
	}
	return out
}

// dataFacts describes a run into which files were loaded; data describes the files.
func dataFacts(r *run.Run, data string) []Fact {
	d := &r.Data
	return append([]Fact{
		{"Data", data},
		{"Records", fmt.Sprintf("%s distinct; %s quarantined. Subset %s.", count(d.Records), several(d.Quarantined, "line"), d.Subset)},
		{"Digest", d.Digest},
	}, runFacts(r)...)
}

// runFacts returns what a reader needs to judge any run with archives.
func runFacts(r *run.Run) []Fact {
	version := fmt.Sprintf("%s · %s %s", r.Version, r.Machine.Go, r.Machine.Arch)
	out := append(machineFacts(r.Machine), Fact{"Barograph", version})
	var servers []string
	for _, a := range r.Archives {
		if a.Place == "server" {
			servers = appendNew(servers, a.Engine+": "+serverInWords(a.Server))
		}
	}
	if len(servers) > 0 {
		out = append(out, Fact{"Servers", strings.Join(servers, " · ")})
	}
	return append(out, skippedFacts(r)...)
}

// skippedFacts names the engines of the default set that are not installed, and how to install them.
func skippedFacts(r *run.Run) []Fact {
	skipped := lists.Map(r.Skipped, func(s fault.Skip) string {
		return fmt.Sprintf("%s: %s (%s)", s.Engine, s.Reason, s.Cure)
	})
	if len(skipped) == 0 {
		return nil
	}
	return []Fact{{"Not included", strings.Join(skipped, " · ")}}
}

// settings lists settings as name=value, sorted by name.
func settings(values map[string]string) string {
	names := slices.Sorted(maps.Keys(values))
	return strings.Join(lists.Map(names, func(name string) string { return name + "=" + values[name] }), ", ")
}

// engineTable lists the engines of a run with their versions and settings.
func engineTable(r *run.Run) *Table {
	designColumn := "design"
	if r.Workload == run.MixWorkload {
		designColumn = "layout"
	}
	t := table("engine", designColumn, "product", "place", "URL", "an acknowledged write", "settings")
	for _, a := range r.Archives {
		product := strings.TrimSpace(a.Product + " " + a.Version)
		t.add("", texts(a.Engine, a.Design, product, a.Place, a.URL, acknowledged(&a), settings(a.Settings))...)
	}
	return t
}

// acknowledged describes what an acknowledged write guarantees.
func acknowledged(a *run.Archive) string { return cmp.Or(a.Acknowledged, "not reported") }

// commandLine quotes arguments as a POSIX shell needs them.
func commandLine(args []string) string {
	var out []string
	if len(args) == 0 || !strings.HasSuffix(args[0], "barograph") {
		out = append(out, "barograph")
	}
	for _, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\n\"'\\$&|;<>()*?[]#~`!{}") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out = append(out, a)
	}
	return strings.Join(out, " ")
}
