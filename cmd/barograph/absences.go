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

// absences are the questions of which no record is there, by line type.
type absences struct {
	of    int // all questions
	n     map[string]int
	first map[string]error // of a line type
}

func (a *absences) add(q *question.Question, err error) {
	if a.n == nil {
		a.n, a.first = map[string]int{}, map[string]error{}
	}
	if a.n[q.Type.Name]++; a.first[q.Type.Name] == nil {
		a.first[q.Type.Name] = err
	}
}

// err reports each line type once, with the reason of its first question.
func (a *absences) err() error {
	var all []error
	for _, name := range slices.Sorted(maps.Keys(a.n)) {
		err := a.first[name]
		if a.of > 1 {
			err = fmt.Errorf("%d of %d questions, of %s: %w", a.n[name], a.of, name, err)
		}
		all = append(all, err)
	}
	return errors.Join(all...)
}

// catalog is the catalog of a subset, read once for all questions.
func (a *asking) catalog(ctx context.Context, in archive.Archive, subset string) (*design.Catalog, error) {
	if c := a.catalogs[subset]; c != nil {
		return c, nil
	}
	c, err := in.Catalog(ctx, subset)
	if err == nil {
		if a.catalogs == nil {
			a.catalogs = map[string]*design.Catalog{}
		}
		a.catalogs[subset] = c
	}
	return c, err
}

const lookAround = " (`barograph show` lists what there is; --where, --valid and --lead change the question)"

// holding are the subsets that may have records of a question by their catalogs, which
// list all that was ever stored: the others are not asked. None is an error, with what
// the first of them has.
func (a *asking) holding(ctx context.Context, in archive.Archive, q *question.Question, subsets []string) (out []string, err error) {
	why := ""
	for _, subset := range subsets {
		c, err := a.catalog(ctx, in, subset)
		if err != nil {
			return nil, err
		}
		reason := c.ExplainNoRecords(q)
		if reason == "" {
			out = append(out, subset)
			continue
		}
		if why = cmp.Or(why, reason); len(c.Groups) > 0 {
			continue
		}
		if a.held == nil {
			all, err := in.Subsets(ctx)
			if err != nil {
				return nil, err
			}
			a.held = append([]string{}, all...)
		}
		if len(a.held) > 0 {
			why += "; the archive has subset " + join(a.held)
		}
	}
	if out == nil {
		return nil, fmt.Errorf("%w in subset %s: %s"+lookAround, curve.ErrNoRecords, q.Subset, why)
	}
	return out, nil
}
