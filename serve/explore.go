package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/export"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/curve"
	"github.com/barograph/barograph/results/plot"
	"github.com/barograph/barograph/results/report"
	"github.com/barograph/barograph/results/run"
)

// asking is a question of a page, with the archive and the configuration to use.
type asking struct {
	archive  *servedArchive
	design   design.Name
	flavours []flavour.Name // the one that the URL names, else all that the design offers
	subset   string
	q        *question.Question
	pattern  []string // of variables, replaced by those of q; nil = none
	seed     uint64
	data     string // the contents of the archive: its marks
	key      string // of the answer
}

// own are the keys of a URL that name the archive and the configuration. All other keys belong to
// the question.
var own = []string{"archive", "design", "flavour", "seed", "intervals", "case"} //nolint:gochecknoglobals // a constant

// place reads the archive that a URL names.
func (s *Server) place(v url.Values) (*asking, error) {
	a := &asking{archive: s.archive(v.Get("archive")), subset: cmp.Or(v.Get("subset"), "archive"), seed: 1}
	if a.archive == nil {
		var names []string
		for _, o := range s.archives {
			names = append(names, o.name)
		}
		return nil, gone{fault.Unknown("archive", v.Get("archive"), names)}
	}
	a.design = design.Name(cmp.Or(v.Get("design"), string(archive.Designs(a.archive.driver)[0])))
	offered := archive.Flavours(a.archive.driver, a.design)
	if len(offered) == 0 {
		return nil, fault.NotOffered("design", a.design, archive.Designs(a.archive.driver), a.archive.driver.Scheme)
	}
	a.flavours = offered
	if f := flavour.Name(v.Get("flavour")); f != "" {
		if !slices.Contains(offered, f) {
			return nil, fault.NotOffered("flavour", f, offered, a.archive.driver.Scheme+" "+string(a.design))
		}
		a.flavours = []flavour.Name{f}
	}
	if text := v.Get("seed"); text != "" {
		var err error
		if a.seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			return nil, fault.Misuse("seed", "is no number", "write a whole number")
		}
	}
	return a, nil
}

// asking reads the question of a URL.
func (s *Server) asking(r *http.Request) (*asking, error) {
	v := r.URL.Query()
	for _, key := range own {
		if len(v[key]) > 1 {
			return nil, fault.Misuse(key, "is given twice", "give it once")
		}
	}
	a, err := s.place(v)
	if err != nil {
		return nil, err
	}
	name := v.Get("case")
	for _, key := range own {
		v.Del(key)
	}
	if name != "" {
		a.q, err = known(name)
		if err == nil && len(v) > 0 && (len(v) > 1 || v.Get("subset") == "") {
			err = fault.Misuse("case", "is combined with other conditions", "leave one of them out")
		}
	} else {
		a.q, err = question.FromURLQuery(v)
	}
	if err != nil {
		return nil, err
	}
	a.q.Subset, a.q.Name = a.subset, nameOf(a.q)
	if err := a.openPattern(r.Context()); err != nil {
		return nil, err
	}
	v.Set("case", name)
	a.key = strings.Join([]string{a.archive.name, string(a.design), fmt.Sprint(a.flavours), v.Encode()}, "\n")
	return a, nil
}

// openPattern replaces a pattern of variables by those that the archive has.
func (a *asking) openPattern(ctx context.Context) error {
	if !a.q.HasPattern() {
		return nil
	}
	return a.archive.with(ctx, a.design, func(in archive.Archive) error {
		catalog, err := in.Catalog(ctx, a.subset)
		if err == nil {
			a.pattern, a.q = a.q.Header[record.FcstVar], catalog.ExpandPatterns(a.q)
		}
		return err
	})
}

// known is a case of the program's own: no file of this machine is read.
func known(name string) (*question.Question, error) {
	cases, err := question.Cases()
	var names []string
	for _, q := range cases {
		if q.Name == name {
			return q, nil
		}
		names = append(names, q.Name)
	}
	return nil, cmp.Or(err, error(gone{fault.Unknown("case", name, names)}))
}

// stat returns the requested statistic.
func (a *asking) stat() (string, error) {
	names := curve.Stats(a.q)
	if len(names) == 0 {
		return "", fault.Misuse("stat", "is missing for line type "+a.q.Type.Name, "choose one: barograph list statistics")
	}
	return names[0], nil
}

// wide is the question with all that its statistic needs.
func (a *asking) wide() (wide *question.Question, stat string, err error) {
	if stat, err = a.stat(); err == nil {
		wide, err = curve.Widen(a.q, []string{stat})
	}
	return wide, stat, err
}

// Cost is where the time of an answer went, in ms.
type Cost struct {
	Open   float64 `json:"open"`
	Derive float64 `json:"derive"`
	Server float64 `json:"server"` // the engine's own time, 0 if it reports none
	Ask    float64 `json:"ask"`    // from the call to the last row, at the client
	Curve  float64 `json:"curve"`
	Recall bool    `json:"recalled"` // the rows were here already
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// ask returns the rows that the statistics of a question need. It takes the rows of an earlier
// question from memory if the archive has not changed.
func (s *Server) ask(ctx context.Context, a *asking, cost *Cost) (rows *answer.Answer, err error) {
	wide, name, err := a.wide()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	return rows, a.archive.with(ctx, a.design, func(in archive.Archive) error {
		cost.Open = ms(time.Since(began))
		if a.data, err = dataOf(ctx, in, a.subset); err != nil {
			return err
		}
		if rows = s.answers.recall(a.key + name + a.data); rows != nil {
			cost.Recall = true
			return nil
		}
		query, err := archive.PhraseBest(ctx, in, wide, a.flavours)
		if err != nil {
			return err
		}
		var b answer.Builder
		began := time.Now()
		if err := in.Ask(ctx, query, &b); err != nil {
			return err
		}
		cost.Ask, cost.Derive, cost.Server = ms(time.Since(began)), ms(query.DeriveTime), ms(query.ServerTime)
		rows = b.Take()
		s.answers.keep(a.key+name+a.data, rows)
		return nil
	})
}

// drawn returns the curves of a URL, with intervals if they are wanted. If no record matches, the
// error, a gone, names the reason.
func (s *Server) drawn(r *http.Request, a *asking, intervals bool, cost *Cost) (*curve.LazyCurves, *answer.Answer, error) {
	rows, err := s.ask(r.Context(), a, cost)
	if err != nil {
		return nil, nil, err
	}
	if rows.Rows == 0 {
		return nil, rows, s.absent(r.Context(), a)
	}
	name, _ := a.stat() // which ask has found
	began := time.Now()
	d, err := curve.ComputePoints(a.q, rows, name, a.seed)
	if err == nil && intervals {
		_, err = d.WithIntervals(r.Context())
	}
	cost.Curve = ms(time.Since(began))
	if err != nil {
		return nil, rows, err
	}
	return d, rows, nil
}

// Drawn is the answer to /api/v1/curve.
type Drawn struct {
	Curves   *run.VerificationPlot `json:"curves,omitempty"`
	Rows     int                   `json:"rows"`
	Question url.Values            `json:"question"`         // as a query string has it
	Absent   string                `json:"absent,omitempty"` // why there is no result
	Data     string                `json:"data"`             // of the archive's marks: another one is a newer archive
	Stamp    string                `json:"stamp"`            // of the archive before the query, see state
	Cost     Cost                  `json:"ms"`
	Shown    int                   `json:"shown"` // points, of Points
	Points   int                   `json:"points"`
}

func (s *Server) curve(w http.ResponseWriter, r *http.Request) error {
	a, err := s.asking(r)
	if err != nil {
		return err
	}
	var out Drawn
	if out.Stamp, err = a.archive.stamp(r.Context(), a.design, a.subset); err != nil {
		return err
	}
	d, rows, err := s.drawn(r, a, r.URL.Query().Get("intervals") != "", &out.Cost)
	switch why, none := errors.AsType[gone](err); {
	case rows != nil && none: // the page shows the question nevertheless
		out.Absent = why.Error()
	case err != nil:
		return err
	default:
		out.Curves = &d.VerificationPlot
	}
	if s.fresh(w, r, a.data) {
		return nil
	}
	out.Rows, out.Data, out.Question = rows.Rows, a.data, question.URLQuery(a.q)
	if out.Curves != nil {
		out.Shown, out.Points = thin(out.Curves, maxPoints)
	}
	return write(w, &out)
}

// state answers whether an archive is what it was: a page looks now and then.
func (s *Server) state(w http.ResponseWriter, r *http.Request) error {
	a, err := s.place(r.URL.Query())
	if err != nil {
		return err
	}
	stamp, err := a.archive.stamp(r.Context(), a.design, a.subset)
	if err != nil {
		return err
	}
	return write(w, map[string]string{"stamp": stamp})
}

// absent names the condition that leaves no record.
func (s *Server) absent(ctx context.Context, a *asking) error {
	return a.archive.with(ctx, a.design, func(in archive.Archive) error {
		c, err := in.Catalog(ctx, a.subset)
		if err == nil {
			err = gone{errors.New(cmp.Or(c.ExplainNoRecords(a.q), "its conditions leave no record"))}
		}
		return err
	})
}

// download writes curves and rows as files, by the ending of the path.
func (s *Server) download(w http.ResponseWriter, r *http.Request) error {
	a, err := s.asking(r)
	if err != nil {
		return err
	}
	what, ending, _ := strings.Cut(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:], ".")
	var cost Cost
	d, rows, err := s.drawn(r, a, what == "curve", &cost)
	if err != nil {
		return err
	}
	if s.fresh(w, r, a.data) {
		return nil
	}
	w.Header().Set("Content-Type", map[string]string{"csv": "text/csv; charset=utf-8", "svg": "image/svg+xml", "parquet": "application/vnd.apache.parquet"}[ending])
	w.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", run.FileName(a.q.Name)+"."+ending))
	if ending == "svg" {
		svg, err := report.Curves(&d.VerificationPlot, plot.SVG)
		if err == nil {
			_, err = w.Write(svg)
		}
		return err
	}
	if what == "curve" {
		rows = curve.Rows([]*run.VerificationPlot{&d.VerificationPlot})
	}
	return export.Answer(w, ending, rows, export.Spreadsheet)
}

// Asked is the reply of /api/v1/asked: the text of a query, and its plan.
type Asked struct {
	Text     string       `json:"text"`
	Args     []string     `json:"args,omitempty"`
	Keys     []string     `json:"keys,omitempty"` // the first ones
	AllKeys  int          `json:"all_keys,omitempty"`
	Plan     string       `json:"plan"`
	Access   []run.Access `json:"access"`
	Engine   string       `json:"engine"`
	Design   string       `json:"design"`
	Flavour  string       `json:"flavour"`
	Flavours []string     `json:"flavours"`
	Seed     uint64       `json:"seed"`
}

// someKeys are as many as a page shows.
const someKeys = 20

func (s *Server) asked(w http.ResponseWriter, r *http.Request) error {
	a, err := s.asking(r)
	if err != nil {
		return err
	}
	wide, _, err := a.wide()
	if err != nil {
		return err
	}
	out := Asked{Engine: a.archive.driver.Scheme, Design: string(a.design), Seed: a.seed}
	for _, f := range archive.Flavours(a.archive.driver, a.design) {
		out.Flavours = append(out.Flavours, string(f))
	}
	ctx := r.Context()
	err = a.archive.with(ctx, a.design, func(in archive.Archive) error {
		query, err := archive.PhraseBest(ctx, in, wide, a.flavours)
		if err != nil {
			return err
		}
		plan, err := in.Explain(ctx, query)
		if err != nil {
			return err
		}
		out.Flavour = string(query.Flavour)
		out.Text, out.Plan = fault.Redact(query.Text), fault.Redact(plan.Text)
		for _, x := range query.Args {
			out.Args = append(out.Args, fault.Redact(fmt.Sprint(x)))
		}
		out.AllKeys, out.Keys = len(query.Keys), query.Keys[:min(len(query.Keys), someKeys)]
		for _, x := range plan.Access {
			out.Access = append(out.Access, run.Access{Object: x.Object, Method: string(x.Method), Index: x.Index, Examined: x.Examined, Kept: x.Kept, Counted: x.Counted})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return write(w, &out)
}
