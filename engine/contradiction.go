package engine

import (
	"fmt"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/record"
)

// Contradiction is a record of which a commit brings other values than the
// archive holds.
type Contradiction struct {
	Key  record.Key    // of both
	Held record.Digest // of the one that the archive holds
	What string        // the first value in which they differ
}

// Contradicted is the error of a commit that would have replaced values which
// Commit.Refuse protects. Nothing of the commit is stored.
type Contradicted struct{ Records []Contradiction }

func (e *Contradicted) Error() string {
	return fmt.Sprintf("the archive holds other values of %d records", len(e.Records))
}

// Meet takes row j of b, which came from a file, from New to Replaced: have
// holds it as row i. A loader counts all records as new and calls Meet for
// those that are there already.
func (s *Stored) Meet(file string, have *record.Batch, i int, b *record.Batch, j int) {
	s.New--
	s.Replaced[file]++
	if s.Gone == nil {
		s.Gone = design.NewCatalog("")
	}
	s.Gone.Drop(have, i)
	if b.Same(j, have, i) {
		return
	}
	var h record.Hasher
	h.UseRow(have, i)
	s.Other = append(s.Other, Contradiction{Key: h.Key(i), Held: h.Digest(i), What: b.Difference(j, have, i)})
}

// Shorten counts a text in Cut.
func (s *Stored) Shorten(column string) {
	if s.Cut == nil {
		s.Cut = map[string]int64{}
	}
	s.Cut[column]++
}

// Index finds records by their identity.
type Index map[record.Key]At

// At is a row of a batch.
type At struct {
	Batch *record.Batch
	I     int
}

// IndexOf finds the records of batches.
func IndexOf(batches []*record.Batch) Index {
	in := Index{}
	var h record.Hasher
	for _, b := range batches {
		h.Use(b)
		for i := range b.Len() {
			in[h.Key(i)] = At{b, i}
		}
	}
	return in
}

// MeetSome calls Meet for those records of have that are to be stored again,
// and returns their rows.
func (s *Stored) MeetSome(have *record.Batch, in Index) (rows []int) {
	var h record.Hasher
	h.Use(have)
	for i := range have.Len() {
		if p, ok := in[h.Key(i)]; ok {
			s.Meet(p.Batch.File, have, i, p.Batch, p.I)
			rows = append(rows, i)
		}
	}
	return rows
}

// MeetAll calls Meet for each record of have; those to be stored are in the index.
func (s *Stored) MeetAll(have *record.Batch, in Index) error {
	if len(s.MeetSome(have, in)) < have.Len() {
		return fmt.Errorf("a record of %s is found by its columns but not by its identity", have.Type.Name)
	}
	return nil
}

// Check returns a *Contradicted where the commit found values that it must not
// replace. A loader calls it before anything that it wrote counts.
func (c *Commit) Check(s *Stored) error {
	if c.Refuse == nil {
		return nil
	}
	var refused []Contradiction
	for _, o := range s.Other {
		if c.Refuse(o.Key) {
			refused = append(refused, o)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	return &Contradicted{refused}
}
