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
	questions int              // number of all questions
	counts    map[string]int   // questions without records, by line type
	first     map[string]error // the error of the first such question, by line type
}

func (a *absences) add(q *question.Question, err error) {
	if a.counts == nil {
		a.counts, a.first = map[string]int{}, map[string]error{}
	}
	if a.counts[q.Type.Name]++; a.first[q.Type.Name] == nil {
		a.first[q.Type.Name] = err
	}
}

// err reports each line type once, with the reason of its first question.
func (a *absences) err() error {
	var all []error
	for _, name := range slices.Sorted(maps.Keys(a.counts)) {
		err := a.first[name]
		if a.questions > 1 {
			err = fmt.Errorf("%d of %d questions, line type %s: %w", a.counts[name], a.questions, name, err)
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
	if err == nil {
		if a.catalogs == nil {
			a.catalogs = map[string]*design.Catalog{}
		}
		a.catalogs[subset] = c
	}
	return c, err
}

const absenceCure = " (`barograph show` lists the contents; --where, --valid and --lead change the question)"

// subsetsWithRecords returns the subsets whose catalogs admit records of a question; ask does
// not query the others. A catalog lists every series that was ever stored. If no subset remains,
// the error gives the reason of the first one.
func (a *askJob) subsetsWithRecords(ctx context.Context, source archive.Archive, q *question.Question, subsets []string) (out []string, err error) {
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
		if a.allSubsets == nil {
			all, err := source.Subsets(ctx)
			if err != nil {
				return nil, err
			}
			a.allSubsets = append([]string{}, all...)
		}
		if len(a.allSubsets) > 0 {
			firstReason += "; the archive has subset " + join(a.allSubsets)
		}
	}
	if out == nil {
		return nil, fmt.Errorf("%w in subset %s: %s"+absenceCure, curve.ErrNoRecords, q.Subset, firstReason)
	}
	return out, nil
}
