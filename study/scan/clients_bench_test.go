package scan_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/engine/tables"
)

// client is an engine's own client, whose session is kept open.
type client struct {
	name string

	// ask sends a query for a sum, and returns the sum with the time that the client reports. If the client reports
	// none, took is the time until ask has read the line with the sum.
	ask func(text string) (sum string, took time.Duration, err error)

	// serverTime returns the time that the server reports for the previous query; nil = it reports none.
	serverTime func() time.Duration
}

// checkSum sends a query for a sum and returns its time. It returns an error if the sum is not want cents.
func (c *client) checkSum(text string, want int64) (time.Duration, error) {
	sum, took, err := c.ask(text)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", c.name, err)
	}
	got, err := sqlengine.Cents(strings.TrimSpace(sum))
	if err != nil || got != want {
		return 0, fmt.Errorf("%s: the sum is %q, %w; want %d cents", c.name, sum, err, want)
	}
	return took, nil
}

// session is a client program that reads statements from a pipe and prints results.
type session struct {
	in  io.Writer
	out *bufio.Scanner
}

// startSession starts a client program, which ends with the benchmark.
func startSession(b *testing.B, install string, args ...string) *session {
	b.Helper()
	path, err := exec.LookPath(args[0])
	if err != nil {
		b.Skipf("NOT MEASURED: no client %s: %v; install it: %s", args[0], err, install)
	}
	cmd := exec.CommandContext(context.WithoutCancel(b.Context()), path, args[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
			b.Errorf("%s: %v", args[0], err)
		}
	})
	return &session{in: in, out: bufio.NewScanner(out)}
}

func (s *session) send(text string) error {
	_, err := io.WriteString(s.in, text)
	return err
}

// line returns the next line that the client prints.
func (s *session) line() (string, error) {
	if !s.out.Scan() {
		return "", errors.Join(s.out.Err(), io.ErrUnexpectedEOF)
	}
	return s.out.Text(), nil
}

func parsed(b *testing.B, raw string) *url.URL {
	b.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		b.Fatal(err)
	}
	return u
}

// psql reports its own time (\timing). The server runs each query in one process, without parallel workers.
func psql(b *testing.B, at string) *client {
	u := parsed(b, at)
	s := startSession(b, "apt-get install postgresql-client", "psql", "-X", "-q", "-A", "-t", "-h", u.Hostname(), "-p", u.Port(), "-U", u.User.Username(), strings.TrimPrefix(u.Path, "/"))
	if err := s.send("\\timing on\nSET max_parallel_workers_per_gather = 0;\n"); err != nil {
		b.Fatal(err)
	}
	if _, err := s.line(); err != nil { // the time of SET
		b.Fatal(err)
	}
	return &client{name: "psql", ask: func(text string) (string, time.Duration, error) {
		if err := s.send(text + ";\n"); err != nil {
			return "", 0, err
		}
		sum, err := s.line()
		if err != nil {
			return "", 0, err
		}
		line, err := s.line()
		if err != nil {
			return "", 0, err
		}
		f := strings.Fields(line) // Time: 412.345 ms
		if len(f) < 3 || f[2] != "ms" {
			return "", 0, fmt.Errorf("psql tells no time: %q", line)
		}
		ms, err := strconv.ParseFloat(f[1], 64)
		return sum, time.Duration(ms * float64(time.Millisecond)), err
	}}
}

// mariadbClient measures the time until it has read the result, because the client reports times only to the
// millisecond. As in the run's own sessions, the query cache is off.
func mariadbClient(b *testing.B, at string) *client {
	u := parsed(b, at)
	s := startSession(b, "apt-get install mariadb-client", "mariadb", "--no-defaults", "-h", u.Hostname(), "-P", u.Port(), "-u", "root", "-N", "-B", "-n")
	if err := s.send("SET SESSION query_cache_type = OFF;\n"); err != nil {
		b.Fatal(err)
	}
	return &client{name: "mariadb", ask: func(text string) (string, time.Duration, error) {
		began := time.Now()
		if err := s.send(text + ";\n"); err != nil {
			return "", 0, err
		}
		sum, err := s.line()
		return sum, time.Since(began), err
	}}
}

// curl is a new process for each question; its own time begins with the connection.
func curl(b *testing.B, at string) *client {
	path, err := exec.LookPath("curl")
	if err != nil {
		b.Skipf("NOT MEASURED: no client curl: %v; install it: apt-get install curl", err)
	}
	service := "http://" + parsed(b, at).Host + "/query/service"
	var serverTime time.Duration
	return &client{
		name: "curl",
		ask: func(text string) (string, time.Duration, error) {
			out, err := exec.CommandContext(b.Context(), path, "-sS", "-w", "\n%{time_total}", service, "--data-urlencode", "statement="+text).Output()
			if err != nil {
				return "", 0, err
			}
			at := strings.LastIndexByte(string(out), '\n')
			var reply struct {
				Results []struct {
					Sum float64 `json:"ext_price"`
				} `json:"results"`
				Metrics struct {
					Elapsed string `json:"elapsedTime"`
				} `json:"metrics"`
			}
			if err := json.Unmarshal(out[:at], &reply); err != nil || len(reply.Results) != 1 {
				return "", 0, fmt.Errorf("%d rows in %s: %w", len(reply.Results), out, err)
			}
			if serverTime, err = time.ParseDuration(reply.Metrics.Elapsed); err != nil {
				return "", 0, err
			}
			seconds, err := strconv.ParseFloat(strings.TrimSpace(string(out[at:])), 64)
			return strconv.FormatFloat(reply.Results[0].Sum, 'f', 2, 64), time.Duration(seconds * float64(time.Second)), err
		},
		serverTime: func() time.Duration { return serverTime },
	}
}

// libduckdb calls DuckDB's C interface directly, with a database of its own. The view of this database reads the files
// that the run has written next to its own database.
func libduckdb(b *testing.B, at string) *client {
	files, err := filepath.Glob(strings.TrimPrefix(at, "duckdb:") + ".*/part-*/piece-*/*.parquet")
	if err != nil || len(files) == 0 {
		b.Fatalf("no files of store_sales beside %s: %v", at, err)
	}
	var db mapping.Database
	var conn mapping.Connection
	if mapping.Open(":memory:", &db) == mapping.StateError || mapping.Connect(db, &conn) == mapping.StateError {
		b.Fatal("DuckDB gives no database")
	}
	b.Cleanup(func() { mapping.Disconnect(&conn); mapping.Close(&db) })
	query := func(text string) (int64, error) {
		var r mapping.Result
		defer mapping.DestroyResult(&r)
		if mapping.Query(conn, text, &r) == mapping.StateError {
			return 0, errors.New(mapping.ResultError(&r))
		}
		chunk := mapping.FetchChunk(r)
		if chunk.Ptr == nil || mapping.DataChunkGetSize(chunk) == 0 {
			return 0, nil // a statement
		}
		defer mapping.DestroyDataChunk(&chunk)
		return *(*int64)(unsafe.Pointer(mapping.VectorGetData(mapping.DataChunkGetVector(chunk, 0)))), nil // the lower half of a DECIMAL(38,2)
	}
	view := "CREATE SCHEMA barograph_star; CREATE VIEW barograph_star." + string(tables.StoreSales) + " AS SELECT * FROM read_parquet(['" + strings.Join(files, "', '") + "'], hive_partitioning = false); SET GLOBAL threads = 1"
	if _, err := query(view); err != nil {
		b.Fatal(err)
	}
	return &client{name: "libduckdb", ask: func(text string) (string, time.Duration, error) {
		began := time.Now()
		n, err := query(text)
		return fmt.Sprintf("%d.%02d", n/100, n%100), time.Since(began), err
	}}
}
