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

// pageQuestion is a question of the page, with the archive and the query configuration.
type pageQuestion struct {
	archive  *servedArchive
	design   design.Name
	flavours []flavour.Name // the one that the URL names, otherwise all that the design offers
	subset   string
	q        *question.Question
	patterns []string // of the URL, for the variables of q that match them; nil = none
	seed     uint64
	contents string // the archive's contentsID
	cacheKey string // archive, design, flavours and URL; ask appends the statistic and the contents
}

// defaultSeed is the seed of the bootstrap if the URL has none. It is also the default of barograph ask.
const defaultSeed = 1

// placeKeys are the keys of a URL that name the archive and the configuration. All other keys belong to
// the question.
var placeKeys = []string{"archive", "design", "flavour", "seed", "intervals", "case"} //nolint:gochecknoglobals // a constant

// parsePlace reads the archive and the configuration of a URL.
func (s *Server) parsePlace(v url.Values) (*pageQuestion, error) {
	a := &pageQuestion{archive: s.archive(v.Get("archive")), subset: cmp.Or(v.Get("subset"), "archive"), seed: defaultSeed}
	if a.archive == nil {
		var names []string
		for _, o := range s.archives {
			names = append(names, o.name)
		}
		return nil, notFound{fault.Unknown("archive", v.Get("archive"), names)}
	}
	a.design = design.Name(cmp.Or(v.Get("design"), string(archive.Designs(a.archive.driver)[0])))
	offered := archive.Flavours(a.archive.driver, a.design)
	if len(offered) == 0 {
		return nil, fault.NotOffered("design", a.design, archive.Designs(a.archive.driver), a.archive.driver.Scheme)
	}
	a.flavours = offered
	if f := flavour.Name(v.Get("flavour")); f != "" {
		if !slices.Contains(offered, f) {
			by := a.archive.driver.Scheme + " " + string(a.design)
			return nil, fault.NotOffered("flavour", f, offered, by)
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

// parseQuestion reads the question of a URL.
func (s *Server) parseQuestion(r *http.Request) (*pageQuestion, error) {
	v := r.URL.Query()
	for _, key := range append([]string{"subset"}, placeKeys...) {
		if len(v[key]) > 1 {
			return nil, fault.Misuse(key, "is given twice", "give it once")
		}
	}
	a, err := s.parsePlace(v)
	if err != nil {
		return nil, err
	}
	name := v.Get("case")
	for _, key := range placeKeys {
		v.Del(key)
	}
	if name != "" {
		a.q, err = caseByName(name)
		isOnlySubset := len(v) == 1 && v.Get("subset") != ""
		if err == nil && len(v) > 0 && !isOnlySubset {
			err = fault.Misuse("case", "is combined with other conditions", "leave one of them out")
		}
	} else {
		a.q, err = question.FromURLQuery(v)
	}
	if err != nil {
		return nil, err
	}
	a.q.Subset, a.q.Name = a.subset, nameOf(a.q)
	if err := a.expandPatterns(r.Context()); err != nil {
		return nil, err
	}
	v.Set("case", name)
	a.cacheKey = strings.Join([]string{a.archive.name, string(a.design), fmt.Sprint(a.flavours), v.Encode()}, "\n")
	return a, nil
}

// expandPatterns replaces patterns of variables by the matching variables of the archive.
func (a *pageQuestion) expandPatterns(ctx context.Context) error {
	if !a.q.HasPattern() {
		return nil
	}
	return a.archive.with(ctx, a.design, func(in archive.Archive) error {
		catalog, err := in.Catalog(ctx, a.subset)
		if err == nil {
			a.patterns, a.q = a.q.Header[record.FcstVar], catalog.ExpandPatterns(a.q)
		}
		return err
	})
}

// caseByName returns a case that is part of the program. It reads no file of this machine.
func caseByName(name string) (*question.Question, error) {
	cases, err := question.Cases()
	var names []string
	for _, q := range cases {
		if q.Name == name {
			return q, nil
		}
		names = append(names, q.Name)
	}
	return nil, cmp.Or(err, error(notFound{fault.Unknown("case", name, names)}))
}

// stat returns the requested statistic.
func (a *pageQuestion) stat() (string, error) {
	name := cmp.Or(curve.Stats(a.q)...)
	if name == "" {
		return "", fault.Misuse("stat", "is missing for line type "+a.q.Type.Name, "choose one: barograph list statistics")
	}
	return name, nil
}

// wide returns the question with all columns that its statistic needs, and the statistic.
func (a *pageQuestion) wide() (wide *question.Question, stat string, err error) {
	if stat, err = a.stat(); err == nil {
		wide, err = curve.Widen(a.q, []string{stat})
	}
	return wide, stat, err
}

// Cost lists the times of the steps of an answer, in ms.
type Cost struct {
	Open   float64 `json:"open"`
	Derive float64 `json:"derive"` // derivation of the keys
	Server float64 `json:"server"` // the engine's own time; 0 = it reports none
	Ask    float64 `json:"ask"`    // from the call to the last row, at the client
	Curve  float64 `json:"curve"`
	Recall bool    `json:"recalled"` // the rows came from the cache
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// ask returns the rows that the statistic of a question needs. It takes them from the cache if the archive
// has not changed.
func (s *Server) ask(ctx context.Context, a *pageQuestion, cost *Cost) (rows *answer.Answer, err error) {
	wide, name, err := a.wide()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	err = a.archive.with(ctx, a.design, func(in archive.Archive) error {
		cost.Open = ms(time.Since(began))
		if a.contents, err = contentsID(ctx, in, a.subset); err != nil {
			return err
		}
		if rows = s.answers.get(a.cacheKey + name + a.contents); rows != nil {
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
		s.answers.put(a.cacheKey+name+a.contents, rows)
		return nil
	})
	return rows, err
}

// curves computes the curves of a question and, if requested, their intervals. If no record matches, the
// error is a notFound with the reason.
func (s *Server) curves(
	r *http.Request, a *pageQuestion, intervals bool, cost *Cost,
) (*curve.LazyCurves, *answer.Answer, error) {
	rows, err := s.ask(r.Context(), a, cost)
	if err != nil {
		return nil, nil, err
	}
	if rows.Rows == 0 {
		return nil, rows, s.explainNoRecords(r.Context(), a)
	}
	name, _ := a.stat() // ask has returned its error
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

// CurveReply is the response of /api/v1/curve.
type CurveReply struct {
	Curves   *run.VerificationPlot `json:"curves,omitempty"`
	Rows     int                   `json:"rows"`
	Question url.Values            `json:"question"`         // as a query string
	Absent   string                `json:"absent,omitempty"` // why no record matches
	Contents string                `json:"data"`             // contentsID of the archive; it changes with each load
	Stamp    string                `json:"stamp"`            // of the archive before the query, see state
	Cost     Cost                  `json:"ms"`
	Shown    int                   `json:"shown"`  // points in Curves
	Points   int                   `json:"points"` // points before thin
}

func (s *Server) curve(w http.ResponseWriter, r *http.Request) error {
	a, err := s.parseQuestion(r)
	if err != nil {
		return err
	}
	var out CurveReply
	if out.Stamp, err = a.archive.stamp(r.Context(), a.design, a.subset); err != nil {
		return err
	}
	d, rows, err := s.curves(r, a, r.URL.Query().Get("intervals") != "", &out.Cost)
	switch why, none := errors.AsType[notFound](err); {
	case rows != nil && none: // the page shows the question nevertheless
		out.Absent = why.Error()
	case err != nil:
		return err
	default:
		out.Curves = &d.VerificationPlot
	}
	if s.notModified(w, r, a.contents) {
		return nil
	}
	out.Rows, out.Contents, out.Question = rows.Rows, a.contents, question.URLQuery(a.q)
	if out.Curves != nil {
		out.Shown, out.Points = thin(out.Curves, maxPoints)
	}
	return writeJSON(w, &out)
}

// state sends the archive's stamp. The page polls it and notices a change.
func (s *Server) state(w http.ResponseWriter, r *http.Request) error {
	a, err := s.parsePlace(r.URL.Query())
	if err != nil {
		return err
	}
	stamp, err := a.archive.stamp(r.Context(), a.design, a.subset)
	if err != nil {
		return err
	}
	return writeJSON(w, map[string]string{"stamp": stamp})
}

// explainNoRecords returns an error that names the condition that no record meets.
func (s *Server) explainNoRecords(ctx context.Context, a *pageQuestion) error {
	return a.archive.with(ctx, a.design, func(in archive.Archive) error {
		c, err := in.Catalog(ctx, a.subset)
		if err == nil {
			err = notFound{errors.New(cmp.Or(c.ExplainNoRecords(a.q), "no record meets all conditions"))}
		}
		return err
	})
}

// download sends curves or rows as a file, in the format that the path ends with.
func (s *Server) download(w http.ResponseWriter, r *http.Request) error {
	a, err := s.parseQuestion(r)
	if err != nil {
		return err
	}
	what, ending, _ := strings.Cut(r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:], ".")
	var cost Cost
	d, rows, err := s.curves(r, a, what == "curve", &cost)
	if err != nil {
		return err
	}
	if s.notModified(w, r, a.contents) {
		return nil
	}
	types := map[string]string{
		"csv": "text/csv; charset=utf-8", "svg": "image/svg+xml", "parquet": "application/vnd.apache.parquet",
	}
	w.Header().Set("Content-Type", types[ending])
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

// QueryReply is the response of /api/v1/asked: the text of a query, and its plan.
type QueryReply struct {
	Text     string       `json:"text"`
	Args     []string     `json:"args,omitempty"`
	Keys     []string     `json:"keys,omitempty"`     // the first maxShownKeys
	AllKeys  int          `json:"all_keys,omitempty"` // number of keys
	Plan     string       `json:"plan"`
	Access   []run.Access `json:"access"`
	Engine   string       `json:"engine"`
	Design   string       `json:"design"`
	Flavour  string       `json:"flavour"`
	Flavours []string     `json:"flavours"`
	Seed     uint64       `json:"seed"`
}

// maxShownKeys is the maximum number of keys that the page shows.
const maxShownKeys = 20

// query sends the text of the query of a question, and its plan.
func (s *Server) query(w http.ResponseWriter, r *http.Request) error {
	a, err := s.parseQuestion(r)
	if err != nil {
		return err
	}
	wide, _, err := a.wide()
	if err != nil {
		return err
	}
	out := QueryReply{Engine: a.archive.driver.Scheme, Design: string(a.design), Seed: a.seed}
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
		out.AllKeys, out.Keys = len(query.Keys), query.Keys[:min(len(query.Keys), maxShownKeys)]
		for _, x := range plan.Access {
			out.Access = append(out.Access, run.Access{
				Object: x.Object, Method: string(x.Method), Index: x.Index,
				Examined: x.Examined, Kept: x.Kept, Counted: x.Counted,
			})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return writeJSON(w, &out)
}
