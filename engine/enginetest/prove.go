package enginetest

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// references computes the answers to questions from the files alone. A later value replaces an earlier one,
// as in a commit; therefore the last files come first.
func references(files []File, qs []*question.Question) []*answer.Answer {
	ref := answer.NewReference(qs...)
	for _, f := range slices.Backward(files) {
		for _, b := range f.Batches {
			ref.Add(b)
		}
	}
	return ref.Answers()
}

// prove asks every question in every offered flavour, or by day for a slow server in one, and compares each
// answer with the reference. files are those loaded into the questions' subset.
func (s *suite) prove(t *testing.T, a archive.Archive, files []File, qs ...*question.Question) {
	t.Helper()
	if s.thin() {
		s.proveInTurn(t, a, files, qs...)
	} else {
		s.proveAll(t, a, files, qs...)
	}
}

func (s *suite) proveAll(t *testing.T, a archive.Archive, files []File, qs ...*question.Question) {
	t.Helper()
	for i, want := range references(files, qs) {
		for _, f := range s.flavours {
			s.proveOne(t, a, qs[i], f, want)
		}
	}
}

// proveInTurn is prove for many questions of one kind: it asks each in one flavour, and the flavours take turns.
func (s *suite) proveInTurn(t *testing.T, a archive.Archive, files []File, qs ...*question.Question) {
	t.Helper()
	for i, want := range references(files, qs) {
		s.turn++
		s.proveOne(t, a, qs[i], s.flavours[s.turn%len(s.flavours)], want)
	}
}

func (s *suite) proveOne(t *testing.T, a archive.Archive, q *question.Question, f flavour.Name, want *answer.Answer) {
	t.Helper()
	p, err := a.Phrase(t.Context(), q, f)
	if errors.Is(err, flavour.ErrCannotExpress) && mayRefuse(f, q) {
		return
	}
	if err != nil {
		t.Errorf("%s, %s: phrase: %v", q.Name, f, err)
		return
	}
	if p.Question != q || p.Flavour != f || p.Text == "" {
		t.Errorf("%s, %s: the query is incomplete: flavour %s, text %q", q.Name, f, p.Flavour, p.Text)
	}
	times := 2 // a caller may send a query any number of times
	if s.thin() {
		times = 1 // the concurrent clients send the others repeatedly
	}
	for range times {
		got, err := ask(t.Context(), a, p)
		if err != nil {
			t.Errorf("%s, %s: ask: %v\n%s", q.Name, f, err, clip(p.Text))
			return
		}
		if _, err := answer.Compare(want, got); err != nil {
			t.Errorf("%s, %s: %v\n%s", q.Name, f, err, clip(p.Text))
			return
		}
	}
}

func clip(s string) string {
	if len(s) > 2000 {
		return s[:2000] + " …"
	}
	return s
}

// mayRefuse reports whether a flavour may refuse a question: a list of times may refuse open times, and a
// range may refuse times that are listed without a step.
func mayRefuse(f flavour.Name, q *question.Question) bool {
	switch f {
	case flavour.ISOList, flavour.EpochList:
		return !q.Valid.IsDiscrete()
	case flavour.ISORange, flavour.EpochRange:
		_, _, _, grid := q.Valid.Grid()
		return !grid && !q.Valid.IsAll()
	}
	return false
}

// allColumns lists every column that a question about lt can name.
func allColumns(lt *record.LineType) []question.Column {
	var names []string
	for f := range record.NumFields {
		if _, twice := lt.Column(f.String()); !twice {
			names = append(names, f.String())
		}
	}
	names = append(names, "fcst_valid_beg", "fcst_init_beg", "fcst_lead", "fcst_valid_end", "obs_lead", "obs_valid_beg", "obs_valid_end")
	for _, c := range lt.Columns {
		names = append(names, c.Name)
	}
	if lt.Group != nil {
		names = append(names, lt.Group.Fields...)
	}
	cols, err := question.Columns(lt, names...)
	if err != nil {
		panic(err) // the names come from the table of line types
	}
	return cols
}

// everything is the question for every record and column of a line type.
func everything(subset string, lt *record.LineType) *question.Question {
	return &question.Question{Name: "everything of " + lt.Name, Subset: subset, Type: lt, Columns: allColumns(lt)}
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0xba60)) }
