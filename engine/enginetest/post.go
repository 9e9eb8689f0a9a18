package enginetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/study/synth"
)

// postFeed makes the messages of the suite, with duplicates and revisions.
func postFeed(t testing.TB, seed uint64, messages int) []posts.Message {
	t.Helper()
	f, err := synth.SHEF{Seed: seed, Messages: messages, Mean: 12, Offices: 2, Stations: 5}.Feed()
	if err != nil {
		t.Fatal(err)
	}
	var out []posts.Message
	for i := range messages {
		var m synth.Message
		f.Make(i, &m)
		out = append(out, posts.Message{Product: m.AWIPS, Issued: m.Issued, Values: m.Values})
	}
	// Further results of a decoder: seconds, years ago, midnight, the least and greatest numbers, products
	// without a time, a value that is sent twice in one message.
	g := out[0].Values[0]
	var odd []record.Gauge
	for _, at := range []int64{0, 86400, 86399, 1, -86400, 951782400, 1141862400, 1141862400 + 86399} {
		for _, v := range []float64{0, -0.1, 1e-3, 123456.789, 1.0 / 3, record.NoValue, 1e15 + .5, 5} {
			g.Time, g.Value = at, v
			odd = append(odd, g)
		}
	}
	for _, code := range []string{"STIRGZZ", "HGIFFZ5", "TAVCAXZ", "PPDPBZZ", "PPDRGZZ", "PLIRGZZ", "YIIRGZZ", "QRIFZXM", "TVIFFZZ"} {
		copy(g.Code[:], code)
		for _, v := range []float64{6.065, -21.0058, 7, 12.5} {
			g.Value, g.Probability = v, .5
			odd = append(odd, g)
		}
	}
	return append(out, posts.Message{Product: "ODD", Issued: record.NoTime, Values: odd}, posts.Message{Product: "EMPTY"})
}

// admitAll adds all series of messages to location and ingest filter.
func admitAll(ctx context.Context, s *posts.Store, messages []posts.Message) error {
	stations, series := map[record.ID]bool{}, map[posts.Series]bool{}
	for _, m := range messages {
		for _, g := range m.Values {
			stations[g.Station] = true
			series[posts.Series{Station: g.Station, Code: g.Code, Duration: g.Duration}] = true
		}
	}
	var ids []record.ID
	for id := range stations {
		ids = append(ids, id)
	}
	var all []posts.Series
	for x := range series {
		all = append(all, x)
	}
	return s.Admit(ctx, ids, all)
}

// runPosts runs the suite for an engine's tables of values.
func (c Config) runPosts(t *testing.T) {
	t.Run("posts", c.postsOffer)
	if len(posts.Methods(&c.Driver)) == 0 {
		return
	}
	for _, d := range postDesigns() {
		t.Run("posts/design="+string(d), func(t *testing.T) {
			c.parallel(t)
			p := &postSuite{Config: c, design: d, messages: postFeed(t, 1, 6)}
			p.open(t)
			t.Run("methods", p.methods)
			t.Run("policies", p.policies)
			t.Run("ties", p.ties)
			t.Run("filters", p.filters)
			t.Run("posters", p.posters)
			t.Run("rest", p.rest)
		})
	}
	if c.Reopenable {
		root := t.Name()
		t.Run("posts/killed", func(t *testing.T) {
			NotUnderRace(t)
			c.parallel(t)
			c.postsKilled(t, root)
		})
	}
}

// postDesigns returns the designs to test: by day only one of the two designs of arrays, which differ only
// in their number of slots.
func postDesigns() []posts.Design {
	all := posts.Designs()
	if !Nightly() {
		all = slices.DeleteFunc(slices.Clone(all), func(d posts.Design) bool { return d == posts.Array96 })
	}
	return all
}

// methodsFor returns the methods to test with policy i: at night all of them, by day one, which differs between
// the designs.
func (p *postSuite) methodsFor(i int) []posts.Method {
	all := posts.Methods(&p.Driver)
	if Nightly() {
		return all
	}
	i += slices.Index(posts.Designs(), p.design)
	return all[i%len(all):][:1]
}

func (c Config) postsOffer(t *testing.T) {
	e, err := engine.Registry{c.Driver}.Open(t.Context(), c.URL(t), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if (posts.DatabaseOf(e) == nil) != (len(posts.Methods(&c.Driver)) == 0) {
		t.Fatalf("the driver offers the methods %v; the engine has the ability: %t",
			posts.Methods(&c.Driver), posts.DatabaseOf(e) != nil)
	}
	if posts.DatabaseOf(e) == nil {
		return
	}
	unknown := posts.Tables{Design: "origami", Make: true}
	if _, err := posts.DatabaseOf(e).Open(t.Context(), unknown); !errors.Is(err, engine.ErrNoDesign) {
		t.Errorf("an unknown design: %v", err)
	}
	if _, err := posts.DatabaseOf(e).Open(t.Context(), posts.Tables{Design: posts.Single}); err == nil {
		t.Error("missing tables were opened")
	}
	badPolicy := posts.Tables{Design: posts.Single, Policy: "whim", Make: true}
	if _, err := posts.DatabaseOf(e).Open(t.Context(), badPolicy); err == nil {
		t.Error("an unknown policy was accepted")
	}
}

type postSuite struct {
	Config
	design   posts.Design
	messages []posts.Message
	engine   *engine.Engine
}

// open opens the engine on a new database.
func (p *postSuite) open(t *testing.T) {
	t.Helper()
	e, err := engine.Registry{p.Driver}.Open(t.Context(), p.URL(t), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	p.engine = e
}

// newTables opens new, empty tables.
func (p *postSuite) newTables(t *testing.T, policy posts.Policy, admit bool) *posts.Store {
	t.Helper()
	s, err := posts.DatabaseOf(p.engine).Open(t.Context(), posts.Tables{Design: p.design, Policy: policy, Make: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if _, err := s.Delete(t.Context(), time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC).Unix()); err != nil {
		t.Fatal(err)
	}
	if admit {
		if err := admitAll(t.Context(), s, p.messages); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// post posts all messages, several at a time.
func (p *postSuite) post(
	ctx context.Context, s *posts.Store, m posts.Method, perCall int, messages []posts.Message,
) (sum posts.PostResult, err error) {
	poster, err := s.Poster(ctx, m)
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, poster.Close()) }()
	for part := range slices.Chunk(messages, perCall) {
		n, err := poster.Post(ctx, part)
		if err != nil {
			return sum, fmt.Errorf("%s: %w", m, err)
		}
		sum.Add(n)
	}
	return sum, nil
}

func digest(t *testing.T, s *posts.Store) posts.Digest {
	t.Helper()
	d, err := posts.DigestOf(s.Values(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// expected returns the digest of the reference. An array stores one product for all values of its row,
// which the reference does not model; its content is compared with that of the first method.
func (p *postSuite) expected(got posts.Digest, policy posts.Policy, messages []posts.Message) posts.Digest {
	r := posts.Reference{Policy: policy, Design: p.design}
	r.Post(messages)
	want := r.Digest()
	if p.design.Slots() > 0 {
		want.Content = got.Content
	}
	return want
}

// methods posts with every method, one message and several at a time, twice.
func (p *postSuite) methods(t *testing.T) {
	var want *posts.Digest
	for _, m := range posts.Methods(&p.Driver) {
		for _, perCall := range []int{1, 7} {
			if perCall > 1 && (m == posts.Row2006 || m == posts.Procedure) {
				continue // they commit by statement
			}
			s := p.newTables(t, posts.Overwrite, true)
			for round := range 2 {
				sum, err := p.post(t.Context(), s, m, perCall, p.messages)
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for _, x := range p.messages {
					n += len(x.Values)
				}
				if sum.Values != int64(n) || sum.Unknown+sum.Filtered != 0 {
					t.Fatalf("%s: %+v of %d values", m, sum, n)
				}
				got := digest(t, s)
				if want == nil {
					w := p.expected(got, posts.Overwrite, p.messages)
					want = &w
				}
				if got != *want {
					t.Fatalf("%s, %d messages at a time, round %d: %+v, want %+v", m, perCall, round, got, *want)
				}
			}
		}
	}
}

// policies compares every policy with the reference.
func (p *postSuite) policies(t *testing.T) {
	messages := postFeed(t, 2, 6)
	p = &postSuite{Config: p.Config, design: p.design, messages: messages, engine: p.engine}
	for i, policy := range posts.Policies() {
		var want *posts.Digest
		for _, m := range p.methodsFor(i) {
			s := p.newTables(t, policy, true)
			if _, err := p.post(t.Context(), s, m, 3, messages); err != nil {
				t.Fatalf("%s: %v", policy, err)
			}
			got := digest(t, s)
			if want == nil {
				w := p.expected(got, policy, messages)
				want = &w
			}
			if got != *want {
				t.Errorf("%s, %s: %+v, want %+v", policy, m, got, *want)
			}
		}
	}
}

// ties posts products with conflicting values, most of them of one minute, repeatedly and in various orders. With the
// policy of the service, the order of arrival must not affect the stored values.
func (p *postSuite) ties(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 7, 0, 0, time.UTC).Unix() // off the grid of an array
	gauge := func(value float64, quality byte, revised bool) record.Gauge {
		g := record.Gauge{Station: record.ID{'T', 'I', 'E'}, Time: at, Created: record.NoTime, Value: value, Quality: quality, Revised: revised}
		copy(g.Code[:], "TAIRZZZ")
		return g
	}
	message := func(product string, issued int64, values ...record.Gauge) posts.Message {
		return posts.Message{Product: product, Issued: at + issued, Values: values}
	}
	revised := func(value float64) record.Gauge { return gauge(value, 'Z', true) }
	plain := func(value float64) record.Gauge { return gauge(value, 'Z', false) }
	for i, c := range []struct {
		messages []posts.Message
		want     float64
	}{
		{[]posts.Message{message("KLCHRR1LCH", 60, plain(2)), message("KLCHRR1LCH", 60, plain(1)), message("KLCHRR1LCH", 0, plain(9))}, 2},
		{[]posts.Message{message("KLCHRR2LCH", 60, plain(1)), message("KLCHRR1LCH", 60, plain(2)), message("KLCHRR2LCH", 60, plain(record.NoValue))}, 1},
		{[]posts.Message{message("KLCHRR1LCH", 60, revised(1)), message("KLCHRR2LCH", 60, plain(2)), message("KLCHRR1LCH", 60, plain(3))}, 1},
		{[]posts.Message{message("KLCHRR1LCH", 60, plain(1)), message("KLCHRR2LCH", 120, plain(record.NoValue)), message("KLCHRR1LCH", 0, plain(3))}, 1},
		{[]posts.Message{message("KLCHRR1LCH", 60, plain(1)), message("KLCHRR1LCH", 90, revised(record.NoValue)), message("KLCHRR1LCH", 120, plain(record.NoValue))}, record.NoValue},
		{[]posts.Message{message("KLCHRR1LCH", 60, plain(5), plain(4)), message("KLCHRR1LCH", 60, plain(3), gauge(4, 'V', false))}, 4},
	} {
		for k, m := range p.methodsFor(i) {
			random := rand.New(rand.NewPCG(uint64(i), uint64(k))) //nolint:gosec // not for secrets
			var want *posts.Digest
			for range 2 {
				s := p.newTables(t, posts.GoodStays, false)
				if err := admitAll(t.Context(), s, c.messages); err != nil {
					t.Fatal(err)
				}
				order := slices.Concat(c.messages, c.messages, c.messages)
				random.Shuffle(len(order), func(a, b int) { order[a], order[b] = order[b], order[a] })
				if _, err := p.post(t.Context(), s, m, 1+random.IntN(3), order); err != nil {
					t.Fatal(err)
				}
				for v, err := range s.Values(t.Context()) {
					if err != nil || v.Value != c.want {
						t.Errorf("case %d, %s: %v, want %v: %v", i, m, v.Value, c.want, err)
					}
				}
				got := digest(t, s)
				if want == nil {
					want = &got
				}
				if got != *want || got.Values.Records != 1 {
					t.Errorf("case %d, %s: another order of arrival results in other rows", i, m)
				}
			}
		}
	}
}

// filters posts values that are not admitted.
func (p *postSuite) filters(t *testing.T) {
	p = &postSuite{Config: p.Config, design: p.design, messages: p.messages}
	p.open(t) // these tables admit nothing
	for _, m := range posts.Methods(&p.Driver) {
		s := p.newTables(t, posts.Overwrite, false)
		g := p.messages[0].Values[0]
		series := []posts.Series{{Station: g.Station, Code: g.Code, Duration: g.Duration}}
		if err := s.Admit(t.Context(), []record.ID{g.Station}, series); err != nil {
			t.Fatal(err)
		}
		stranger, other := g, g
		stranger.Station = record.ID{'N', 'O', 'B', 'O', 'D', 'Y'}
		copy(other.Code[:], "UDIRGZZ")
		sum, err := p.post(t.Context(), s, m, 1, []posts.Message{{Product: "X", Values: []record.Gauge{g, stranger, other}}})
		if err != nil {
			t.Fatal(err)
		}
		if sum.Values != 1 || sum.Unknown != 1 || sum.Filtered != 1 {
			t.Errorf("%s: %+v", m, sum)
		}
		if d := digest(t, s); d.Values.Records != 1 {
			t.Errorf("%s: %d values are stored", m, d.Values.Records)
		}
	}
}

// posters posts the same messages with four posters at once. If the method claims that posters may share
// stations, each posts all messages; otherwise each posts the messages of its stations. In any order, the
// last write of each key must be its last value.
func (p *postSuite) posters(t *testing.T) {
	one := p.newTables(t, posts.Overwrite, true)
	if _, err := p.post(t.Context(), one, posts.Methods(&p.Driver)[len(posts.Methods(&p.Driver))-1], 1, p.messages); err != nil {
		t.Fatal(err)
	}
	want := digest(t, one)
	const posters = 4
	methods := posts.Methods(&p.Driver)
	if !Nightly() { // one method that shares no stations, and the one that the service uses
		methods = []posts.Method{posts.Row2006Message, methods[len(methods)-1]}
	}
	for _, m := range methods {
		s := p.newTables(t, posts.Overwrite, true)
		g, ctx := errgroup.WithContext(t.Context())
		for w := range posters {
			g.Go(func() error {
				messages := p.messages
				if !m.AllowsConcurrentPosters() {
					messages = nil
					for _, x := range p.messages {
						x.Values = slices.DeleteFunc(slices.Clone(x.Values), func(g record.Gauge) bool {
							return int(g.Station[0]^g.Station[2]^g.Station[4])%posters != w
						})
						messages = append(messages, x)
					}
				}
				_, err := p.post(ctx, s, m, 1+w, messages)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			t.Fatal(err)
		}
		if got := digest(t, s); got.Values != want.Values {
			t.Errorf("%s: four posters result in %v, want %v", m, got.Values, want.Values)
		}
	}
}

// rest tests reading, counting, maintenance and deletion.
func (p *postSuite) rest(t *testing.T) {
	s := p.newTables(t, posts.Overwrite, true)
	if _, err := p.post(t.Context(), s, posts.Methods(&p.Driver)[len(posts.Methods(&p.Driver))-1], 10, p.messages); err != nil {
		t.Fatal(err)
	}
	before := digest(t, s)
	for _, u := range []posts.Maintenance{posts.Statistics, posts.Vacuum, posts.VacuumFull} {
		if s.Maintain == nil {
			break
		}
		if err := s.Maintain(t.Context(), u); err != nil {
			t.Errorf("%s: %v", u, err)
		}
	}
	if s.Size != nil {
		if size, err := s.Size(t.Context()); err != nil || size.TableBytes == 0 {
			t.Errorf("size %+v, %v", size, err)
		}
	}
	if s.Log != nil {
		if n, err := s.Log(t.Context()); err != nil || n <= 0 {
			t.Errorf("log at %d, %v", n, err)
		}
	}
	g := p.messages[0].Values[0]
	if n, err := s.Read(t.Context(), g.Station, g.Time-86400, g.Time+86400); err != nil || n < 1 {
		t.Errorf("%d values are read, %v", n, err)
	}
	rows, err := s.Rows(t.Context())
	if err != nil || rows < 1 {
		t.Fatalf("%d rows, %v", rows, err)
	}
	cutoff := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix()
	deleted, err := s.Delete(t.Context(), cutoff)
	if err != nil || deleted < 1 {
		t.Errorf("%d rows were deleted, %v", deleted, err)
	}
	left, err := s.Rows(t.Context())
	if err != nil || left != rows-deleted {
		t.Errorf("%d rows are left of %d after %d were deleted, %v", left, rows, deleted, err)
	}
	for v, err := range s.Values(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if v.Time < cutoff {
			t.Fatalf("%+v still exists", v)
		}
	}
	if after := digest(t, s); after.Values.Records >= before.Values.Records {
		t.Errorf("%d values of %d are left", after.Values.Records, before.Values.Records)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.post(ctx, s, posts.Methods(&p.Driver)[0], 1, p.messages); !errors.Is(err, context.Canceled) {
		t.Errorf("posting with a canceled context: %v", err)
	}
}
