package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/query/question"
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
func (a *asking) catalog(ctx context.Context, archive engine.Archive, subset string) (*design.Catalog, error) {
	if c := a.catalogs[subset]; c != nil {
		return c, nil
	}
	c, err := archive.Catalog(ctx, subset)
	if err == nil {
		if a.catalogs == nil {
			a.catalogs = map[string]*design.Catalog{}
		}
		a.catalogs[subset] = c
	}
	return c, err
}
