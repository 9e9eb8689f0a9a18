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

// Config describes an engine to the suite.
type Config struct {
	Driver engine.Driver

	// URL names a new, empty database. The end of t removes what the URL creates.
	URL func(t *testing.T) string

	// Reopenable means that a URL that is closed and opened again contains the same archive, for this process and for
	// others. Otherwise the tests of persistence, crashes and read-only archives do not apply.
	Reopenable bool

	// Unreachable names a URL that cannot be opened. Nil = a path below a regular file, which is right for every engine
	// with files.
	Unreachable func(t *testing.T) string

	// Brief is for a server that takes seconds to start or to answer. At night the suite then repeats kills and
	// random questions as often as it does for other engines by day, and by day half as often. By day each design
	// after the first one runs only the tests of loads and the cases, and only the cases are asked in every flavour:
	// the flavours take turns at the other questions.
	Brief bool

	// TestedElsewhere is for an engine whose suite also runs on another server or with another setting. By day the
	// suite then omits records and posts, and tests for each design only loads, the cases and, without Brief,
	// concurrent clients.
	TestedElsewhere bool

	// MaxText is the longest header value or text, in bytes, that the engine's schema accepts; 0 = 200, the
	// least that the suite accepts.
	MaxText int
}

// The environment variables of the suite.
const (
	// EnvSoak is set at night. Then the suite runs in full: every method with every policy, all designs, all kills. Its
	// value multiplies the kills and random questions. Otherwise the suite runs in its reduced form for every day.
	EnvSoak = "BAROGRAPH_SOAK"
	// EnvSeed is the seed of the random questions; the default is 1.
	EnvSeed = "BAROGRAPH_SEED"
)

// Run runs the complete suite for an engine. A test function must call nothing else, because the crash tests run that
// function again in a child process.
func Run(t *testing.T, cfg Config) {
	if job, ok := childJob(t); ok {
		runChild(t, cfg, job)
		return
	}
	t.Run("driver", cfg.driver)
	t.Run("unreachable", cfg.unreachable)
	if !cfg.TestedElsewhere || Nightly() {
		cfg.runKV(t)
		cfg.runPosts(t)
	}
	for i, d := range slices.Sorted(maps.Keys(archive.OfferOf(&cfg.Driver).Designs)) {
		s := &suite{Config: cfg, design: d, flavours: archive.Flavours(&cfg.Driver, d), root: t.Name()}
		t.Run("design="+string(d), func(t *testing.T) {
			if cfg.thin() && (i > 0 || cfg.TestedElsewhere) {
				t.Run("load", s.load)
				t.Run("cases", s.loadAndProveCases)
				if !cfg.Brief {
					t.Run("concurrent", s.concurrent)
				}
				return
			}
			cfg.parallel(t)
			s.run(t)
		})
	}
}

// parallel lets a topic run in parallel with others, each on its own database in this process. Topics of servers do not,
// because together they would need more connections than a server has.
func (c Config) parallel(t *testing.T) {
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
	turn     int    // index of the next flavour, if flavours take turns
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

// open opens a URL with the suite's design. The end of t closes it, if it is still open.
func (s *suite) open(t *testing.T, url string, o engine.Options) *opened {
	t.Helper()
	e, err := engine.Registry{s.Driver}.Open(t.Context(), url, o)
	if err != nil {
		t.Fatalf("open %s: %v", url, err)
	}
	a, err := archive.DatabaseOf(e).Open(t.Context(), s.design)
	if err != nil {
		_ = e.Close()
		t.Fatalf("open the archive of %s: %v", url, err)
	}
	h := &opened{Archive: a, engine: e}
	t.Cleanup(func() { h.close(t) })
	return h
}

// openNew opens a new, empty database.
func (s *suite) openNew(t *testing.T) *opened {
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

// setting reads a positive number from the environment; the default is 1.
func setting(t *testing.T, name string) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s is not a positive number", name, text)
	}
	return n
}

// Nightly reports whether the suite runs in full; see EnvSoak.
func Nightly() bool { return os.Getenv(EnvSoak) != "" }

// thin reports whether the suite omits repetitions: for a slow server (Brief), for a server whose suite also runs
// elsewhere (TestedElsewhere), and under the race detector (-short), which follows a run without it.
func (c Config) thin() bool { return (c.Brief || c.TestedElsewhere || testing.Short()) && !Nightly() }

// NotUnderRace skips a test in the race run of CI (-short): under the race detector it takes long, and it starts no
// goroutines that other tests do not start.
func NotUnderRace(t testing.TB) {
	t.Helper()
	if testing.Short() && !Nightly() {
		t.Skip("omitted in the race run (-short): it runs without the detector")
	}
}

// AtNight skips by day a test that takes minutes; why says what is tested by day instead.
func AtNight(t testing.TB, why string) {
	t.Helper()
	if !Nightly() {
		t.Skipf("NOT TESTED by day, but at night (%s=1): %s", EnvSoak, why)
	}
}

// repetitions returns how often a test repeats itself: night or day times, fewer for a slow server.
func (c Config) repetitions(t *testing.T, night, day int) int {
	t.Helper()
	if c.Brief && !Nightly() {
		return max(1, day/2)
	}
	if c.Brief || !Nightly() {
		return day * setting(t, EnvSoak)
	}
	return night * setting(t, EnvSoak)
}

// ask asks a question. The builder contains a part of another answer, which Ask must remove.
func ask(ctx context.Context, a archive.Archive, q *archive.Query) (*answer.Answer, error) {
	var into answer.Builder
	into.Reset(q.Question.Columns)
	into.Grow(3)
	if err := a.Ask(ctx, q, &into); err != nil {
		return nil, err
	}
	return into.Take(), nil
}
