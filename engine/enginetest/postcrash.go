package enginetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/posts"
)

// killedPosts returns the messages of posters that are killed.
func killedPosts(t testing.TB) []posts.Message { return postFeed(t, 3, 15) }

// runPostChild posts until it has finished or is killed.
func runPostChild(t *testing.T, cfg Config, j job) {
	p := &postSuite{Config: cfg, design: j.Tables, messages: killedPosts(t)}
	e, err := engine.Registry{cfg.Driver}.Open(t.Context(), j.URL, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	s, err := posts.DatabaseOf(e).Open(t.Context(), posts.Tables{Design: j.Tables})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(ready) //nolint:forbidigo // the parent reads it
	if _, err := p.post(t.Context(), s, j.Post, 1, p.messages); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// postsKilled kills posters at random moments and starts them again from the beginning. The tables must
// have the same content as without kills. Methods and designs take turns.
func (c Config) postsKilled(t *testing.T, root string) {
	messages, url := killedPosts(t), c.URL(t)
	rng := newRand(uint64(time.Now().UnixNano())) // the moment of a kill is not reproducible
	want := map[posts.Design]posts.Digest{}
	durations := map[string]time.Duration{}
	type turn struct {
		design posts.Design
		method posts.Method
	}
	var turns []turn
	for _, d := range []posts.Design{posts.Single, posts.Array24} {
		for _, m := range posts.Methods(&c.Driver) {
			turns = append(turns, turn{d, m})
		}
	}
	// clean empties the tables on request, posts everything and computes the digest.
	clean := func(x turn, empty bool) posts.Digest {
		p := &postSuite{Config: c, design: x.design, messages: messages}
		var err error
		if p.engine, err = (engine.Registry{c.Driver}).Open(t.Context(), url, engine.Options{}); err != nil {
			t.Fatal(err)
		}
		defer p.engine.Close()
		s, err := posts.DatabaseOf(p.engine).Open(t.Context(), posts.Tables{Design: x.design, Make: true})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if empty {
			if _, err := s.Delete(t.Context(), time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC).Unix()); err != nil {
				t.Fatal(err)
			}
			if err := admitAll(t.Context(), s, messages); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		if _, err := p.post(t.Context(), s, x.method, 1, messages); err != nil {
			t.Fatal(err)
		}
		if empty {
			durations[string(x.design)+string(x.method)] = time.Since(began)
		}
		d := digest(t, s)
		if empty {
			if _, err := s.Delete(t.Context(), time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC).Unix()); err != nil {
				t.Fatal(err)
			}
		}
		return d
	}
	interrupted := 0
	for i := range c.repetitions(t, 20, 8) {
		x := turns[i%len(turns)]
		d := clean(x, true)
		if _, ok := want[x.design]; !ok {
			want[x.design] = d
		}
		child := (&suite{Config: c, root: root}).start(t, job{URL: url, Post: x.method, Tables: x.design})
		time.Sleep(time.Duration(rng.Int64N(int64(durations[string(x.design)+string(x.method)]) + 1)))
		if !kill(t, child) {
			interrupted++
		}
		if got := clean(x, false); got != want[x.design] {
			t.Errorf("kill %d, %s, %s: %+v, want %+v", i+1, x.design, x.method, got, want[x.design])
		}
	}
	t.Logf("%d posters were killed at work", interrupted)
}
