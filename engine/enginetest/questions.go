package enginetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// questions tests questions: the cases, random questions, plans, sizes, and that a comparison would detect
// a wrong answer.
func (s *suite) questions(t *testing.T) {
	h := s.openNew(t)
	cases := Generate(21, 4, caseSeries()...)
	mixed := Generate(22, 3, mixedSeries()...)
	mustStore(t, h, "cases", cases, 2)
	mustStore(t, h, "mixed", mixed, 3)
	for _, f := range s.flavours {
		t.Run("flavour="+string(f), func(t *testing.T) {
			one := *s
			one.flavours = []flavour.Name{f}
			one.cases(t, h, cases)
			one.explain(t, h)
		})
	}
	t.Run("random", func(t *testing.T) { s.random(t, h, mixed) })
	t.Run("faults are caught", func(t *testing.T) { s.faults(t, h, cases) })
	t.Run("later records are seen", func(t *testing.T) { s.later(t) })
	t.Run("flavours that are not offered", func(t *testing.T) { s.notOffered(t, h) })
	t.Run("size", func(t *testing.T) {
		n, err := h.Size(t.Context())
		if err != nil || (n <= 0 && s.Driver.Place != engine.Memory) {
			t.Errorf("size is %d, %v", n, err)
		}
	})
}

// theCases returns the seven cases for a subset.
func theCases(t *testing.T, subset string) []*question.Question {
	t.Helper()
	cases, err := question.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range cases {
		cases[i] = q.InSubset(subset)
	}
	return cases
}

func (s *suite) cases(t *testing.T, h *opened, files []File) {
	qs := theCases(t, "cases")
	for i, want := range references(files, qs) {
		if want.Rows == 0 {
			t.Fatalf("%s has no answer on the generated archive: the suite proves nothing", qs[i].Name)
		}
	}
	s.proveAll(t, h, files, qs...)
}

// explain checks the plan of a case, and the keys of a flavour with keys.
func (s *suite) explain(t *testing.T, h *opened) {
	q := theCases(t, "cases")[2]
	p, err := h.Phrase(t.Context(), q, s.flavours[0])
	if err != nil {
		t.Fatal(err)
	}
	s.accesses(t, h, p)
	if f := s.flavours[0]; f != flavour.Keys && f != flavour.KeysNative {
		return
	}
	c, err := h.Catalog(t.Context(), "cases")
	if err != nil {
		t.Fatal(err)
	}
	if want, got := slices.Sorted(slices.Values(c.Keys(q))), slices.Sorted(slices.Values(p.Keys)); !slices.Equal(got, want) {
		t.Errorf("%d keys were derived, want %d", len(got), len(want))
	}
}

func (s *suite) random(t *testing.T, h *opened, files []File) {
	seed := uint64(setting(t, EnvSeed))
	var qs []*question.Question
	for i := range max(8, s.repetitions(t, 30, 8)) {
		qs = append(qs, randomQuestion(files, "mixed", rand.New(rand.NewPCG(seed, uint64(i)))))
	}
	found := 0
	for i, want := range references(files, qs) {
		if want.Rows > 0 {
			found++
		}
		asked := s.flavours
		if s.thin() {
			asked = asked[i%len(asked):][:1]
		}
		for _, f := range asked {
			s.proveOne(t, h, qs[i], f, want)
		}
		if t.Failed() {
			t.Fatalf("question %d of %s=%d:\n%+v", i, EnvSeed, seed, *qs[i])
		}
	}
	if 3*found < len(qs) {
		t.Errorf("only %d of %d random questions have an answer: the suite proves too little", found, len(qs))
	}
	t.Logf("%d of %d random questions have an answer", found, len(qs))
}

// faults wraps the archive with each fault. Compare must detect it.
func (s *suite) faults(t *testing.T, h *opened, files []File) {
	q := theCases(t, "cases")[2]
	want := references(files, []*question.Question{q})[0]
	for _, f := range Faults() {
		wrapped := Faulty(h, f)
		p, err := wrapped.Phrase(t.Context(), q, s.flavours[0])
		if err != nil {
			t.Fatal(err)
		}
		if f == StaleRead {
			continue // it needs two loads; see later
		}
		got, err := ask(t.Context(), wrapped, p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := answer.Compare(want, got); err == nil {
			t.Errorf("%s was not caught", f)
		}
	}
}

// later loads, asks, loads more and sends the same query again. The answer must contain the records of the
// second load, and the comparison must detect a wrapper that returns stale answers.
func (s *suite) later(t *testing.T) {
	files := Generate(7, 4, mixedSeries()...)
	newer := Generate(9, 2, mixedSeries()...)
	h := s.openNew(t)
	stale := Faulty(h, StaleRead)
	q := everything("a", lineType("SL1L2"))
	q.Valid = question.Times{First: newYear2018, Last: newYear2018 + 2*day, Step: 3 * hour}
	f := s.flavours[0]
	for step, loaded := range [][]File{files[:2], files[2:], newer} {
		mustStore(t, h, "a", loaded, 2)
		all := slices.Concat(files, newer)[:min(2*step+2, 6)]
		want := references(all, []*question.Question{q})[0]
		p, err := h.Phrase(t.Context(), q, f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ask(t.Context(), h, p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := answer.Compare(want, got); err != nil {
			t.Errorf("after load %d: %v", step+1, err)
		}
		if got, err = ask(t.Context(), stale, p); err != nil {
			t.Fatal(err)
		}
		if _, err := answer.Compare(want, got); (err == nil) != (step == 0) {
			t.Errorf("after load %d a stale read was compared as: %v", step+1, err)
		}
	}
}

// notOffered asks in every flavour that the driver does not promise.
func (s *suite) notOffered(t *testing.T, h *opened) {
	q := theCases(t, "cases")[0]
	for _, f := range flavour.Names() {
		if slices.Contains(s.flavours, f) {
			continue
		}
		if _, err := h.Phrase(t.Context(), q, f); err == nil {
			t.Errorf("%s is not offered, but phrased", f)
		}
	}
}

// randomQuestion draws a question about the records of files, with existing and missing values, unsorted
// and some twice.
func randomQuestion(files []File, subset string, rng *rand.Rand) *question.Question {
	b := pick(rng, pick(rng, files).Batches)
	q := &question.Question{Name: "random " + b.Type.Name, Subset: subset, Type: b.Type}
	like := b.Header(rng.IntN(b.Len()))
	for f := range record.NumFields {
		if rng.IntN(3) > 0 {
			continue
		}
		values := []string{like[f]}
		for range rng.IntN(3) {
			values = append(values, pick(rng, b.Headers)[f])
		}
		if rng.IntN(3) == 0 {
			values = append(values, "absent")
		}
		rng.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
		q.Header[f] = values
	}
	q.Valid = randomTimes(b, rng)
	q.Lead = randomLeads(b, rng)
	q.TimeFilter = randomClock(b, rng)
	q.Columns, q.Order = randomColumns(b.Type, rng)
	if err := q.Check(); err != nil {
		panic(fmt.Sprintf("the suite's own question is wrong: %v", err))
	}
	return q
}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

func randomTimes(b *record.Batch, rng *rand.Rand) question.Times {
	first, last := slices.Min(b.Valid), slices.Max(b.Valid)
	from := pick(rng, b.Valid)
	switch rng.IntN(6) {
	case 0:
		return question.Times{} // all
	case 1:
		return question.Times{First: from, Last: max(from, last-6*hour)} // a range without a step
	case 2:
		return question.Times{First: first - 6*hour, Last: last + hour, Step: pick(rng, []int64{3 * hour, 6 * hour, 12 * hour})}
	case 3:
		return question.Times{List: every(first, 6*hour, 1+rng.IntN(4))} // an even list
	case 4:
		return question.Times{List: []int64{from}}
	}
	var list []int64 // an uneven list, with times that do not exist
	for range 1 + rng.IntN(4) {
		list = append(list, pick(rng, b.Valid), first+int64(rng.IntN(9))*5*hour)
	}
	slices.Sort(list)
	return question.Times{List: slices.Compact(list)}
}

func randomLeads(b *record.Batch, rng *rand.Rand) []int32 {
	if rng.IntN(3) == 0 {
		return nil // all
	}
	leads := []int32{7 * hour} // does not exist
	for range rng.IntN(5) {
		leads = append(leads, pick(rng, b.Lead))
	}
	slices.Sort(leads)
	return slices.Compact(leads)
}

// randomClock mostly draws no condition, otherwise hours or init times of records, and some that do not exist.
func randomClock(b *record.Batch, rng *rand.Rand) (c question.TimeFilter) {
	if rng.IntN(3) > 0 {
		return c
	}
	i := rng.IntN(b.Len())
	init := b.Init(i)
	if rng.IntN(2) == 0 {
		c.ValidHour = hoursWith(question.HourOf(b.Valid[i]), rng)
	}
	if rng.IntN(2) == 0 {
		c.InitHour = hoursWith(question.HourOf(init), rng)
	}
	switch rng.IntN(4) {
	case 0:
		c.Init = question.Times{First: init - 6*hour, Last: init + day}
	case 1:
		c.Init = question.Times{List: []int64{init, init + 7*hour}}
	case 2:
		c.Init = question.Times{First: init - day, Last: init + day, Step: 6 * hour}
	}
	return c
}

// hoursWith returns a list of hours that contains an hour and up to two random ones.
func hoursWith(included int, rng *rand.Rand) []int {
	hs := []int{included, rng.IntN(24), rng.IntN(24)}
	slices.Sort(hs)
	return slices.Compact(hs)
}

// randomColumns draws columns of every role, and an order by some of the sortable columns, inside or
// outside of the answer.
func randomColumns(lt *record.LineType, rng *rand.Rand) (columns, order []question.Column) {
	columns = allColumns(lt)
	for _, c := range columns {
		if c.Role != question.Data && c.Role != question.Repeating {
			order = append(order, c)
		}
	}
	rng.Shuffle(len(columns), func(i, j int) { columns[i], columns[j] = columns[j], columns[i] })
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return columns[:1+rng.IntN(len(columns))], order[:rng.IntN(6)]
}
