package ycsb

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/kv"
)

// faultyStore makes a store lose or change data at a rate: it spoils this share of the calls that the fault concerns, and
// acknowledges all of them.
type faultyStore struct {
	kind string
	rate float64

	mu       sync.Mutex
	rng      *rand.Rand
	before   map[string]*kv.Row // of records that were updated
	other    []byte             // a key that was read
	twice    map[string]bool    // records that exist twice
	deleted  []kv.KeyRow
	calls    int
	inserted int64 // number of records that exist twice
}

const (
	dropped      = "dropped write"
	stale        = "stale read"
	otherKey     = "other key's record"
	swapped      = "swapped fields"
	truncated    = "truncated value"
	duplicated   = "duplicated insert"
	lostDelete   = "lost delete"
	resurrected  = "resurrected delete"
	reordered    = "reordered scan"
	missedInScan = "missing in scan"
	extraInScan  = "extra in scan"
	tornUpdate   = "torn update"

	resurrectAfter = 50 // calls
)

func (s *faultyStore) strikes(kinds ...string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(kinds, s.kind) && s.rng.Float64() < s.rate
}

func clone(r *kv.Row) *kv.Row {
	var out kv.Row
	out.AddRow(r)
	return &out
}

// change makes the table's connections faulty.
func (s *faultyStore) change(r *kv.Records) *kv.Records {
	out := *conns(s.spoil)(r)
	if s.kind == duplicated {
		out.Count = func(ctx context.Context) (int64, error) {
			n, err := r.Count(ctx)
			return n + s.inserted, err
		}
	}
	return &out
}

func (s *faultyStore) spoil(c *kv.Conn) {
	good := *c
	c.Read = func(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
		s.resurrect(ctx, &good)
		if err := good.Read(ctx, key, f, into); err != nil {
			return err
		}
		s.spoilRow(ctx, &good, key, into)
		return nil
	}
	c.Update = func(ctx context.Context, key []byte, r *kv.Row) error {
		s.resurrect(ctx, &good)
		var old kv.Row
		if err := good.Read(ctx, key, nil, &old); err != nil {
			return err
		}
		switch {
		case s.strikes(dropped):
			return nil
		case s.strikes(tornUpdate):
			var half kv.Row
			for i := range r.Len() / 2 {
				half.Add(r.At(i))
			}
			return good.Update(ctx, key, &half)
		}
		s.mu.Lock()
		s.before[string(key)] = &old
		s.mu.Unlock()
		return good.Update(ctx, key, r)
	}
	c.Insert = func(ctx context.Context, key []byte, r *kv.Row) error {
		switch {
		case s.strikes(dropped):
			return nil
		case s.strikes(duplicated):
			s.mu.Lock()
			s.twice[string(key)] = true
			s.inserted++
			s.mu.Unlock()
		}
		return good.Insert(ctx, key, s.stored(r))
	}
	c.InsertMany = func(ctx context.Context, rows []kv.KeyRow) error {
		for _, r := range rows {
			if err := c.Insert(ctx, r.Key, r.Row); err != nil {
				return err
			}
		}
		return nil
	}
	c.Delete = func(ctx context.Context, key []byte) error {
		s.resurrect(ctx, &good)
		old := &kv.Row{}
		if err := good.Read(ctx, key, nil, old); err != nil || s.strikes(lostDelete) {
			return err
		}
		if s.strikes(resurrected) {
			s.mu.Lock()
			s.deleted = append(s.deleted, kv.KeyRow{Key: slices.Clone(key), Row: old})
			s.mu.Unlock()
		}
		return good.Delete(ctx, key)
	}
	c.Scan = func(ctx context.Context, from []byte, n int, f kv.Fields, each func([]byte, *kv.Row) error) error {
		return s.scan(ctx, &good, from, n, f, each)
	}
}

// resurrect inserts a deleted record again, some calls later.
func (s *faultyStore) resurrect(ctx context.Context, c *kv.Conn) {
	if s.kind != resurrected {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls++; len(s.deleted) > 0 && s.calls%resurrectAfter == 0 {
		_ = c.Insert(ctx, s.deleted[0].Key, s.deleted[0].Row)
		s.deleted = s.deleted[1:]
	}
}

// stored returns the part of a record that the store keeps.
func (s *faultyStore) stored(r *kv.Row) *kv.Row {
	if s.kind != truncated || !s.strikes(truncated) {
		return r
	}
	var out kv.Row
	for i := range r.Len() {
		field, v := r.At(i)
		if i == r.Len()/2 {
			v = v[:len(v)-1]
		}
		out.Add(field, v)
	}
	return &out
}

// spoilRow changes a record that was read.
func (s *faultyStore) spoilRow(ctx context.Context, c *kv.Conn, key []byte, into *kv.Row) {
	switch s.kind {
	case stale:
		s.mu.Lock()
		old := s.before[string(key)]
		s.mu.Unlock()
		if old != nil && s.strikes(stale) {
			s.replace(into, old)
		}
	case otherKey:
		s.mu.Lock()
		other := s.other
		s.other = slices.Clone(key)
		s.mu.Unlock()
		var row kv.Row
		if other != nil && string(other) != string(key) && s.strikes(otherKey) && c.Read(ctx, other, nil, &row) == nil {
			s.replace(into, &row)
		}
	case swapped:
		if into.Len() > 1 && s.strikes(swapped) {
			old := clone(into)
			into.Reset()
			for i := range old.Len() {
				field, _ := old.At(i)
				_, v := old.At(i ^ 1)
				into.Add(field, v)
			}
		}
	case truncated:
		if s.strikes(truncated) {
			old := clone(into)
			into.Reset()
			for i := range old.Len() {
				field, v := old.At(i)
				if i == old.Len()-1 {
					v = v[:len(v)-1]
				}
				into.Add(field, v)
			}
		}
	}
}

// replace puts another record's fields in place of those that were read.
func (s *faultyStore) replace(into, by *kv.Row) {
	fields := slices.Clone(into.Fields())
	into.Reset()
	for _, f := range fields {
		v, _ := by.Value(f)
		into.Add(f, v)
	}
}

func (s *faultyStore) scan(ctx context.Context, c *kv.Conn, from []byte, n int, f kv.Fields, each func([]byte, *kv.Row) error) error {
	if !s.strikes(reordered, missedInScan, extraInScan, otherKey, swapped, truncated) {
		return s.scanTwice(ctx, c, from, n, f, each)
	}
	var rows []kv.KeyRow
	err := c.Scan(ctx, from, n, f, func(key []byte, r *kv.Row) error {
		rows = append(rows, kv.KeyRow{Key: slices.Clone(key), Row: clone(r)})
		return nil
	})
	if err != nil {
		return err
	}
	if at := len(rows) / 2; len(rows) > 1 {
		switch s.kind {
		case reordered:
			rows[at-1], rows[at] = rows[at], rows[at-1]
		case missedInScan:
			rows = slices.Delete(rows, at, at+1)
		case extraInScan:
			rows = slices.Insert(rows, at, kv.KeyRow{Key: append(slices.Clone(rows[at-1].Key), '5'), Row: rows[at-1].Row})
		case otherKey:
			rows[at].Row = rows[at-1].Row
		default:
			(&faultyStore{kind: s.kind, rate: 1, rng: rand.New(rand.NewPCG(1, 1))}).spoilRow(ctx, c, rows[at].Key, rows[at].Row)
		}
	}
	for _, r := range rows[:min(n, len(rows))] {
		if err := each(r.Key, r.Row); err != nil {
			return err
		}
	}
	return nil
}

// scanTwice passes each record that exists twice, twice.
func (s *faultyStore) scanTwice(ctx context.Context, c *kv.Conn, from []byte, n int, f kv.Fields, each func([]byte, *kv.Row) error) error {
	if s.kind != duplicated {
		return c.Scan(ctx, from, n, f, each)
	}
	passed := 0
	return c.Scan(ctx, from, n, f, func(key []byte, r *kv.Row) error {
		s.mu.Lock()
		twice := s.twice[string(key)]
		s.mu.Unlock()
		err := error(nil)
		for i := 0; err == nil && passed < n && (i == 0 || i == 1 && twice); i++ {
			passed++
			err = each(key, r)
		}
		return err
	})
}

// matrixRow is a fault in a workload.
type matrixRow struct {
	kind, mix string
	more      []string // additional properties
	unchecked string   // why --verify does not check this fault; "" = it does
}

const rewritten = "under --verify they write the values that are there"

// matrix lists each fault in each workload in which it can occur.
func matrix() (all []matrixRow) {
	deletes := []string{"deleteproportion=0.05"}
	every := []string{"writeallfields=true"}
	for _, mix := range []string{"load", "load, not counted", "workloada", "workloadb", "workloadf"} {
		x := matrixRow{kind: dropped, mix: mix}
		if !strings.HasPrefix(mix, "load") {
			x.unchecked = rewritten
			all = append(all, matrixRow{kind: stale, mix: mix, unchecked: rewritten}, matrixRow{kind: tornUpdate, mix: mix, more: every, unchecked: rewritten})
		}
		all = append(all, x)
	}
	for _, mix := range []string{"workloadd", "workloade"} {
		all = append(all, matrixRow{kind: dropped, mix: mix}, matrixRow{kind: duplicated, mix: mix})
	}
	for _, mix := range []string{"load", "load, not counted"} {
		all = append(all, matrixRow{kind: duplicated, mix: mix}, matrixRow{kind: truncated, mix: mix})
	}
	for _, mix := range []string{"workloada", "workloadb", "workloadc", "workloadd", "workloade", "workloadf"} {
		for _, kind := range []string{otherKey, swapped, truncated} {
			all = append(all, matrixRow{kind: kind, mix: mix})
		}
	}
	for _, mix := range []string{"workloada", "workloadb"} {
		all = append(all, matrixRow{kind: lostDelete, mix: mix, more: deletes}, matrixRow{kind: resurrected, mix: mix, more: deletes})
	}
	for _, kind := range []string{reordered, missedInScan, extraInScan} {
		all = append(all, matrixRow{kind: kind, mix: "workloade"})
	}
	slices.SortStableFunc(all, func(a, b matrixRow) int { return strings.Compare(a.kind, b.kind) })
	return all
}

const matrixOperations = 20_000

// try runs a workload on a faulty store. after is the number of operations until the fault was detected; 0 = it was not.
func (x *matrixRow) try(t *testing.T, rate float64, verify bool, seed int) (after int64, r *Report) {
	t.Helper()
	p := Properties{}
	load := strings.HasPrefix(x.mix, "load")
	if !load {
		var err error
		if p, err = ReadWorkload(x.mix); err != nil {
			t.Fatal(err)
		}
	}
	p["recordcount"], p["operationcount"], p["threadcount"], p["fieldlength"] = "2000", fmt.Sprint(matrixOperations), "4", "40"
	p["seed"], p["dataintegrity"], p["batchsize"] = fmt.Sprint(seed), fmt.Sprint(verify), "50"
	if load {
		p["recordcount"] = fmt.Sprint(matrixOperations)
	}
	for _, a := range x.more {
		if err := p.Set(a); err != nil {
			t.Fatal(err)
		}
	}
	c, err := NewConfig(p)
	if err != nil {
		t.Fatal(err)
	}
	s := &faultyStore{kind: x.kind, rate: rate, rng: rand.New(rand.NewPCG(uint64(seed), 1)), before: map[string]*kv.Row{}, twice: map[string]bool{}} //nolint:gosec // small
	if load {
		r, err = Load(t.Context(), wrapped{open(t), func(r *kv.Records) *kv.Records {
			out := s.change(r)
			if x.mix != "load" {
				out.Count = nil
			}
			return out
		}}, c, Options{})
	} else {
		r, err = Run(t.Context(), wrapped{loaded(t, c), s.change}, c, Options{})
	}
	if r == nil {
		if err == nil {
			t.Fatal("neither a report nor an error")
		}
		return 1, nil // refused before the first operation
	}
	if err == nil {
		err = r.Err()
	}
	if err == nil {
		return 0, r
	}
	return max(1, r.Seen), r
}

// TestFaultyStores: a plain run of 20,000 operations detects a store that loses or changes data, at a rate of 100 % and of
// 1 %, or the report says that it does not check this kind. With BAROGRAPH_SOAK=1 the subtests print the rows of the table
// of docs/results/ycsb.md: the median of 20 seeds, and how many of them detected the fault.
func TestFaultyStores(t *testing.T) {
	enginetest.NotUnderRace(t)
	seeds := 1
	if enginetest.Nightly() {
		seeds = 20
	}
	t.Logf("caught after so many operations, median of %d seeds", seeds)
	t.Log("| fault | workload | checks | 100 % | 1 % | 0.1 % |")
	for _, x := range matrix() {
		t.Run(x.kind+", "+x.mix, func(t *testing.T) { x.tryAll(t, seeds) })
	}
}

// tryAll tries a fault at each rate, with and without --verify.
func (x *matrixRow) tryAll(t *testing.T, seeds int) {
	for _, verify := range []bool{false, true} {
		name := map[bool]string{false: "plain", true: "--verify"}[verify]
		row := fmt.Sprintf("| %s | %s%s | %s |", x.kind, x.mix, strings.Join(append([]string{""}, x.more...), ", "), name)
		for _, rate := range []float64{1, 0.01, 0.001} {
			if seeds == 1 && (rate != 0.01 || verify && x.unchecked == "") {
				continue // only nightly runs try these
			}
			var caught []int64
			for seed := range seeds {
				after, r := x.try(t, rate, verify, seed+1)
				switch {
				case after > 0:
					caught = append(caught, after)
				case verify && x.unchecked != "":
					if says := r.Answers(); !says.Derived || says.KeysUpdated != 0 {
						t.Errorf("%s at %g: the counts claim that updates were checked: %+v", name, rate, says)
					}
				case rate >= 0.01:
					t.Errorf("%s at %g, seed %d: not caught", name, rate, seed+1)
				}
			}
			row += " " + medianCaught(caught, seeds) + " |"
		}
		t.Log(row)
	}
}

// medianCaught returns the median number of operations until detection, of the seeds that detected the fault.
func medianCaught(caught []int64, of int) string {
	if len(caught) == 0 {
		return "no"
	}
	slices.Sort(caught)
	text := fmt.Sprint(caught[(len(caught)-1)/2])
	if len(caught) < of {
		text += fmt.Sprintf(" (%d of %d)", len(caught), of)
	}
	return text
}
