package enginetest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
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

// RunServer tests a server in ways that Run cannot: it kills the server during operations of workers and
// during a load, and runs two loads into one subset at once. cfg.URL names databases of l.
func RunServer(t *testing.T, cfg Config, l *lab.Lab) {
	if !cfg.Driver.Server.NoPassword {
		t.Run("nobody without the password", func(t *testing.T) { cfg.refusesStrangers(t, l) })
	}
	t.Run("records of a killed server", func(t *testing.T) { RunKilledRecords(t, cfg, l) })
	designs := slices.Sorted(maps.Keys(archive.OfferOf(&cfg.Driver).Designs))
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

// refusesStrangers tries to reach the server like another user of the machine: without its password, or for a server
// that identifies clients by a certificate, without a certificate, without TLS, or with a certificate of
// another CA.
func (c Config) refusesStrangers(t *testing.T, l *lab.Lab) {
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
		file := u.Query().Get("tlsCertificateKeyFile") // only MongoDB's stand-in has no passwords
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
	tries[owner] = func(*url.URL, url.Values) {}
	for name, change := range tries {
		other, v := *u, u.Query()
		change(&other, v)
		other.RawQuery = v.Encode()
		e, err := engine.Registry{c.Driver}.Open(t.Context(), other.String(), engine.Options{})
		if err == nil {
			_, err = e.About(t.Context()) // some clients connect only now
			_ = e.Close()
		}
		if (err == nil) != (name == owner) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// owner is the name of the client that the server must accept. It shows that the others are not refused because the
// server does not answer at all.
const owner = "the owner"

// twoLoads lets two clients load the same files at the same time, from opposite ends. Every record must be
// new to exactly one of them, and the archive must be that of one load. METdbLoad numbers rows with
// MAX()+1, and two concurrent loaders corrupt each other's rows.
func (s *suite) twoLoads(t *testing.T) {
	s.attacked(t, "two loads into one subset").Times = 1
	url, files := s.URL(t), crashFiles()
	back := slices.Clone(files)
	slices.Reverse(back)
	var stored [2]archive.CommitResult
	group, ctx := errgroup.WithContext(t.Context())
	for i, order := range [][]File{files, back} {
		h := s.open(t, url, engine.Options{}) // a separate client
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
	checkDigest(t, h, "a", want)
	checkMarks(t, h, "a", files)
	checkCatalog(t, h, "a", files)
	s.prove(t, h, files, everything("a", lineType("CTC")))
}

// killedServer kills all processes of the server at a random moment of a load, restarts the server, and
// continues from the marks. After every kill the archive must contain the marked files completely and
// nothing else.
func (s *suite) killedServer(t *testing.T, l *lab.Lab) {
	files := crashFiles()
	duration := s.timeLoad(t, files)
	attack, rounds := s.attacked(t, "server killed during a load"), s.repetitions(t, 4, 1)
	url, rng, lost := s.URL(t), newRand(attack.Seed), 0
	for round := range rounds {
		ended := make(chan error, 1)
		go func() { ended <- s.resume(t.Context(), url, files) }()
		time.Sleep(time.Duration(rng.Int64N(int64(duration) + 1)))
		if err := l.Kill(0); err != nil {
			t.Fatal(err)
		}
		failed := <-ended
		if attack.Times++; failed != nil {
			lost++
		}
		attack.Note = fmt.Sprintf("%d before the end of the load", lost)
		if err := l.Restart(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		h := s.open(t, url, engine.Options{})
		rest := s.checkWholeFiles(t, h, "a", files)
		h.close(t)
		t.Logf("kill %d: %d of %d files are loaded; the load returned: %v", round+1, len(files)-len(rest), len(files), failed)
		if failed == nil && len(rest) > 0 {
			t.Errorf("the load returned no error for %d missing files", len(rest))
		}
		if len(rest) == 0 {
			url = s.URL(t)
		}
	}
	if err := s.resume(t.Context(), url, files); err != nil {
		t.Fatal(err)
	}
	h := s.open(t, url, engine.Options{})
	checkDigest(t, h, "a", expect(files))
	checkMarks(t, h, "a", files)
	checkCatalog(t, h, "a", files)
	s.prove(t, h, files, everything("a", lineType("PCT")))
}

// deadServer kills the server in the middle of a commit, when the commit looks for the records to replace.
// The commit must store nothing and return an ErrUnreachable, which makes a command advise its user to try
// again.
func (s *suite) deadServer(t *testing.T, l *lab.Lab) {
	s.attacked(t, "server killed during a commit").Times = 1
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
		t.Errorf("the server was killed: %t; the commit returns: %v; want an error that wraps ErrUnreachable", killed, err)
	}
	if err := loader.Close(); err != nil {
		t.Logf("the loader's end: %v", err)
	}
	if err := l.Restart(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	h = s.open(t, url, engine.Options{})
	checkDigest(t, h, "a", expect(first))
	checkMarks(t, h, "a", first)
	checkCatalog(t, h, "a", first)
}

// fullDiskTimeout is how long a load waits for a server whose disk is full.
const fullDiskTimeout = 30 * time.Second

// RunFullServer gives a server a file system that has 3 MB left, and at night one that has 30 MB left, and loads until
// an error. Everything that was committed must be intact once the disk has more space. config is that of a server.
func RunFullServer(t *testing.T, d engine.Driver, o lab.Options, config func(l *lab.Lab) Config) {
	NotUnderRace(t)
	disk := Disks(t, 1)[0]
	smallDisk(t, disk, "8g")
	if err := os.Chmod(disk, 0o711); err != nil { // the server has another account
		t.Fatal(err)
	}
	o.Dir = filepath.Join(disk, "lab")
	l := Lab(t, d, o)
	cfg := config(l)
	for i, name := range slices.Sorted(maps.Keys(archive.OfferOf(&d).Designs)) {
		if i > 0 && !Nightly() {
			break
		}
		s := &suite{Config: cfg, design: name, flavours: archive.Flavours(&cfg.Driver, name), root: t.Name()}
		for _, free := range []int64{3, 30} {
			if free == 3 || Nightly() {
				t.Run(fmt.Sprintf("design=%s, %d MB", name, free), func(t *testing.T) { s.fullServer(t, l, disk, free<<20) })
			}
		}
	}
}

func (s *suite) fullServer(t *testing.T, l *lab.Lab, disk string, free int64) {
	attack := s.attacked(t, fmt.Sprintf("full disk, %d MB left", free>>20))
	raw := s.URL(t)
	h := s.open(t, raw, engine.Options{})
	h.closed = true // closing need not be possible any more
	if err := mount(t, "-o", fmt.Sprintf("remount,size=%d", usedBytes(t, disk)+free), "tmpfs", disk); err != nil {
		t.Fatal(err)
	}
	for i := 0; attack.Times == 0 && i < fillSubsets; i++ {
		ctx, stop := context.WithTimeout(t.Context(), fullDiskTimeout)
		_, err := store(ctx, h, fillSubset(i), crashFiles(), 12)
		if stop(); errors.Is(ctx.Err(), context.DeadlineExceeded) {
			attack.Count(fmt.Sprintf("no reply within %v: the server waits for space", fullDiskTimeout))
		} else if err != nil {
			attack.Count(Refusal(t, err, disk))
		}
	}
	if attack.Times == 0 {
		t.Error("the disk is never full")
	}
	_, _ = h.Close(), h.engine.Close()
	if err := mount(t, "-o", "remount,size=8g", "tmpfs", disk); err != nil {
		t.Fatal(err)
	}
	if e, err := (engine.Registry{s.Driver}).Open(t.Context(), raw, engine.Options{}); err == nil {
		_, err = e.About(t.Context()) // some clients connect only now
		_ = e.Close()
		if err == nil {
			s.refill(t, raw, attack)
			return
		}
	}
	attack.Note += "; the server ended and was started again"
	_ = l.Kill(0) // what is left of it
	if err := l.Restart(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	s.refill(t, raw, attack)
}

// resume opens a database and loads the files without a mark.
func (s *suite) resume(ctx context.Context, url string, files []File) (err error) {
	e, err := engine.Registry{s.Driver}.Open(ctx, url, engine.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	a, err := archive.DatabaseOf(e).Open(ctx, s.design)
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

// RunCases loads an archive of each design, in several commits that merge, and proves the seven cases in
// every flavour. It is for a further size or setting of an engine whose complete suite runs elsewhere.
func RunCases(t *testing.T, cfg Config) {
	for _, d := range slices.Sorted(maps.Keys(archive.OfferOf(&cfg.Driver).Designs)) {
		s := &suite{Config: cfg, design: d, flavours: archive.Flavours(&cfg.Driver, d), root: t.Name()}
		t.Run("design="+string(d), s.loadAndProveCases)
	}
}

func (s *suite) loadAndProveCases(t *testing.T) {
	h, files := s.openNew(t), Generate(21, 4, caseSeries()...)
	mustStore(t, h, "cases", files, 2)
	checkDigest(t, h, "cases", expect(files))
	checkMarks(t, h, "cases", files)
	checkCatalog(t, h, "cases", files)
	s.cases(t, h, files)
}
