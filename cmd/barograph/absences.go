package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/curve"
)

// absences counts, by line type, the questions for which the archive has no record.
type absences struct {
	questions int                // number of all questions
	errors    map[string][]error // by line type, one for each question without records
}

// err reports each line type once, with the reason of its first question.
func (a *absences) err() error {
	var all []error
	for _, name := range slices.Sorted(maps.Keys(a.errors)) {
		err := a.errors[name][0]
		if a.questions > 1 {
			err = fmt.Errorf("%d of %d questions, line type %s: %w", len(a.errors[name]), a.questions, name, err)
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

// catalog returns the catalog of a subset. It reads each catalog once for all questions.
func (a *askJob) catalog(ctx context.Context, source archive.Archive, subset string) (*design.Catalog, error) {
	if c := a.catalogs[subset]; c != nil {
		return c, nil
	}
	c, err := source.Catalog(ctx, subset)
	a.catalogs[subset] = c // nil after an error
	return c, err
}

const absenceCure = " (`barograph show` lists the contents; --where, --valid and --lead change the question)"

// subsetsWithRecords returns the subsets that can have records of a question according to their catalogs; ask does not
// query the others. A catalog lists every series that a load ever stored. If no subset remains, the error gives the
// reason of the first subset.
func (a *askJob) subsetsWithRecords(ctx context.Context, source archive.Archive, q *question.Question, subsets []string) ([]string, error) {
	var out []string
	firstReason := ""
	for _, subset := range subsets {
		c, err := a.catalog(ctx, source, subset)
		if err != nil {
			return nil, err
		}
		reason := c.ExplainNoRecords(q)
		if reason == "" {
			out = append(out, subset)
			continue
		}
		if firstReason = cmp.Or(firstReason, reason); len(c.Groups) > 0 {
			continue
		}
		all, err := source.Subsets(ctx)
		if err != nil {
			return nil, err
		}
		if len(all) > 0 {
			firstReason += "; the archive has subset " + join(all)
		}
	}
	if out == nil {
		return nil, fmt.Errorf("%w in subset %s: %s"+absenceCure, curve.ErrNoRecords, q.Subset, firstReason)
	}
	return out, nil
}
