package postgres_test

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/postgres"
	"github.com/barograph/barograph/lab"
)

// serverSeconds is the CPU time of the server's processes so far, those that
// ended included; 0 where /proc is absent.
func serverSeconds(b *testing.B, l *lab.Lab) float64 {
	b.Helper()
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	postmaster := strconv.Itoa(l.State().Nodes[0].Processes[0].PID)
	ticks := 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		own := filepath.Base(filepath.Dir(name)) == postmaster
		if !own && f[1] != postmaster {
			continue
		}
		times := f[11:13] // user, system
		if own {
			times = f[11:15] // and those of children that ended
		}
		for _, t := range times {
			n, _ := strconv.Atoi(t)
			ticks += n
		}
	}
	return float64(ticks) / 100
}

// archive opens an archive in a fresh database of the server.
func (d *databases) archive(b *testing.B, n design.Name) (a archive.Archive, url string, done func()) {
	b.Helper()
	url = d.url(b)
	e, err := engine.Registry{postgres.Driver()}.Open(b.Context(), url, engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	if a, err = archive.DatabaseOf(e).Open(b.Context(), n); err != nil {
		b.Fatal(err)
	}
	return a, url, func() { _, _ = a.Close(), e.Close() }
}

// BenchmarkLoad loads the real day, parsing and the sync of the last commit
// included, next to its lower bound: the same rows, sent by COPY as a ready binary stream into tables with the same
// indexes.
func BenchmarkLoad(b *testing.B) {
	files := enginetest.RealDay(b)
	for _, profile := range postgres.Driver().Server.Profiles {
		d := &databases{server: enginetest.Lab(b, postgres.Driver(), lab.Options{Profile: profile.Name})}
		for _, n := range slices.Sorted(maps.Keys(enginetest.Offered(postgres.Driver()))) {
			var ready map[string][]byte
			b.Run("profile="+profile.Name+"/design="+string(n)+"/by=barograph", func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					a, url, done := d.archive(b, n)
					before := serverSeconds(b, d.server)
					b.StartTimer()
					sum, err := load.Run(b.Context(), a, "a", files, load.Options{})
					if err != nil {
						b.Fatal(err)
					}
					b.StopTimer()
					b.ReportMetric(float64(sum.Stored)/sum.Elapsed.Seconds(), "records/s")
					b.ReportMetric(sum.Elapsed.Seconds(), "s-to-last-commit")
					size, err := a.Size(b.Context())
					if err != nil {
						b.Fatal(err)
					}
					done()
					time.Sleep(100 * time.Millisecond) // until its sessions ended
					b.ReportMetric(serverSeconds(b, d.server)-before, "server-cpu-s")
					b.ReportMetric(float64(size)/1e6, "MB")
					if ready == nil {
						ready = unload(b, url)
					}
					b.StartTimer()
				}
			})
			b.Run("profile="+profile.Name+"/design="+string(n)+"/by=copy", func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					a, url, done := d.archive(b, n)
					makeTables(b, a, files)
					done()
					before := serverSeconds(b, d.server)
					b.StartTimer()
					began := time.Now()
					sent := lowerBound(b, url, ready)
					b.ReportMetric(time.Since(began).Seconds(), "s-to-last-commit")
					b.StopTimer()
					time.Sleep(100 * time.Millisecond)
					b.ReportMetric(serverSeconds(b, d.server)-before, "server-cpu-s")
					b.ReportMetric(float64(sent)/1e6, "MB-sent")
					b.StartTimer()
				}
			})
		}
	}
}

// relations are the tables of a loaded subset.
const relations = `SELECT relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
	WHERE nspname = 'a' AND relkind = 'r' AND relname NOT LIKE 'barograph%'`

func connect(b *testing.B, url string) *pgx.Conn {
	b.Helper()
	c, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// unload copies every table of a subset into memory.
func unload(b *testing.B, url string) map[string][]byte {
	b.Helper()
	c := connect(b, url)
	defer c.Close(b.Context())
	rows, _ := c.Query(b.Context(), relations)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		b.Fatal(err)
	}
	out := map[string][]byte{}
	for _, name := range names {
		var buf bytes.Buffer
		if _, err := c.PgConn().CopyTo(b.Context(), &buf, "COPY a."+name+" TO STDOUT BINARY"); err != nil {
			b.Fatal(err)
		}
		out[name] = buf.Bytes()
	}
	return out
}

// makeTables makes the tables and indexes of the subset by a load; lowerBound empties them.
func makeTables(b *testing.B, a archive.Archive, files []string) {
	b.Helper()
	if _, err := load.Run(b.Context(), a, "a", files, load.Options{}); err != nil {
		b.Fatal(err)
	}
}

// lowerBound sends the ready streams into the emptied tables, in one transaction.
func lowerBound(b *testing.B, url string, ready map[string][]byte) (sent int) {
	b.Helper()
	ctx := context.WithoutCancel(b.Context())
	c := connect(b, url)
	defer c.Close(ctx)
	tx, err := c.Begin(ctx)
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(ready)) {
		if _, err := c.Exec(ctx, "TRUNCATE a."+name); err != nil {
			b.Fatal(err)
		}
		if _, err := c.PgConn().CopyFrom(ctx, bytes.NewReader(ready[name]), "COPY a."+name+" FROM STDIN BINARY"); err != nil {
			b.Fatal(err)
		}
		sent += len(ready[name])
	}
	if err := tx.Commit(ctx); err != nil {
		b.Fatal(err)
	}
	return sent
}

// BenchmarkPostgres loads generated records and asks every case in every flavour.
func BenchmarkPostgres(b *testing.B) {
	d := &databases{server: enginetest.Lab(b, postgres.Driver(), lab.Options{Profile: "tuned"})}
	enginetest.Benchmark(b, postgres.Driver(), func(b *testing.B) string { return d.url(b) })
}
