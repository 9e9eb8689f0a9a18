package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/export"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/curve"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/stat"
	"github.com/barograph/barograph/study/met"

	"github.com/spf13/cobra"
)

// askJob has the flags of ask, and the state of its run.
type askJob struct {
	archiveRef
	flavour, format, out, plot, pictureKind string
	where, stats, scorecard                 []string
	valid, lead                             string
	explain                                 bool
	subsetNamed                             bool
	fromFile                                bool // the question is that of a file
	seed                                    uint64
	pictures                                []plotFile
	omitted                                 []string                   // what the output lacks, each once: values, times and curves
	catalogs                                map[string]*design.Catalog // by subset; ask reads a catalog when it needs it
	reportedSubsets                         map[string]bool            // subsets that ask reported, because the archive lacks them
}

// plotFile is one file that --plot draws.
type plotFile struct {
	*run.VerificationPlot
	file string
}

func newAsk(e *env) *cobra.Command {
	a := &askJob{catalogs: map[string]*design.Catalog{}, reportedSubsets: map[string]bool{}}
	c := &cobra.Command{
		Use:   "ask [URL] CASE|QUESTION.yaml|PLOT.xml",
		Short: "Ask an archive a question, and print rows, a statistic or a plot",
		Long: `Ask sends a question to an archive (URL, else --engine, else the environment variable
BAROGRAPH_ENGINE), and prints the rows of the result. The question is one of these:
  CASE           a name that "barograph cases URL" prints, or "barograph list cases" (NOAA's experiment)
  QUESTION.yaml  a file (docs/reference/questions.md); QUESTION.yaml#NAME is one of its questions
  PLOT.xml       a METviewer plot_spec (docs/reference/metviewer.md); PLOT.xml#NAME is one of its plots
--where, --valid and --lead change the question. --stat computes a statistic from the partial sums, as METviewer does,
and reports the number of records N behind each value. --out writes one file for each question, --plot one for each
question and statistic of --stat. Leads are in hours; in rows as CSV, JSON or Parquet they are in seconds.`,
		Example: `  barograph ask duckdb:archive.db dieoff_sal1l2_hgt --plot dieoff.svg
  barograph ask duckdb:archive.db test_3 --format csv
  barograph ask duckdb:archive.db test_3 --valid 2019010100 --where vx_mask=G2/NHX --stat ANOM_CORR
  barograph ask duckdb:archive.db test_3 --where fcst_lev= --scorecard GFS,ECM --plot card.svg
  barograph ask duckdb:archive.db plot.xml --subset mv_gfs --plot out.svg`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			if err := a.checkDrawing(e); err != nil {
				return err
			}
			args, err := a.takeArchive(c, e, args, 1)
			if err != nil {
				return err
			}
			a.subsetNamed, a.format = c.Flags().Changed("subset"), formatOf(c, a.format, a.out)
			if !slices.Contains(askFormats(), a.format) {
				return usage(fault.Unknown("--format", a.format, askFormats()))
			}
			return e.ask(c.Context(), a, args[0])
		},
	}
	a.flags(c, e, "from")
	e.spreadsheet(c)
	f := c.Flags()
	f.StringVar(&a.flavour, "flavour", "", "form of the query (see \"barograph list flavours\"): "+join(flavour.Names())+
		" (default: the last one in this list that the design offers and that can express the question)")
	f.StringArrayVar(&a.where, "where", nil, `replace the question's condition on a header field: vx_mask=G2/NHX; `+
		`repeat it or use commas for several values (\, is a comma in a value); FIELD= removes the condition`)
	f.StringVar(&a.valid, "valid", "", "replace the question's valid times: 2019010100, a list a,b,c, a range a..b/6h, or all")
	f.StringVar(&a.lead, "lead", "", "replace the question's leads, in hours: 0,24,72 or 0-240/6, or all")
	f.StringVar(&a.format, "format", "table", "table, csv, json, parquet, or metviewer: a statistic in the columns "+
		"of METviewer's .data files; if omitted, the extension of --out decides")
	f.StringVarP(&a.out, "out", "o", "", "write to this file (default: stdout); several questions: NAME.csv becomes NAME-QUESTION.csv")
	f.StringSliceVar(&a.stats, "stat", nil, "compute statistics (\"barograph list statistics\") instead of printing rows: RMSE,ME")
	complete(c, "stat", statNames)
	f.StringVar(&a.plot, "plot", "", "draw the statistic into this file: .svg, .png or .pdf")
	kinds := strings.Join(slices.Sorted(maps.Keys(question.LineTypesOfPictures())), ", ")
	f.StringVar(&a.pictureKind, "picture", "", "kind of picture: "+kinds+" (default: the question's kind; if it has none, curves)")
	f.Var((*list)(&a.scorecard), "scorecard",
		"with --plot: instead of curves draw, for each lead, variable, level and region, which of two models is better: CANDIDATE,BASELINE")
	f.BoolVar(&a.explain, "explain", false, "print the query, the access paths of its plan, and the plan itself, instead of rows")
	f.Uint64Var(&a.seed, "seed", 1, "seed of the bootstrap for confidence intervals")
	seldom(c, "design", "flavour", "picture", "seed", "subset")
	c.MarkFlagsMutuallyExclusive("explain", "plot")
	complete(c, "flavour", flavourNames)
	complete(c, "format", askFormats)
	c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return caseNames(), cobra.ShellCompDirectiveDefault
	}
	return c
}

// metviewerFormat is the value of --format for METviewer's own columns.
const metviewerFormat = "metviewer"

func askFormats() []string { return append(export.AnswerFormats(), metviewerFormat) }

// computes reports whether ask computes statistics instead of printing rows.
func (a *askJob) computes() bool {
	return len(a.stats) > 0 || a.plot != "" || a.format == metviewerFormat
}

// statNames returns the completions of --stat.
func statNames() []string {
	return lists.Map(stat.Table(), func(s stat.Stat) string { return s.Name + "\t" + s.LineType + ": " + s.Summary })
}

// caseNames returns the completions of questions.
func caseNames() []string {
	cases, _ := question.Cases() // without cases the shell completes nothing
	names := lists.Map(cases, func(q *question.Question) string { return q.Name + "\t" + q.Title })
	return append(names, question.NOAA+"\tthe seven cases of NOAA's experiment")
}

// questions finds a case by its name, including the cases derived from the archive, or the
// questions of a file. Then it applies --where, --valid and --lead.
func (e *env) questions(ctx context.Context, a *askJob, name string, source archive.Archive) ([]*question.Question, error) {
	qs, err := e.findCases([]string{name}, !a.computes(), func() ([]*question.Question, error) {
		c, err := source.Catalog(ctx, a.subset)
		if err != nil {
			return nil, err
		}
		subsets, err := source.Subsets(ctx)
		switch {
		case err != nil || len(c.Groups) > 0 || len(subsets) == 0:
			return c.CasesWith(name), err
		case !slices.Contains(subsets, a.subset):
			return nil, usage(fault.Unknown("--subset", a.subset, subsets))
		}
		marks, err := source.Marks(ctx, a.subset)
		stored := lists.Filter(marks, func(m archive.Mark) bool { return m.Stored > 0 })
		if len(stored) > 0 { // a commit writes both the catalog and the list of files
			err = engine.DamagedError(fault.Redact(a.url), fmt.Errorf("the catalog of subset %s is empty, but its list of loaded files has records in %s",
				a.subset, run.CountOf(len(stored), "row")))
		}
		return nil, cmp.Or(err, error(&fault.Status{
			Code: fault.Incomplete, Err: fmt.Errorf("%w in subset %s: it has no records"+absenceCure, curve.ErrNoRecords, a.subset),
		}))
	})
	if err != nil {
		return nil, err
	}
	for _, q := range qs {
		if len(q.Refused) > 0 && a.computes() {
			problem := "Barograph cannot compute the plot as specified: " + strings.Join(q.Refused, "; ")
			return nil, usage(&fault.Error{File: name, Problem: problem, Cure: "correct the list, or omit the curve"})
		}
		if err := a.change(q); err != nil {
			return nil, err
		}
	}
	question.RenameChanged(qs)
	return qs, nil
}

// list is a flag whose value is a comma-separated list; the flag can be repeated. After a
// backslash a comma belongs to the item.
type list []string

func (l *list) Set(text string) error {
	*l = append(*l, question.SplitList(text)...)
	return nil
}

func (l *list) String() string {
	if l == nil {
		return ""
	}
	return strings.Join(lists.Map(*l, question.EscapeItem), ",")
}

// Type names the values in the help.
func (*list) Type() string { return "strings" }

// listsValues reports whether the user lists the values of a field: in a file, or by --where. A case of the program may
// list more values than an archive has.
func (a *askJob) listsValues(q *question.Question, f record.Field) bool {
	isListed := a.fromFile || slices.ContainsFunc(a.where, func(text string) bool { return strings.HasPrefix(text, f.String()+"=") })
	isCurve := func(g question.Group) bool { return g.Field == f.String() }
	if a.computes() && q.Drawing != nil && slices.ContainsFunc(q.Drawing.Curves, isCurve) {
		return false // package curve names absent curves
	}
	return isListed && len(q.Header[f]) > 1 // if the only value is absent, ask reports that no record matches
}

// absentValues names values that the user lists and no series of the archive has. A comma in --where separates values,
// but may also be part of a value of the archive. If --where can mean both, absentValues returns an error.
func (a *askJob) absentValues(ctx context.Context, source archive.Archive, q *question.Question, subsets []string) (absent []string, err error) {
	for f, values := range q.Header {
		if !a.listsValues(q, record.Field(f)) {
			continue
		}
		present := ""
		for _, subset := range subsets {
			c, err := a.catalog(ctx, source, subset)
			if err != nil {
				return nil, err
			}
			values, present = c.MissingValues(q.Type, record.Field(f), values)
		}
		if values = slices.DeleteFunc(values, question.IsPattern); len(values) > 0 {
			absent = append(absent, fmt.Sprintf("no %s has %s %s; the archive has %s", q.Type.Name, record.Field(f), strings.Join(values, " or "), present))
		}
	}
	for _, text := range a.where {
		f, values, err := question.ParseCondition(text)
		if err != nil {
			return nil, err
		}
		var joined, cures []string // each sequence of values, joined to one value with commas, and the --where for it
		for i := range values {
			for j := i + 2; j <= len(values); j++ {
				joined = append(joined, strings.Join(values[i:j], ","))
				one := list(slices.Replace(slices.Clone(values), i, j, joined[len(joined)-1]))
				cures = append(cures, one.String())
			}
		}
		for _, subset := range subsets {
			c, err := a.catalog(ctx, source, subset)
			if err != nil {
				return nil, err
			}
			none, _ := c.MissingValues(q.Type, f, joined)
			if i := slices.IndexFunc(joined, func(v string) bool { return !slices.Contains(none, v) }); i >= 0 {
				return nil, fault.Misuse("--where "+text, "is ambiguous: "+joined[i]+" is one value of the archive, or several values",
					"write --where '"+f.String()+"="+cures[i]+"' for the one value, or repeat --where for each value of a list")
			}
		}
	}
	return absent, nil
}

// absentTimes names the leads that --lead lists, and the times that --valid lists, if no row has them.
func (a *askJob) absentTimes(q *question.Question, rows *answer.Answer) (absent []string) {
	for k, c := range rows.Columns {
		have := lists.Set(rows.Vectors[k].Seconds, func(s int64) int64 { return s })
		var none []string
		switch {
		case c.Name == "fcst_lead" && a.lead != "" && !strings.Contains(a.lead, "-"):
			none = question.FormatLeads(lists.Filter(q.Lead, func(lead int32) bool { return !have[int64(lead)] }))
		case c.Name == "fcst_valid_beg" && a.valid != "":
			times := lists.Filter(q.Valid.List, func(t int64) bool { return !have[t] })
			none = lists.Map(times, func(t int64) string { return string(design.AppendISO(nil, t)) })
		}
		if len(none) > 0 {
			absent = append(absent, "no record has "+c.Name+" "+strings.Join(none, " or "))
		}
	}
	return absent
}

// omit adds what the output lacks, each once.
func (a *askJob) omit(all []string) { a.omitted = question.Unique(append(a.omitted, all...)) }

// printNotes prints notes on a file or a study to stderr, such as the parts of a plot that Barograph does not support.
func (e *env) printNotes(about string, notes []string) {
	for _, n := range notes {
		fmt.Fprintf(e.stderr, "%s: %s\n", about, n)
	}
}

// change applies the flags that change a question, and adapts its statistics and drawing.
func (a *askJob) change(q *question.Question) error {
	before := *q
	if q.Drawing != nil {
		drawing := *q.Drawing
		before.Drawing = &drawing
	}
	for _, w := range a.where {
		name, value, _ := strings.Cut(w, "=")
		if flag := map[string]string{"fcst_lead": "--lead", "fcst_valid_beg": "--valid", "fcst_valid": "--valid"}[name]; flag != "" {
			return fault.Misuse("--where "+w, "is not a header field", "use "+flag+" "+value)
		}
	}
	if err := q.SetHeader(a.where...); err != nil {
		return usage(fmt.Errorf("--where: %w", err))
	}
	if a.valid != "" {
		if err := q.SetValidTimes(a.valid); err != nil {
			return usage(fmt.Errorf("--valid: %w", err))
		}
	}
	if a.lead != "" {
		if err := q.SetLeads(a.lead); err != nil {
			return usage(fmt.Errorf("--lead: %w", err))
		}
	}
	if len(a.scorecard) > 0 {
		if len(a.scorecard) != 2 {
			return fault.Misuse("--scorecard", "names "+strings.Join(a.scorecard, ","), "give two models: candidate,baseline")
		}
		q.Scorecard(a.scorecard[0], a.scorecard[1])
	}
	if a.pictureKind != "" {
		if err := q.SetPicture(a.pictureKind); err != nil {
			return usage(fmt.Errorf("--picture: %w", err))
		}
	}
	q.Adapt(&before, a.stats...)
	return nil
}

// chooseSubset sets the subset of a question. --subset has priority; then the subset that the question names, if the
// archive has it; then the default.
func (a *askJob) chooseSubset(ctx context.Context, e *env, q *question.Question, source archive.Archive) error {
	if plotSubset := q.Subset; plotSubset != "" && plotSubset != a.subset && !a.subsetNamed {
		catalog, err := a.catalog(ctx, source, plotSubset)
		if err != nil {
			return err
		}
		if len(catalog.Groups) > 0 {
			return nil
		}
		if !a.reportedSubsets[plotSubset] {
			fmt.Fprintf(e.stderr, "the plot names subset %s, which the archive does not have; ask queries subset %s\n", plotSubset, a.subset)
		}
		a.reportedSubsets[plotSubset] = true
	}
	q.Subset = a.subset
	return nil
}

// subsets returns the subsets to query: more than one if a METviewer plot names several databases.
func (a *askJob) subsets(ctx context.Context, e *env, q *question.Question, source archive.Archive) ([]string, error) {
	all := []string{q.Subset}
	for _, other := range q.MoreSubsets {
		if a.subsetNamed || slices.Contains(all, other) {
			continue
		}
		catalog, err := a.catalog(ctx, source, other)
		if err != nil {
			return nil, err
		}
		if len(catalog.Groups) == 0 {
			fmt.Fprintf(e.stderr, "%s: the plot also names subset %s, which the archive does not have\n", q.Name, other)
			continue
		}
		all = append(all, other)
	}
	return all, nil
}

func (e *env) ask(ctx context.Context, a *askJob, name string) error {
	source, err := a.open(ctx, e, engine.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // read only
	if cost := source.db.Cost; cost != "" && !e.json {
		e.info(fault.Redact(a.url) + " is " + cost)
	}
	offered := archive.Flavours(source.driver, design.Name(a.design))
	if chosen := flavour.Name(a.flavour); chosen != "" && !slices.Contains(offered, chosen) {
		return fault.NotOffered("--flavour", chosen, offered, source.driver.Scheme+" "+a.design)
	}
	a.fromFile = filepath.Ext(name) != "" // see findCases
	qs, err := e.questions(ctx, a, name, source)
	if err != nil {
		return err
	}
	unanswered := absences{len(qs), map[string][]error{}}
	for _, q := range qs {
		err := e.askOne(ctx, a, q, source, len(qs) > 1)
		if errors.Is(err, curve.ErrNoRecords) {
			unanswered.errors[q.Type.Name] = append(unanswered.errors[q.Type.Name], err)
		} else if err != nil {
			return err
		}
	}
	for _, p := range a.pictures {
		if err := e.draw(p.VerificationPlot, p.file); err != nil {
			return err
		}
	}
	err = unanswered.err()
	if n := len(a.omitted); n > 0 {
		err = errors.Join(err, fmt.Errorf("the output lacks %s: %s", run.CountOf(n, "item"), strings.Join(a.omitted, "; ")))
	}
	if err != nil {
		return incomplete(err)
	}
	return nil
}

// askOne asks one question. If there are several, the names of output files contain its name.
func (e *env) askOne(ctx context.Context, a *askJob, q *question.Question, source *openArchive, several bool) error {
	if err := a.chooseSubset(ctx, e, q, source); err != nil {
		return err
	}
	if q.HasPattern() {
		catalog, err := a.catalog(ctx, source, q.Subset)
		if err != nil {
			return err
		}
		q = catalog.ExpandPatterns(q)
	}
	// widened also queries the columns from which ask computes the statistics.
	widened, names := q, []string(nil)
	var err error
	if a.computes() {
		if names, err = a.statistics(q); err != nil {
			return err
		}
		for _, missing := range curve.OmittedDerived(q, names) {
			fmt.Fprintf(e.stderr, "%s: %s is not drawn, because --stat names %s\n", q.Name, missing, strings.Join(names, ", "))
		}
		if widened, err = curve.Widen(q, names); err != nil {
			return usage(err)
		}
	}
	if a.explain {
		return e.explainQuestion(ctx, a, widened, source, several)
	}
	var b answer.Builder
	start := time.Now()
	subsets, err := a.subsets(ctx, e, q, source)
	if err != nil {
		return err
	}
	absent, err := a.absentValues(ctx, source, q, subsets)
	if err != nil {
		return err
	}
	if subsets, err = a.subsetsWithRecords(ctx, source, q, subsets); err != nil {
		return err
	}
	var usedFlavour flavour.Name
	for n, subset := range subsets {
		var more answer.Builder
		query, err := a.phrase(ctx, source, widened.InSubset(subset))
		if err != nil {
			return err
		}
		usedFlavour = query.Flavour
		if n == 0 {
			err = source.Ask(ctx, query, &b)
		} else if err = source.Ask(ctx, query, &more); err == nil {
			for i := range more.Rows {
				b.Copy(&more.Answer, i)
			}
		}
		if err != nil {
			return err
		}
	}
	if b.Rows == 0 {
		return fmt.Errorf("%w in subset %s: no record meets all conditions"+absenceCure, curve.ErrNoRecords, q.Subset)
	}
	if absent = append(absent, a.absentTimes(q, &b.Answer)...); !a.computes() {
		absent = append(absent, q.Omitted...)
	}
	for _, what := range absent {
		fmt.Fprintf(e.stderr, "%s: %s\n", q.Name, what)
	}
	a.omit(absent)
	fmt.Fprintf(e.stderr, "%s: %s in %.1f ms (%s, %s, %s)\n",
		q.Name, run.CountOf(b.Rows, "row"), milliseconds(time.Since(start)), source.driver.Scheme, a.design, usedFlavour)
	part := ""
	if several {
		part = q.Name
	}
	if names != nil {
		return e.curves(ctx, a, q, b.Take(), names, part)
	}
	return e.writeAnswer(partFile(a.out, part), a.format, b.Take())
}

// explainQuestion prints the query of a question, how its plan accesses tables, and the plan.
func (e *env) explainQuestion(ctx context.Context, a *askJob, q *question.Question, source *openArchive, several bool) error {
	query, err := a.phrase(ctx, source, q)
	if err != nil {
		return err
	}
	plan, err := source.Explain(ctx, query)
	if err != nil {
		return err
	}
	return e.writeTo("--out", partFile(a.out, map[bool]string{true: q.Name}[several]), func(w io.Writer) error {
		accesses, text := met.Accesses(plan), fault.Redact(plan.Text)
		if e.json {
			return (&env{stdout: w}).printJSON(map[string]any{"question": q.Name, "query": query.Text, "accesses": accesses, "plan": text})
		}
		fmt.Fprintf(w, "%s\n\n", query.Text)
		if err := printAccesses(w, accesses); err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "%s\n", text)
		return err
	})
}

// printAccesses prints how a plan accesses tables and indexes.
func printAccesses(w io.Writer, all []run.Access) error {
	if len(all) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "access\tobject\tindex\texamined → kept")
	for _, a := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", a.Method, a.Object, cmp.Or(a.Index, "none"), a.Counts())
	}
	fmt.Fprintln(t)
	return t.Flush()
}

// partFile puts the name of a part before a file's extension: out.svg, tmp → out-tmp.svg.
func partFile(file, part string) string {
	if file == "" || part == "" {
		return file
	}
	ext := filepath.Ext(file)
	return strings.TrimSuffix(file, ext) + "-" + run.FileName(part) + ext
}

// phrase phrases a question in the flavour of --flavour. Without the flag it uses the last flavour of the archive's
// design that can express the question.
func (a *askJob) phrase(ctx context.Context, source *openArchive, q *question.Question) (*archive.Query, error) {
	offered := archive.Flavours(source.driver, design.Name(a.design))
	if a.flavour == "" {
		query, err := archive.PhraseBest(ctx, source, q, offered)
		if errors.Is(err, flavour.ErrCannotExpress) {
			err = fmt.Errorf("%s, %s %s: %w", q.Name, source.driver.Scheme, a.design, err)
		}
		return query, err
	}
	chosen := flavour.Name(a.flavour)
	query, err := source.Phrase(ctx, q, chosen)
	if errors.Is(err, flavour.ErrCannotExpress) {
		cure := "omit --flavour"
		if fallback, err := archive.PhraseBest(ctx, source, q, offered); err == nil {
			cure = "use " + string(fallback.Flavour)
		}
		return nil, fault.Misuse("--flavour "+a.flavour, "cannot express "+q.Name, cure)
	}
	return query, err
}
