package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/study/met"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
)

func newCases(e *env) *cobra.Command {
	var last *choice
	c := &cobra.Command{
		Use:   "cases [URL] | cases FILES…",
		Short: "Derive questions from the records of an archive or of files, as YAML",
		Long: fmt.Sprintf(`Cases derives questions from the records of an archive or of files. Each question has rows in these data. Without
arguments cases reads the archive that the environment variable BAROGRAPH_ENGINE names. A question has one of nine forms.
Six are those of NOAA's experiment: dieoff (by lead), one (one series over a few days), all (all levels and regions), levels
(by lead at several levels), profile (by level at one lead), large (up to about 100,000 records). Three are those of
METviewer's plots: series (over time), hour (by valid hour), threshold (by threshold). Cases starts with NOAA's six forms
for one line type. Then it takes one question of each line type in turn.

A question's name is its form, line type and variable: one_sl1l2_hgt. "ask" and "met" accept such a name for every
variable of the data. Without --case "met" asks the first %d of these questions. Write the output to a file, such as
cases.yaml, and edit it if you like (docs/reference/questions.md). Use the file like this: barograph met FILES --case
cases.yaml, or barograph ask URL cases.yaml#NAME.`, met.DerivedCases),
		Example: `  barograph cases vsdb_data > cases.yaml
  barograph cases duckdb:archive.db > cases.yaml`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && !e.isArchive(args[0]) {
				var shortfall error
				qs, err := e.casesOf(c.Context(), args, last.keeps(), &shortfall)
				return errors.Join(shortfall, e.printCases(qs, err))
			}
			url, _, err := e.splitArchive(c, args)
			if err != nil {
				return err
			}
			return e.printCases(e.casesIn(c.Context(), url, ""))
		},
	}
	last = lastLine(c)
	return c
}

// caseFlag adds the flag --case to a command whose default questions are derived from source.
func caseFlag(c *cobra.Command, cases *[]string, source string) {
	c.Flags().Var((*list)(cases), "case",
		"questions: \"noaa\" (NOAA's seven cases), case names, question files or METviewer plots (default: derived from "+source+")")
	complete(c, "case", caseNames)
}

// errFirst ends the loop over the subsets of an archive.
var errFirst = errors.New("the first subset is enough")

// casesIn derives the questions of one subset of an archive: the subset that only names, or the first one if only is
// empty.
func (e *env) casesIn(ctx context.Context, url, only string, names ...string) (qs []*question.Question, err error) {
	if url, err = e.resolveServer(url, []string{engine.LabDir()}); err != nil {
		return nil, err
	}
	err = e.eachSubset(ctx, url, only, engine.Options{ReadOnly: true}, func(n design.Name, a archive.Archive, subset string) error {
		d, _, err := e.engines.Parse(url)
		if err != nil {
			return err
		}
		c, err := a.Catalog(ctx, subset)
		if err != nil {
			return err
		}
		if qs = c.CasesWith(names...); len(names) == 0 { // a study reports a named case without rows
			if qs, err = met.AnswerableIn(ctx, a, archive.Flavours(d, n), subset, qs); err != nil {
				return err
			}
		}
		return errFirst
	})
	if errors.Is(err, errFirst) {
		err = nil
	}
	return qs, err
}

// casesOf derives the questions of files. names are cases that the caller needs. Unless shortfall is nil, casesOf
// prints the lines and the files that it cannot read, and sets *shortfall to an error with their numbers.
func (e *env) casesOf(
	ctx context.Context, args []string, keepLast bool, shortfall *error, names ...string,
) ([]*question.Question, error) {
	files, err := e.filesOf(args)
	if err != nil {
		return nil, err
	}
	o := load.ReadOptions{KeepLast: keepLast, ParseCache: load.NewParseCache(512 << 20)}
	c, marks, failed, err := load.Survey(ctx, files, o, nil)
	if err != nil {
		return nil, err
	}
	if s := newContents(c, marks); shortfall != nil {
		for _, err := range append(failed, s.quarantined()...) {
			e.reportError(err)
		}
		*shortfall = load.Shortfall{Quarantined: s.Quarantined, Unread: len(failed)}.Incomplete()
	}
	return met.Answerable(ctx, files, o, c.CasesWith(names...))
}

// printCases prints questions as YAML or JSON, unless err is the error of finding them.
func (e *env) printCases(qs []*question.Question, err error) error {
	switch {
	case err != nil:
		return err
	case len(qs) == 0:
		return incomplete(errors.New("there is no record to query"))
	}
	if e.json {
		all := make([]json.RawMessage, len(qs))
		for i, q := range qs {
			text, err := question.YAML(q)
			if err == nil {
				all[i], err = yaml.YAMLToJSON(text)
			}
			if err != nil {
				return err
			}
		}
		return e.printJSON(all)
	}
	text, err := question.YAML(qs...)
	if err != nil {
		return err
	}
	_, err = e.stdout.Write(text)
	return err
}
