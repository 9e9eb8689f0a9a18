package enginetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/lab"
)

// RunServer puts an engine that is a server through what Run cannot: the
// server is killed under workers and during a load, and two loads go into one
// subset at once.
// cfg.URL names databases of l.
func RunServer(t *testing.T, cfg Config, l *lab.Lab) {
	if !cfg.Driver.Server.NoPassword {
		t.Run("nobody without the password", func(t *testing.T) { cfg.locked(t, l) })
	}
	t.Run("records of a killed server", func(t *testing.T) { RunKilledRecords(t, cfg, l) })
	designs := slices.Sorted(maps.Keys(archive.Promised(&cfg.Driver).Designs))
	if cfg.thin() {
		designs = designs[:1]
	}
	for _, d := range designs {
		s := &suite{Config: cfg, design: d, flavours: archive.Flavours(&cfg.Driver, d), root: t.Name()}
		t.Run("design="+string(d), func(t *testing.T) {
			t.Run("two loads at once", s.twoLoads)
			t.Run("a killed server", func(t *testing.T) { s.killedServer(t, l) })
			if Nightly() || d == designs[0] {
				t.Run("the server dies in a commit", func(t *testing.T) { s.deadServer(t, l) })
			}
		})
	}
}

// locked asks the server as other users of the machine can: without its password or, of a server
// that knows its clients by a certificate, without that, in the clear, or with a certificate of their own.
func (c Config) locked(t *testing.T, l *lab.Lab) {
	u, err := url.Parse(l.URL())
	if err != nil {
		t.Fatal(err)
	}
	tries := map[string]func(u *url.URL, v url.Values){}
	if right, _ := u.User.Password(); right != "" {
		for _, user := range []*url.Userinfo{nil, url.User(u.User.Username()), url.UserPassword(u.User.Username(), "wrong")} {
			tries[user.String()] = func(u *url.URL, _ url.Values) { u.User = user }
		}
	} else {
		file := u.Query().Get("tlsCertificateKeyFile") // only MongoDB's stand-in knows no passwords
		if file == "" {
			t.Fatalf("%s has neither password nor certificate", fault.Redact(l.URL()))
		}
		foreign := filepath.Join(t.TempDir(), "foreign.pem")
		ca, err := lab.NewCA(time.Now().Add(time.Hour))
		if err = errors.Join(err, ca.Write(foreign, []string{"127.0.0.1"}, time.Now().Add(time.Hour))); err != nil {
			t.Fatal(err)
		}
		v := u.Query()
		v.Set("serverSelectionTimeoutMS", "1000")
		u.RawQuery = v.Encode()
		tries["no certificate"] = func(_ *url.URL, v url.Values) { v.Del("tlsCertificateKeyFile") }
		tries["no TLS"] = func(_ *url.URL, v url.Values) { v.Del("tls"); v.Del("tlsCAFile"); v.Del("tlsCertificateKeyFile") }
		tries["a foreign certificate"] = func(_ *url.URL, v url.Values) { v.Set("tlsCertificateKeyFile", foreign) }
	}
	for name, change := range tries {
		other, v := *u, u.Query()
		change(&other, v)
		other.RawQuery = v.Encode()
		e, err := engine.Registry{c.Driver}.Open(t.Context(), other.String(), engine.Options{})
		if err == nil {
			_, err = e.About(t.Context()) // some reach the server only when asked
			_ = e.Close()
		}
		if err == nil {
			t.Errorf("%s was let in", name)
		}
	}
}

// twoLoads has two clients load the same files at the same time, one from
// either end: every record is new to one of them, and the archive is that of
// one load. METdbLoad numbers rows by MAX()+1, so that two loaders at once
// corrupt each other.
func (s *suite) twoLoads(t *testing.T) {
	url, files := s.URL(t), crashFiles()
	back := slices.Clone(files)
	slices.Reverse(back)
	var stored [2]archive.CommitResult
	group, ctx := errgroup.WithContext(t.Context())
	for i, order := range [][]File{files, back} {
		h := s.open(t, url, engine.Options{}) // a client of its own
		group.Go(func() (err error) {
			stored[i], err = store(ctx, h, "a", order, 1)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	want := expect(files)
	if n := stored[0].New + stored[1].New; n != want.Records {
		t.Errorf("%d + %d records were new to the two loads; there are %d", stored[0].New, stored[1].New, want.Records)
	}
	h := s.open(t, url, engine.Options{})
	holds(t, h, "a", want)
	marked(t, h, "a", files)
	cataloged(t, h, "a", files)
	s.prove(t, h, files, everything("a", lineType("CTC")))
}

// killedServer kills the server, and all its processes, at a random moment of
// a load, starts it again, and goes on from the marks: after every kill the
// archive holds the marked files whole and nothing else.
func (s *suite) killedServer(t *testing.T, l *lab.Lab) {
	files := crashFiles()
	whole := s.timeLoad(t, files)
	rounds, rng := s.repetitions(t, 4, 1), newRand(uint64(time.Now().UnixNano())) // a moment cannot be repeated anyway
	url := s.URL(t)
	for round := range rounds {
		ended := make(chan error, 1)
		go func() { ended <- s.resume(t.Context(), url, files) }()
		time.Sleep(time.Duration(rng.Int64N(int64(whole) + 1)))
		if err := l.Kill(0); err != nil {
			t.Fatal(err)
		}
		failed := <-ended
		if err := l.Restart(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		h := s.open(t, url, engine.Options{})
		rest := s.wholeFiles(t, h, "a", files)
		h.close(t)
		t.Logf("kill %d: %d of %d files are there; the load said: %v", round+1, len(files)-len(rest), len(files), failed)
		if failed == nil && len(rest) > 0 {
			t.Errorf("the load said nothing of %d files that are not there", len(rest))
		}
		if len(rest) == 0 {
			url = s.URL(t)
		}
	}
	if err := s.resume(t.Context(), url, files); err != nil {
		t.Fatal(err)
	}
	h := s.open(t, url, engine.Options{})
	holds(t, h, "a", expect(files))
	marked(t, h, "a", files)
	cataloged(t, h, "a", files)
	s.prove(t, h, files, everything("a", lineType("PCT")))
}

// deadServer kills the server in the middle of a commit, when that asks what it
// may replace: the commit says that the server is not reached, by which a
// command tells its user to try again, and has stored nothing.
func (s *suite) deadServer(t *testing.T, l *lab.Lab) {
	url, series := s.URL(t), mixedSeries()
	first, other := Generate(7, 2, series...), Generate(8, 1, series...) // different values of the same records
	h := s.open(t, url, engine.Options{})
	mustStore(t, h, "a", first, 2)
	loader, err := h.Loader(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	killed := false
	_, err = commitIf(t.Context(), loader, "a", other, func(archive.ExistingRecord) bool {
		if !killed {
			killed = true
			if err := l.Kill(0); err != nil {
				t.Error(err)
			}
		}
		return false
	})
	if !killed || !errors.Is(err, engine.ErrUnreachable) {
		t.Errorf("the server was killed: %t; the commit says: %v; want an error that wraps ErrUnreachable", killed, err)
	}
	if err := loader.Close(); err != nil {
		t.Logf("the loader's end: %v", err)
	}
	if err := l.Restart(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	h = s.open(t, url, engine.Options{})
	holds(t, h, "a", expect(first))
	marked(t, h, "a", first)
	cataloged(t, h, "a", first)
}

// resume opens a database and loads the files that have no mark.
func (s *suite) resume(ctx context.Context, url string, files []File) (err error) {
	e, err := engine.Registry{s.Driver}.Open(ctx, url, engine.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	a, err := archive.Of(e).Open(ctx, s.design)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	marks, err := a.Marks(ctx, "a")
	if err != nil {
		return fmt.Errorf("marks: %w", err)
	}
	known := map[string]bool{}
	for _, m := range marks {
		known[m.Digest] = true
	}
	var rest []File
	for _, f := range files {
		if !known[f.Mark().Digest] {
			rest = append(rest, f)
		}
	}
	_, err = store(ctx, a, "a", rest, 1)
	return err
}

// RunCases loads an archive of each design, in several commits that merge, and
// proves the seven cases on it in every flavour: what a further size or setting
// of an engine must pass whose whole suite runs elsewhere.
func RunCases(t *testing.T, cfg Config) {
	for _, d := range slices.Sorted(maps.Keys(archive.Promised(&cfg.Driver).Designs)) {
		s := &suite{Config: cfg, design: d, flavours: archive.Flavours(&cfg.Driver, d), root: t.Name()}
		t.Run("design="+string(d), s.wholeCases)
	}
}

func (s *suite) wholeCases(t *testing.T) {
	h, files := s.fresh(t), Generate(21, 4, caseSeries()...)
	mustStore(t, h, "cases", files, 2)
	holds(t, h, "cases", expect(files))
	marked(t, h, "cases", files)
	cataloged(t, h, "cases", files)
	s.cases(t, h, files)
}
