package river_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/mariadb"
	"github.com/barograph/barograph/engine/postgres"
	"github.com/barograph/barograph/formats/shef"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/river"
	"github.com/barograph/barograph/study/synth"
)

// backlog returns the number of products of test 3 in the backlog. BAROGRAPH_PRODUCTS=55338 sets it to all of them.
func backlog(b *testing.B) int {
	b.Helper()
	n, err := strconv.Atoi(os.Getenv("BAROGRAPH_PRODUCTS"))
	if err != nil {
		return 5000
	}
	return n
}

// own returns the anonymous memory of this process, in MB. What ps reports also contains the pages of the program's
// file, which the system can reclaim.
func own(b *testing.B) float64 {
	b.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "RssAnon:" {
			kb, _ := strconv.ParseFloat(f[1], 64)
			return kb / 1000
		}
	}
	return 0
}

// BenchmarkBacklog posts products of test 3 of 2006, one per file, until the spool is empty.
func BenchmarkBacklog(b *testing.B) {
	for _, e := range []engine.Driver{postgres.Driver(), mariadb.Driver()} {
		for _, design := range []string{"single", "array96"} {
			b.Run(e.Scheme+"/"+design, func(b *testing.B) {
				url := servers.Lab(b, e, lab.Options{Profile: "tuned"}).URL()
				feed, err := synth.SHEF{Seed: 1, Messages: backlog(b)}.Feed()
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					b.StopTimer()
					dir := b.TempDir()
					var m synth.Message
					for i := range backlog(b) {
						feed.Make(i, &m)
						if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%06d", i)), m.Text, 0o600); err != nil {
							b.Fatal(err)
						}
					}
					runtime.GC()
					spool, err := river.OpenSpool(dir, 0)
					if err != nil {
						b.Fatal(err)
					}
					to, err := opened(b.Context(), url, design)
					if err != nil {
						b.Fatal(err)
					}
					ended := make(chan struct{})
					close(ended)
					counted := &counting{b: b, Poster: to}
					s := &river.Service{
						Spool: spool, Poster: counted, Input: river.Input{Options: shef.Options{Now: feed.Now()}}, Log: slog.New(slog.DiscardHandler),
						Metrics: river.NewMetrics(prometheus.NewRegistry()), Ended: ended,
					}
					b.StartTimer()
					began := time.Now()
					if err := s.Run(b.Context()); err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(counted.values)/time.Since(began).Seconds(), "values/s")
					b.ReportMetric(counted.own, "own-MB")
					to.Close()
					spool.Close()
				}
			})
		}
	}
}

// counting counts posted values and records the maximum of the memory.
type counting struct {
	river.Poster
	b      *testing.B
	values int64
	own    float64
}

func (c *counting) Post(ctx context.Context, products []*river.Product) ([]river.Tally, error) {
	tallies, err := c.Poster.Post(ctx, products)
	for i := range tallies {
		c.values += tallies[i].Values()
	}
	c.own = max(c.own, own(c.b))
	return tallies, err
}

// BenchmarkLatency renames 20 products a second into a spool, and reports the time from each
// arrival to the commit of its rows.
func BenchmarkLatency(b *testing.B) {
	for _, e := range []engine.Driver{postgres.Driver(), mariadb.Driver()} {
		b.Run(e.Scheme, func(b *testing.B) {
			url := servers.Lab(b, e, lab.Options{Profile: "tuned"}).URL()
			const products = 400
			feed, err := synth.SHEF{Seed: 2, Messages: products, Mean: 55}.Feed()
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				dir := b.TempDir()
				spool, err := river.OpenSpool(dir, 200*time.Millisecond)
				if err != nil {
					b.Fatal(err)
				}
				to, err := opened(b.Context(), url, "single")
				if err != nil {
					b.Fatal(err)
				}
				timed := &timing{Poster: to}
				s := &river.Service{
					Spool: spool, Poster: timed, Input: river.Input{Options: shef.Options{Now: feed.Now()}}, Log: slog.New(slog.DiscardHandler),
					Metrics: river.NewMetrics(prometheus.NewRegistry()),
				}
				ctx, stop := context.WithCancel(b.Context())
				done := make(chan error)
				go func() { done <- s.Run(ctx) }()
				var m synth.Message
				tick := time.NewTicker(50 * time.Millisecond)
				for i := range products {
					<-tick.C
					feed.Make(i, &m)
					aside := filepath.Join(dir, ".aside")
					if err := os.WriteFile(aside, m.Text, 0o600); err != nil {
						b.Fatal(err)
					}
					if err := os.Rename(aside, filepath.Join(dir, fmt.Sprintf("%06d", i))); err != nil {
						b.Fatal(err)
					}
				}
				tick.Stop()
				time.Sleep(2 * time.Second)
				stop()
				if err := <-done; err != nil {
					b.Fatal(err)
				}
				to.Close()
				spool.Close()
				slices.Sort(timed.took)
				n := len(timed.took)
				if n < products*9/10 {
					b.Fatalf("%d products of %d", n, products)
				}
				for name, at := range map[string]int{"p50-ms": n / 2, "p99-ms": n * 99 / 100, "max-ms": n - 1} {
					b.ReportMetric(float64(timed.took[at].Milliseconds()), name)
				}
			}
		})
	}
}

// timing records the time from the arrival of each product to its commit.
type timing struct {
	river.Poster
	took []time.Duration
}

func (t *timing) Post(ctx context.Context, products []*river.Product) ([]river.Tally, error) {
	tallies, err := t.Poster.Post(ctx, products)
	for _, p := range products {
		if err == nil {
			t.took = append(t.took, time.Since(p.Received))
		}
	}
	return tallies, err
}
