package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"barograph/answer"
	"barograph/design"
	"barograph/engine"
	"barograph/engine/postgres"
	"barograph/enginetest"
	"barograph/fault"
	"barograph/flavour"
	"barograph/lab"
	"barograph/load"
	"barograph/question"
	"barograph/record"
)

// TestParameters opens with every parameter set otherwise than by default.
func TestParameters(t *testing.T) {
	d := &databases{server: enginetest.Lab(t, postgres.Driver(), lab.Options{Profile: "tuned"})}
	url := d.url(t)
	e, err := engine.Registry{postgres.Driver()}.Open(t.Context(), url+"?statements=unnamed&wide_index=brin&sslmode=disable", engine.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	about, err := e.About(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"wide_index": "brin", "synchronous_commit": "on", "max_wal_size": "4GB", "cluster_name": "barograph lab, profile tuned",
	} {
		if got := about.Settings[name]; got != want {
			t.Errorf("about: %s is %q, want %q", name, got, want)
		}
	}
	if got := about.Settings["max_parallel_workers_per_gather"]; got != "0" {
		t.Errorf("one thread, but %s workers", got)
	}
	a, err := e.Archives.Open(t.Context(), design.Wide)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := load.Run(t.Context(), a, "a", enginetest.SmallFiles(t, 8), load.Options{}); err != nil {
		t.Fatal(err)
	}
	lt, _ := record.TypeByName("SAL1L2")
	q := &question.Question{Name: "all", Subset: "a", Type: lt}
	if q.Columns, err = question.Columns(lt, "fcst_valid_beg", "fcst_lead", "vx_mask", "fabar", "mae"); err != nil {
		t.Fatal(err)
	}
	q.Order = q.Columns[:3]
	p, err := a.Phrase(t.Context(), q, flavour.SQL)
	if err != nil {
		t.Fatal(err)
	}
	var into answer.Builder
	for range 2 {
		if err := a.Ask(t.Context(), p, &into); err != nil || into.Rows != 16 {
			t.Errorf("%d rows, %v; want 16", into.Rows, err)
		}
	}
	execute(t, url, "SELECT 'a.wide_sal1l2_time_idx'::regclass")
}

// TestNotOpened: what is wrong with a URL is said, with a cure, and never with
// the password.
func TestNotOpened(t *testing.T) {
	d := &databases{server: servers.Lab(t, postgres.Driver(), lab.Options{})}
	address := strings.TrimPrefix(strings.TrimSuffix(d.server.URL(), "/postgres"), "postgres://postgres@")
	for url, want := range map[string]string{
		"postgres://postgres:geheim@" + address + "/nowhere":                 "createdb",
		"postgres://postgres:geheim@127.0.0.1:1/postgres":                    "lab up",
		"postgres://nobody:geheim@" + address + "/postgres":                  "another user",
		"postgres://postgres:geheim@" + address + "/postgres?wide_index=gin": "brin",
		"postgres://postgres:geheim@" + address + "/postgres?sslmode=maybe":  "sslmode",
		"postgres://postgres:geheim@" + address + "/postgres?speed=high":     "not known",
		"postgres://postgres:geheim@" + address + "/postgres?partitions=3":   "range:day",
	} {
		_, err := engine.Registry{postgres.Driver()}.Open(t.Context(), url, engine.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v; want %q in it", fault.Redact(url), err, want)
			continue
		}
		if strings.Contains(err.Error(), "geheim") {
			t.Errorf("the password is printed: %v", err)
		}
		if !strings.Contains(url, "?") && !errors.Is(err, engine.ErrUnreachable) {
			t.Errorf("%v: does not wrap ErrUnreachable", err)
		}
	}
}

// TestTextThatCannotBeStored is refused with its place, and nothing of its
// commit is stored.
func TestTextThatCannotBeStored(t *testing.T) {
	d := &databases{server: servers.Lab(t, postgres.Driver(), lab.Options{})}
	for _, text := range []string{"zero\x00byte", "latin\xe9"} {
		a, _ := d.open(t, design.Normalized)
		l, err := a.Loader(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		lt, _ := record.TypeByName("PCT")
		b := enginetest.LongRecord(lt, 0, 1)
		b.Headers[0][record.Descr] = text
		if err := l.Add(t.Context(), b); err == nil || !strings.Contains(err.Error(), "long.stat:1") {
			t.Errorf("%q: the error is %v", text, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if l, err := a.Loader(t.Context(), text); err == nil {
			t.Errorf("a subset %q was made: %v", text, l.Close())
		}
	}
}
