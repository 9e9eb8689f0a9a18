package mariadb_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/mariadb"
	"github.com/barograph/barograph/lab"
)

// BenchmarkLoad loads the real day, parsing and the last commit included, in
// turn with its lower bound: LOAD DATA of the same rows, from ready files, into empty
// tables of the same definition.
func BenchmarkLoad(b *testing.B) {
	files := enginetest.RealDay(b)
	for _, c := range []struct {
		name, query string
		design      design.Name
	}{
		{"normalized/engine=MyISAM", "", design.Normalized},
		{"normalized/engine=MyISAM/apply_indexes=true", "?apply_indexes=true", design.Normalized},
		{"normalized/engine=InnoDB", "?engine=InnoDB", design.Normalized},
		{"document", "", design.Document},
		{"wide", "", design.Wide},
	} {
		for _, profile := range mariadb.Driver().Server.Profiles {
			b.Run("design="+c.name+"/profile="+profile.Name, func(b *testing.B) {
				p := &pair{lab: enginetest.Lab(b, mariadb.Driver(), lab.Options{Profile: profile.Name, Memory: 8 << 30}), query: c.query, design: c.design}
				p.connect(b)
				for b.Loop() {
					p.ours(b, files)
					p.lowerBound(b)
				}
				p.report(b)
			})
		}
	}
}

// pair is a load and its lower bound, and what both have cost so far.
type pair struct {
	lab          *lab.Lab
	query        string
	design       design.Name
	db           *sql.DB
	loads        int
	wall, cpu    [2]float64 // seconds: ours, the lower bound
	client       float64    // CPU seconds of ours in this process
	records      int64
	peak, loaded uint64 // bytes: of this process, of the ready files
}

func (p *pair) connect(b *testing.B) {
	b.Helper()
	cfg, err := mysql.ParseDSN(dsn(b, p.lab.URL(), "/"))
	if err != nil {
		b.Fatal(err)
	}
	cfg.Params = map[string]string{"sql_mode": "'STRICT_ALL_TABLES,NO_BACKSLASH_ESCAPES'"}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		b.Fatal(err)
	}
	p.db = sql.OpenDB(connector)
	p.db.SetMaxOpenConns(1)
	b.Cleanup(func() { _ = p.db.Close() })
}

func (p *pair) exec(b *testing.B, query string) {
	b.Helper()
	if _, err := p.db.ExecContext(context.WithoutCancel(b.Context()), query); err != nil {
		b.Fatalf("%.200s: %v", query, err)
	}
}

// seconds is the CPU time of this process and of the server so far.
func (p *pair) seconds(b *testing.B) (client, both float64) {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	client = float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.lab.State().Nodes[0].Processes[0].PID) + "/stat")
	if err != nil {
		b.Fatal(err)
	}
	f := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	for _, ticks := range f[11:13] {
		n, err := strconv.Atoi(ticks)
		if err != nil {
			b.Fatal(err)
		}
		both += float64(n) / 100
	}
	return client, both + client
}

// timed adds what a load costs.
func (p *pair) timed(b *testing.B, which int, do func()) {
	b.Helper()
	runtime.GC()
	client, before := p.seconds(b)
	began := time.Now()
	do()
	p.wall[which] += time.Since(began).Seconds()
	after, both := p.seconds(b)
	p.cpu[which] += both - before
	if which == 0 {
		p.client += after - client
	}
}

func (p *pair) ours(b *testing.B, files []string) {
	b.Helper()
	p.loads++
	url := fmt.Sprintf("%sb%d_%s", p.lab.URL(), p.loads, p.query)
	a := opened(b, url, p.design)
	p.timed(b, 0, func() {
		sum, err := load.Run(b.Context(), a, "a", files, load.Options{})
		if err != nil {
			b.Fatal(err)
		}
		p.records += sum.Stored
	})
	p.peak = max(p.peak, peak(b))
}

// peak is the largest memory that this process had, in bytes.
func peak(b *testing.B) uint64 {
	b.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			n, err := strconv.ParseUint(strings.Fields(rest)[0], 10, 64)
			if err != nil {
				b.Fatal(err)
			}
			return n << 10
		}
	}
	return 0
}

// lowerBound unloads the tables of the last load into files and loads these, and
// drops what both have made.
func (p *pair) lowerBound(b *testing.B) {
	b.Helper()
	from, to := fmt.Sprintf("b%d_a", p.loads), fmt.Sprintf("f%d_a", p.loads)
	p.exec(b, "CREATE DATABASE "+to)
	dir := filepath.Join(p.lab.State().Cluster.Nodes[0].Dir, "tmp")
	var statements []string
	for _, table := range p.list(b, "SELECT table_name FROM information_schema.tables WHERE table_schema = ? AND table_name NOT LIKE 'barograph%' ORDER BY table_name", from) {
		p.exec(b, "CREATE TABLE "+to+"."+table+" LIKE "+from+"."+table)
		file := filepath.Join(dir, from+"."+table)
		columns := strings.Join(p.list(b, "SELECT column_name FROM information_schema.columns WHERE table_schema = ? AND table_name = '"+table+"' ORDER BY ordinal_position", from), ", ")
		format := " CHARACTER SET binary FIELDS TERMINATED BY '\t' ESCAPED BY '\\' LINES TERMINATED BY '\n' "
		p.exec(b, "SELECT "+columns+" INTO OUTFILE '"+file+"'"+format+"FROM "+from+"."+table)
		info, err := os.Stat(file)
		if err != nil {
			b.Fatal(err)
		}
		p.loaded += uint64(info.Size())
		mysql.RegisterReaderHandler(file, func() io.Reader {
			f, err := os.Open(file)
			if err != nil {
				return strings.NewReader("")
			}
			return &closing{Reader: bufio.NewReaderSize(f, 1<<20), f: f}
		})
		statements = append(statements, "LOAD DATA LOCAL INFILE 'Reader::"+file+"' INTO TABLE "+to+"."+table+format+"("+columns+")")
	}
	p.timed(b, 1, func() {
		p.exec(b, "START TRANSACTION")
		for _, s := range statements {
			p.exec(b, s)
		}
		p.exec(b, "COMMIT")
	})
	for _, table := range p.list(b, "SELECT table_name FROM information_schema.tables WHERE table_schema = ?", to) {
		got := p.list(b, "SELECT (SELECT count(*) FROM "+from+"."+table+") - (SELECT count(*) FROM "+to+"."+table+") + ?", "0")
		if !slices.Equal(got, []string{"0"}) {
			b.Fatalf("%s: the floor lacks %s rows", table, got)
		}
		_ = os.Remove(filepath.Join(dir, from+"."+table))
	}
	p.exec(b, "DROP DATABASE "+from)
	p.exec(b, "DROP DATABASE "+to)
}

type closing struct {
	io.Reader
	f *os.File
}

func (c *closing) Close() error { return c.f.Close() }

func (p *pair) list(b *testing.B, query string, args ...any) (out []string) {
	b.Helper()
	rows, err := p.db.QueryContext(context.WithoutCancel(b.Context()), query, args...)
	if err != nil {
		b.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			b.Fatal(err)
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return out
}

func (p *pair) report(b *testing.B) {
	n := float64(p.loads)
	b.ReportMetric(0, "ns/op") // a pair means nothing
	b.ReportMetric(p.wall[0]/n, "s")
	b.ReportMetric(p.wall[1]/n, "floor-s")
	b.ReportMetric(p.wall[0]/p.wall[1], "x-floor")
	b.ReportMetric(p.cpu[0]/n, "cpu-s")
	b.ReportMetric(p.client/n, "client-cpu-s")
	b.ReportMetric(p.cpu[1]/n, "floor-cpu-s")
	b.ReportMetric(p.cpu[0]/p.cpu[1], "x-floor-cpu")
	b.ReportMetric(float64(p.records)/p.wall[0], "records/s")
	b.ReportMetric(float64(p.loaded)/n/1e6, "ready-MB")
	b.ReportMetric(float64(p.peak)/1e6, "peak-MB")
}
