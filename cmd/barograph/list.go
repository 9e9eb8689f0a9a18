package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/stat"

	"github.com/spf13/cobra"
)

func newList(e *env) *cobra.Command {
	c := parent(&cobra.Command{Use: "list", Short: "List engines, designs, flavours, cases, line types and statistics"}, newConflicts(e))
	add := func(name, short string, f func(*tabwriter.Writer) (any, error)) {
		c.AddCommand(&cobra.Command{Use: name, Short: short, Args: cobra.NoArgs, RunE: func(*cobra.Command, []string) error {
			var lines bytes.Buffer
			w := tabwriter.NewWriter(&lines, 0, 4, 2, ' ', 0)
			v, err := f(w)
			if err = errors.Join(err, w.Flush()); err != nil {
				return err
			}
			return e.print(v, func(w io.Writer) error { _, err := lines.WriteTo(w); return err })
		}})
	}
	add("engines", "Engines, their URLs, designs and flavours", e.listEngines)
	add("designs", "How records are laid out", summaries(design.Names()))
	add("flavours", "The forms in which a query is sent", summaries(flavour.Names()))
	add("cases", "The questions of the original experiment", listCases)
	add("linetypes", "Line types, their columns in the order of a line, and the rules for values", listLineTypes)
	add("statistics", "The statistics of each line type", listStatistics)
	return c
}

type engineRow struct {
	Scheme       string                         `json:"scheme"`
	Place        engine.Place                   `json:"place"`
	Example      string                         `json:"example"`
	Summary      string                         `json:"summary"`
	Designs      map[design.Name][]flavour.Name `json:"designs"`
	Layouts      []kv.Layout                    `json:"layouts,omitempty"`      // of records under keys
	Transactions []kv.IsolationLevel            `json:"transactions,omitempty"` // of several records
	NoScan       map[kv.Layout]string           `json:"no_scan,omitempty"`      // the reason why a layout cannot be scanned
	OwnDDL       bool                           `json:"own_ddl,omitempty"`      // a user's script may make the table of records
	Params       map[string]string              `json:"params,omitempty"`
	Untested     string                         `json:"not_run,omitempty"`
}

func (e *env) listEngines(w *tabwriter.Writer) (any, error) {
	var rows []engineRow
	for i := range e.engines {
		d := &e.engines[i]
		offer, params := kv.OfferOf(d), map[string]string{}
		rows = append(rows, engineRow{
			d.Scheme, d.Place, d.Example, d.Summary, archive.OfferOf(d).Designs,
			offer.Layouts, offer.Transactions, offer.NoScan, offer.OwnDDL, params, d.Untested,
		})
		fmt.Fprintf(w, "%s\t%s\t%s\n", d.Scheme, d.Place, d.Summary)
		fmt.Fprintf(w, "\tURL\t%s\n", d.Example)
		if d.Untested != "" {
			fmt.Fprintf(w, "\tNOT RUN\t%s\n", d.Untested)
		}
		for _, n := range archive.Designs(d) {
			fmt.Fprintf(w, "\tdesign %s\t%s\n", n, join(archive.Flavours(d, n)))
		}
		for _, l := range offer.Layouts {
			fmt.Fprintf(w, "\tlayout %s\t%s\n", l, l.Summary())
			if why, ok := offer.NoScan[l]; ok {
				fmt.Fprintf(w, "\t\tno scans (workload E): %s\n", why)
			}
		}
		if len(offer.Transactions) > 0 {
			fmt.Fprintf(w, "\ttransactions\tof several records: %s\n", join(offer.Transactions))
		}
		if offer.OwnDDL {
			fmt.Fprintln(w, "\town DDL\tycsb --ddl FILE makes the table of records")
		}
		for _, p := range d.Params {
			fmt.Fprintf(w, "\t?%s=\t%s (default %s)\n", p.Name, p.Help, cmp.Or(p.Default, "none"))
			params[p.Name] = p.Help
		}
	}
	return rows, nil
}

// toStrings converts names, designs, flavours … to strings.
func toStrings[T ~string](all []T) []string {
	return lists.Map(all, func(x T) string { return string(x) })
}

func join[T ~string](all []T) string { return strings.Join(toStrings(all), ", ") }

// summaries lists names with their summaries.
func summaries[T interface {
	~string
	Summary() string
}](names []T) func(*tabwriter.Writer) (any, error) {
	return func(w *tabwriter.Writer) (any, error) {
		rows := map[string]string{}
		for _, n := range names {
			fmt.Fprintf(w, "%s\t%s\n", n, n.Summary())
			rows[string(n)] = n.Summary()
		}
		return rows, nil
	}
}

func listCases(w *tabwriter.Writer) (any, error) {
	cases, err := question.Cases()
	if err != nil {
		return nil, err
	}
	rows := map[string]string{}
	for _, q := range cases {
		fmt.Fprintf(w, "%s\t%s\t%s\n", q.Name, q.Type.Name, q.Title)
		rows[q.Name] = q.Title
	}
	return rows, nil
}

type lineTypeRow struct {
	Name    string              `json:"name"`
	Summary string              `json:"summary"`
	Columns []string            `json:"columns"`
	Keys    []string            `json:"key_columns,omitempty"`
	Repeats []string            `json:"repeating_columns,omitempty"`
	Rules   map[string][]string `json:"rules"` // rule for values, in words → columns
}

func listLineTypes(w *tabwriter.Writer) (any, error) {
	var rows []lineTypeRow
	for _, t := range record.Types() {
		r := lineTypeRow{Name: t.Name, Summary: t.Summary, Rules: map[string][]string{}}
		for _, c := range t.Columns {
			r.Columns = append(r.Columns, c.Name)
			if c.Rule != nil {
				r.Rules[c.Rule.Allowed] = append(r.Rules[c.Rule.Allowed], c.Name)
			}
		}
		columns := r.Columns
		r.Keys = lists.Map(t.IdentityColumns(), func(c record.Column) string { return c.Name })
		if t.Group != nil {
			r.Repeats = t.Group.Fields
			repeated := fmt.Sprintf("(%s, %s)", strings.Join(r.Repeats, " "), t.Group.Times)
			columns = slices.Insert(slices.Clone(columns), t.ColumnsBeforeGroup, repeated)
			for i, f := range t.Group.Fields {
				rule := t.Group.Rules[i].Allowed
				r.Rules[rule] = append(r.Rules[rule], f)
			}
		}
		rows = append(rows, r)
		fmt.Fprintf(w, "%s\t%s\n", t.Name, t.Summary)
		for _, line := range wrap(columns, 100) {
			fmt.Fprintf(w, "\t%s\n", line)
		}
		if len(r.Keys) > 0 {
			fmt.Fprintf(w, "\tkey columns: %s\n", strings.Join(r.Keys, " "))
		}
		for _, rule := range slices.Sorted(maps.Keys(r.Rules)) {
			head := rule + ": "
			for _, line := range wrap(r.Rules[rule], 100) {
				fmt.Fprintf(w, "\t%s%s\n", head, line)
				head = ""
			}
		}
	}
	fields := lists.Map(lists.Indices(int(record.NumFields)), func(f int) string { return record.Field(f).String() })
	fmt.Fprintf(w, "header fields\t%s\n", strings.Join(fields, " "))
	return rows, nil
}

// wrap joins words into lines of at most width characters.
func wrap(words []string, width int) []string {
	var lines []string
	line := ""
	for _, word := range words {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line+" "+word) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

type statisticRow struct {
	LineType string `json:"line_type"`
	Name     string `json:"name"`
	Summary  string `json:"summary"`
	Unit     string `json:"unit"`
	Source   string `json:"source"`
}

func listStatistics(w *tabwriter.Writer) (any, error) {
	rows := lists.Map(stat.Table(), func(s stat.Stat) statisticRow {
		return statisticRow{s.LineType, s.Name, s.Summary, s.Unit, s.Source}
	})
	slices.SortStableFunc(rows, func(a, b statisticRow) int { return cmp.Compare(a.LineType, b.LineType) })
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.LineType, r.Name, r.Unit, r.Summary)
	}
	return rows, nil
}

// newConflicts is the command that prints the conflicts that an archive stores.
func newConflicts(e *env) *cobra.Command {
	var p archiveRef
	c := &cobra.Command{
		Use:   "conflicts [URL] [--design D] [--subset S]",
		Short: "List the lines of an archive's files that conflict",
		Long: `Conflicts prints the report that is stored with an archive. For each conflict (two lines with the same identity and
different values) it lists the line that was not stored, the line that was stored, and the first value that differs. "Refused"
means that the load had no rule for the conflict: load the files into a new archive with --on-conflict first, last or keep.
A subset that was loaded with keep stores both lines.`,
		Example: "  barograph list conflicts duckdb:archive.db --design wide",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if _, err := p.takeArchive(c, e, args, 0); err != nil {
				return err
			}
			a, err := p.open(c.Context(), e, engine.Options{ReadOnly: true})
			if err != nil {
				return err
			}
			defer a.Close() //nolint:errcheck // read only
			catalog, err := a.Catalog(c.Context(), p.subset)
			if err = errors.Join(err, p.checkSubset(c.Context(), a)); err != nil {
				return err
			}
			return e.print(map[string]any{"conflicts": catalog.Conflicts, "more": catalog.MoreConflicts}, catalog.ConflictsText)
		},
	}
	p.flags(c, e, "from")
	return c
}
