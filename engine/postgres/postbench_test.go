package postgres_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"barograph/engine"
	"barograph/engine/enginetest"
	"barograph/engine/postgres"
	"barograph/lab"
	"barograph/record"
	"barograph/synth"
)

// BenchmarkPost posts 20 products of some 1,000 values in one transaction into
// empty tables, by each method, and as a bare COPY and merge of the same rows,
// which were made before.
func BenchmarkPost(b *testing.B) {
	d := databases{server: enginetest.Lab(b, postgres.Driver(), lab.Options{Profile: "tuned"})}
	f, err := synth.SHEF{Messages: 20, Mean: 1000}.Feed()
	if err != nil {
		b.Fatal(err)
	}
	var messages []engine.PostMessage
	values := 0
	for i := range f.Messages {
		var m synth.Message
		f.Make(i, &m)
		messages = append(messages, engine.PostMessage{Product: m.AWIPS, Issued: m.Issued, Values: m.Values})
		values += len(m.Values)
	}
	for _, design := range []engine.PostDesign{engine.SingleDesign, engine.Array96Design} {
		url := d.url(b)
		e, err := engine.Registry{postgres.Driver()}.Open(b.Context(), url, engine.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer e.Close()
		s, err := e.Posts.Open(b.Context(), engine.PostTables{Design: design, Make: true})
		if err != nil {
			b.Fatal(err)
		}
		admit(b, s, messages)
		empty := func() { execute(b, url, "TRUNCATE barograph_post."+tableOf(design)) }
		for _, m := range postgres.Driver().PostMethods {
			b.Run("design="+string(design)+"/method="+string(m), func(b *testing.B) {
				p, err := s.Poster(b.Context(), m)
				if err != nil {
					b.Fatal(err)
				}
				defer p.Close()
				for b.Loop() {
					b.StopTimer()
					empty()
					b.StartTimer()
					if _, err := p.Post(b.Context(), messages); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(values)*float64(b.N)/b.Elapsed().Seconds(), "values/s")
			})
		}
		b.Run("design="+string(design)+"/method=bare", func(b *testing.B) { bare(b, url, tableOf(design), values, empty) })
	}
}

func tableOf(d engine.PostDesign) string {
	if d == engine.SingleDesign {
		return "pedrsep"
	}
	return "pecrsep"
}

func admit(b *testing.B, s *engine.PostStore, messages []engine.PostMessage) {
	b.Helper()
	var stations []record.ID
	var series []engine.Series
	seen := map[engine.Series]bool{}
	for _, m := range messages {
		for _, g := range m.Values {
			x := engine.Series{Station: g.Station, Code: g.Code, Duration: g.Duration}
			if !seen[x] {
				seen[x] = true
				stations, series = append(stations, g.Station), append(series, x)
			}
		}
	}
	if err := s.Admit(b.Context(), stations, series); err != nil {
		b.Fatal(err)
	}
}

// bare copies rows that are ready into a temporary table and merges them.
func bare(b *testing.B, url, table string, values int, empty func()) {
	c, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close(b.Context())
	var names []string
	rows, err := c.Query(b.Context(), "SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 ORDER BY attnum", "barograph_post."+table)
	if err != nil {
		b.Fatal(err)
	}
	if names, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		b.Fatal(err)
	}
	const keys = 10
	var sets []string
	for _, n := range names[keys:] {
		to := "excluded." + n
		if strings.HasPrefix(n, "z") {
			to = "COALESCE(excluded." + n + ", t." + n + ")"
		}
		sets = append(sets, n+" = "+to)
	}
	merge := "INSERT INTO barograph_post." + table + " AS t SELECT * FROM given ON CONFLICT (" + strings.Join(names[:keys], ", ") + ") DO UPDATE SET " + strings.Join(sets, ", ")
	var ready bytes.Buffer
	if _, err := c.PgConn().CopyTo(b.Context(), &ready, "COPY (SELECT * FROM barograph_post."+table+" ORDER BY lid, pe1, pe2, dur, t, s, e, p, "+names[keys-1]+") TO STDOUT BINARY"); err != nil {
		b.Fatal(err)
	}
	if _, err := c.Exec(b.Context(), "CREATE TEMPORARY TABLE given (LIKE barograph_post."+table+") ON COMMIT DELETE ROWS"); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		b.StopTimer()
		empty()
		b.StartTimer()
		for _, f := range []func() error{
			func() error { _, err := c.Exec(b.Context(), "BEGIN"); return err },
			func() error {
				_, err := c.PgConn().CopyFrom(b.Context(), bytes.NewReader(ready.Bytes()), "COPY given FROM STDIN BINARY")
				return err
			},
			func() error { _, err := c.Exec(b.Context(), merge); return err },
			func() error { _, err := c.Exec(b.Context(), "COMMIT"); return err },
		} {
			if err := f(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(values)*float64(b.N)/b.Elapsed().Seconds(), "values/s")
}
