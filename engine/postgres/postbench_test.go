package postgres_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/postgres"
	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/study/synth"
)

// BenchmarkPost posts 20 products of some 1,000 values in one transaction into
// empty tables, by each method, and as a bare COPY and merge of the same rows,
// which exist before.
func BenchmarkPost(b *testing.B) {
	d := databases{server: enginetest.Lab(b, postgres.Driver(), lab.Options{Profile: "tuned"})}
	f, err := synth.SHEF{Messages: 20, Mean: 1000}.Feed()
	if err != nil {
		b.Fatal(err)
	}
	var messages []posts.Message
	values := 0
	for i := range f.Messages {
		var m synth.Message
		f.Make(i, &m)
		messages = append(messages, posts.Message{Product: m.AWIPS, Issued: m.Issued, Values: m.Values})
		values += len(m.Values)
	}
	for _, design := range []posts.Design{posts.Single, posts.Array96} {
		url := d.url(b)
		e, err := engine.Registry{postgres.Driver()}.Open(b.Context(), url, engine.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer e.Close()
		s, err := posts.DatabaseOf(e).Open(b.Context(), posts.Tables{Design: design, Make: true})
		if err != nil {
			b.Fatal(err)
		}
		admit(b, s, messages)
		tables := tablesOf(design)
		empty := func() { execute(b, url, "TRUNCATE barograph_post."+strings.Join(tables, ", barograph_post.")) }
		driver := postgres.Driver()
		for _, m := range posts.Methods(&driver) {
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
		b.Run("design="+string(design)+"/method=bare", func(b *testing.B) { bare(b, url, tables, values, empty) })
	}
}

func tablesOf(d posts.Design) []string {
	if d == posts.Single {
		return []string{"pedrsep"}
	}
	return []string{"pecrsep", "pecrsep_offgrid"}
}

func admit(b *testing.B, s *posts.Store, messages []posts.Message) {
	b.Helper()
	var stations []record.ID
	var series []posts.Series
	seen := map[posts.Series]bool{}
	for _, m := range messages {
		for _, g := range m.Values {
			x := posts.Series{Station: g.Station, Code: g.Code, Duration: g.Duration}
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

// ready is the rows of a table as a bare COPY takes them, and their merge.
type ready struct {
	table, merge string
	rows         bytes.Buffer
}

// prepare reads the rows of a table and makes a temporary one for them.
func prepare(b *testing.B, c *pgx.Conn, table string) *ready {
	b.Helper()
	rows, err := c.Query(b.Context(), "SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 ORDER BY attnum", "barograph_post."+table)
	if err != nil {
		b.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
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
	key := strings.Join(names[:keys], ", ")
	r := &ready{table: "ready_" + table, merge: "INSERT INTO barograph_post." + table + " AS t SELECT * FROM ready_" + table + " ON CONFLICT (" + key + ") DO UPDATE SET " + strings.Join(sets, ", ")}
	if _, err := c.PgConn().CopyTo(b.Context(), &r.rows, "COPY (SELECT * FROM barograph_post."+table+" ORDER BY "+key+") TO STDOUT BINARY"); err != nil {
		b.Fatal(err)
	}
	if _, err := c.Exec(b.Context(), "CREATE TEMPORARY TABLE "+r.table+" (LIKE barograph_post."+table+") ON COMMIT DELETE ROWS"); err != nil {
		b.Fatal(err)
	}
	return r
}

// bare copies rows that are ready into temporary tables and merges them.
func bare(b *testing.B, url string, tables []string, values int, empty func()) {
	c, err := pgx.Connect(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close(b.Context())
	var all []*ready
	for _, t := range tables {
		all = append(all, prepare(b, c, t))
	}
	run := func(text string) {
		if _, err := c.Exec(b.Context(), text); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		b.StopTimer()
		empty()
		b.StartTimer()
		run("BEGIN")
		for _, r := range all {
			if _, err := c.PgConn().CopyFrom(b.Context(), bytes.NewReader(r.rows.Bytes()), "COPY "+r.table+" FROM STDIN BINARY"); err != nil {
				b.Fatal(err)
			}
			run(r.merge)
		}
		run("COMMIT")
	}
	b.ReportMetric(float64(values)*float64(b.N)/b.Elapsed().Seconds(), "values/s")
}
