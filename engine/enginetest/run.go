package enginetest

import (
	"context"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
)

// Config tells the suite how to reach an engine.
type Config struct {
	Driver engine.Driver

	// URL names a fresh, empty database; what it makes is removed with t.
	URL func(t *testing.T) string

	// Reopenable: a URL that is closed and opened again shows the same archive,
	// to this process and to another one. Where it is not set, the tests of
	// persistence, crashes and read-only archives do not apply.
	Reopenable bool

	// Unreachable names a URL that cannot be opened. Nil stands for a path
	// below a regular file, which suits every engine that lives in files.
	Unreachable func(t *testing.T) string

	// Brief is for a server that takes seconds to start, or to answer: whatever
	// the suite repeats, kills and random questions, it repeats as on every day,
	// also at night; and by day all but the first design are loaded and asked
	// the cases alone, and of the first one only the cases are asked in every
	// flavour, other questions in one after the other.
	Brief bool

	// Again is for an engine whose suite runs on another server, or with another
	// setting, too: on every day records and posts are left to that one, and so is
	// asking everything in every flavour.
	Again bool

	// MaxText is the longest header value or text, in bytes, that the engine's
	// schema takes; 0 = 200, which is what the suite demands.
	MaxText int
}

// The environment of the suite.
const (
	// EnvSoak is set at night: then the suite runs in full, every method under
	// every policy, all designs, all kills, and its number multiplies the kills
	// and random questions. Otherwise it runs as thinned for every day.
	EnvSoak = "BAROGRAPH_SOAK"
	// EnvSeed is the seed of the random questions; its default is 1.
	EnvSeed = "BAROGRAPH_SEED"
)

// Run puts an engine through the whole suite. It must be called from a test
// function of its own, as the crash tests run that function again in a child
// process.
func Run(t *testing.T, cfg Config) {
	if job, ok := childJob(t); ok {
		runChild(t, cfg, job)
		return
	}
	t.Run("driver", cfg.driver)
	t.Run("unreachable", cfg.unreachable)
	if !cfg.Again || Nightly() {
		cfg.runKV(t)
		cfg.runPosts(t)
	}
	for i, d := range slices.Sorted(maps.Keys(archive.Promised(&cfg.Driver).Designs)) {
		s := &suite{Config: cfg, design: d, flavours: archive.Flavours(&cfg.Driver, d), root: t.Name()}
		t.Run("design="+string(d), func(t *testing.T) {
			if cfg.thin() && i > 0 {
				t.Run("load", s.load)
				t.Run("cases", s.wholeCases)
				if !cfg.Brief {
					t.Run("concurrent", s.concurrent)
				}
				return
			}
			cfg.beside(t)
			s.run(t)
		})
	}
}

// beside lets a topic run beside others, each on a database of its own in this
// process; of a server they would ask for more connections than it has.
func (c Config) beside(t *testing.T) {
	if c.Driver.Place == engine.Embedded {
		t.Parallel()
	}
}

// suite is the run of one design.
type suite struct {
	Config
	design   design.Name
	flavours []flavour.Name
	root     string // name of the test that called Run
	turn     int    // of the flavours, where they have it in turn
}

func (s *suite) run(t *testing.T) {
	t.Run("empty", s.empty)
	t.Run("load", s.load)
	t.Run("values", s.values)
	t.Run("questions", s.questions)
	t.Run("means", s.means)
	t.Run("subsets", s.subsets)
	t.Run("trim", s.trim)
	t.Run("cancel", s.cancel)
	t.Run("concurrent", s.concurrent)
	if s.Reopenable {
		t.Run("persist", s.persist)
		t.Run("read-only", s.readOnly)
		t.Run("crash", s.crash)
	}
}

// opened is an open engine with one archive.
type opened struct {
	archive.Archive
	engine *engine.Engine
	closed bool
}

// open opens a URL under the suite's design; it is closed with t at the latest.
func (s *suite) open(t *testing.T, url string, o engine.Options) *opened {
	t.Helper()
	e, err := engine.Registry{s.Driver}.Open(t.Context(), url, o)
	if err != nil {
		t.Fatalf("open %s: %v", url, err)
	}
	a, err := archive.Of(e).Open(t.Context(), s.design)
	if err != nil {
		_ = e.Close()
		t.Fatalf("open the archive of %s: %v", url, err)
	}
	h := &opened{Archive: a, engine: e}
	t.Cleanup(func() { h.close(t) })
	return h
}

// fresh opens a new, empty database.
func (s *suite) fresh(t *testing.T) *opened {
	t.Helper()
	return s.open(t, s.URL(t), engine.Options{})
}

// close closes archive and engine, once.
func (h *opened) close(t *testing.T) {
	t.Helper()
	if h.closed {
		return
	}
	h.closed = true
	if err := h.Close(); err != nil {
		t.Errorf("close the archive: %v", err)
	}
	if err := h.engine.Close(); err != nil {
		t.Errorf("close the engine: %v", err)
	}
}

// setting reads a whole number from the environment; 1 where it is not set.
func setting(t *testing.T, name string) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s is no positive number", name, text)
	}
	return n
}

// Nightly reports whether the suite runs in full; see EnvSoak.
func Nightly() bool { return os.Getenv(EnvSoak) != "" }

// thin reports whether the suite leaves out what it repeats: of a slow server, see
// Brief, of one that is tested Again, and under the race detector (-short), where
// all has run without it.
func (c Config) thin() bool { return (c.Brief || c.Again || testing.Short()) && !Nightly() }

// NotUnderRace skips a test that has no goroutines of its own, and minutes under the
// race detector, where CI tests with -short.
func NotUnderRace(t testing.TB) {
	t.Helper()
	if testing.Short() && !Nightly() {
		t.Skip("left out of the race run (-short): it has run without the detector")
	}
}

// AtNight skips by day a test that takes minutes; why says what of it is tested by day.
func AtNight(t testing.TB, why string) {
	t.Helper()
	if !Nightly() {
		t.Skipf("NOT TESTED by day, but at night (%s=1): %s", EnvSoak, why)
	}
}

// repetitions is how often a test repeats itself: many at night, few by day.
func (c Config) repetitions(t *testing.T, night, day int) int {
	t.Helper()
	if c.Brief || !Nightly() {
		return day * setting(t, EnvSoak)
	}
	return night * setting(t, EnvSoak)
}

// ask phrases and asks; the builder holds the rests of another answer before.
func ask(ctx context.Context, a archive.Archive, q *archive.Query) (*answer.Answer, error) {
	var into answer.Builder
	into.Reset(q.Question.Columns)
	into.Grow(3)
	if err := a.Ask(ctx, q, &into); err != nil {
		return nil, err
	}
	return into.Take(), nil
}
