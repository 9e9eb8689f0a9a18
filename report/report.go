package report

import (
	"embed"
	"encoding/csv"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"strings"

	"barograph/run"
)

//go:embed template recorded2020.csv
var files embed.FS

// FileName is the report's name in the run folder.
const FileName = "report.html"

// Write reads a run folder, writes report.html into it and returns its path.
// The file refers to nothing outside itself.
func Write(dir string) (path string, err error) {
	if mixed(dir) {
		return writePoints(dir)
	}
	p, err := open(dir)
	if err != nil {
		return "", err
	}
	page, err := p.page()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := render(&b, "report.html", page); err != nil {
		return "", err
	}
	path = filepath.Join(dir, FileName)
	if err := os.WriteFile(path+".new", []byte(b.String()), 0o644); err != nil {
		return "", err
	}
	return path, os.Rename(path+".new", path)
}

// mixed reports whether a folder is a run of mixes of operations.
func mixed(dir string) bool {
	r, err := run.ReadRun(dir)
	return err == nil && r.Workload == run.Mixed
}

// folder is what a report is made of.
type folder struct {
	*results
	samples int
	kills   []run.Sample // of the workload faults
	curves  []*run.Curves
	plans   []run.Plan
	sum     Summary
}

func open(dir string) (*folder, error) {
	r, samples, err := run.Read(dir)
	if err != nil {
		return nil, err
	}
	f := &folder{samples: len(samples)}
	if r.Workload == "faults" {
		f.kills, samples = samples, nil
	}
	if f.curves, err = run.ReadCurves(dir); err != nil {
		return nil, err
	}
	if f.plans, err = run.ReadPlans(dir); err != nil {
		return nil, err
	}
	f.results = collect(r, samples, f.plans)
	f.sum = f.summarise()
	return f, nil
}

// page is what the templates show.
type page struct {
	Style template.CSS
	Code  template.JS

	Title       string
	Head        head
	Proof       table
	Incomplete  []string // archives, and what they lack
	Diffs       []difference
	Medians     table
	Cases       []caseView
	Tables      []section
	Recorded    table
	Loads       table
	LoadPicture []byte
	Curves      []picture
	Why         []whyCase
	Plans       []planGroup
	Method      method
}

func (f *folder) page() (*page, error) {
	p := &page{Title: "Barograph · " + f.run.ID, Head: f.head(), Medians: f.medians(&f.sum), Tables: f.original(&f.sum), Loads: f.loads(), Why: f.why(), Plans: f.planGroups(), Method: f.method()}
	if err := p.assets(); err != nil {
		return nil, err
	}
	var err error
	p.Proof, p.Diffs = f.proof()
	for i := range f.sum.Cases {
		v, err := f.caseView(i, &f.sum.Cases[i])
		if err != nil {
			return nil, err
		}
		p.Cases = append(p.Cases, v)
	}
	if p.LoadPicture, err = f.loadPicture(); err != nil {
		return nil, err
	}
	for _, a := range f.run.Archives {
		if !a.Whole {
			p.Incomplete = append(p.Incomplete, a.Engine+" · "+a.Design+": "+a.Problem)
		}
	}
	if p.Curves, err = verification(f.curves); err != nil {
		return nil, err
	}
	p.Recorded, err = recorded()
	return p, err
}

// assets brings the style and the code of a page.
func (p *page) assets() error {
	style, err := files.ReadFile("template/style.css")
	if err != nil {
		return err
	}
	code, err := files.ReadFile("template/sort.js")
	if err != nil {
		return err
	}
	p.Style, p.Code = template.CSS(style), template.JS(code) //nolint:gosec // our own files
	return nil
}

// render fills a template.
func render(w io.Writer, name string, p any) error {
	t, err := template.New(name).Funcs(template.FuncMap{
		// svg passes on a picture of report/plot, which escapes every text in it.
		"svg":   func(b []byte) template.HTML { return template.HTML(b) }, //nolint:gosec // see above
		"count": func(n int) string { return count(n) },
		"bytes": func(n int64) string { return byteSize(float64(n)) },
	}).ParseFS(files, "template/*.html")
	if err != nil {
		return err
	}
	return t.Execute(w, p)
}

// recorded are the figures of 2020.
func recorded() (table, error) {
	t := table{Wide: true}
	f, err := files.Open("recorded2020.csv")
	if err != nil {
		return t, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return t, err
	}
	for k, name := range lines[0] {
		c := column{Name: name, Unit: "ms"}
		if k == 0 {
			c = column{Name: name, Text: true}
		}
		t.Head = append(t.Head, c)
	}
	for _, line := range lines[1:] {
		var r row
		for _, v := range line {
			switch v {
			case "":
				r.Cells = append(r.Cells, dim(none))
			case wrong.String():
				r.Cells = append(r.Cells, cell{Text: v, Class: "bad"})
			default:
				r.Cells = append(r.Cells, text(v))
			}
		}
		t.Rows = append(t.Rows, r)
	}
	return t, nil
}
