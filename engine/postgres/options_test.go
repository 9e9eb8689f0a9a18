package postgres_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/postgres"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// TestParameters opens with a value of every parameter that is not its default.
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
		"wide_index": "brin", "synchronous_commit": "on", "max_wal_size": "4GB", "autovacuum": "on", "cluster_name": "barograph lab, profile tuned",
	} {
		if got := about.Settings[name]; got != want {
			t.Errorf("about: %s is %q, want %q", name, got, want)
		}
	}
	if got := about.Settings["max_parallel_workers_per_gather"]; got != "0" {
		t.Errorf("one thread, but %s workers", got)
	}
	a, err := archive.DatabaseOf(e).Open(t.Context(), design.Wide)
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

// TestNotOpened: the error of a wrong URL names the cause and a cure, but not the password.
func TestNotOpened(t *testing.T) {
	d := &databases{server: servers.Lab(t, postgres.Driver(), lab.Options{})}
	u, err := url.Parse(d.server.URL())
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	own := "postgres://" + u.User.String() + "@" + u.Host
	for raw, want := range map[string]string{
		own + "/nowhere": "createdb",
		"postgres://postgres:" + password + "@127.0.0.1:1/postgres":  "lab up",
		"postgres://nobody:" + password + "@" + u.Host + "/postgres": "another user",
		own + "/postgres?wide_index=gin":                             "brin",
		own + "/postgres?sslmode=maybe":                              "sslmode",
		own + "/postgres?speed=high":                                 "not known",
		own + "/postgres?partitions=3":                               "range:day",
	} {
		_, err := engine.Registry{postgres.Driver()}.Open(t.Context(), raw, engine.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v; want %q in it", fault.Redact(raw), err, want)
			continue
		}
		if strings.Contains(err.Error(), password) {
			t.Errorf("the password is printed: %v", err)
		}
		if !strings.Contains(raw, "?") && !errors.Is(err, engine.ErrUnreachable) {
			t.Errorf("%v: does not wrap ErrUnreachable", err)
		}
	}
}

// TestTextThatCannotBeStored: the error of such a text names its place, and its commit stores nothing.
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
