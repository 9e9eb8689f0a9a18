package duckdb_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/duckdb"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/host"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// archiveFile returns an archive file with generated records of several line types in all designs.
func archiveFile(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.db")
	e, err := engine.Registry{duckdb.Driver()}.Open(t.Context(), "duckdb:"+path, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var series []enginetest.Series
	for _, name := range []string{"SAL1L2", "PCT", "CTC", "MCTC"} {
		lt, _ := record.TypeByName(name)
		h := record.DefaultHeader()
		h[record.Version], h[record.Model], h[record.ObType], h[record.FcstVar], h[record.FcstLev], h[record.VxMask] = "V12", "GFS", "ANL", "HGT", "P500", "G2"
		series = append(series, enginetest.Series{Type: lt, Header: h, Lead: []int32{0, 21600, 43200}, Valid: times(1546300800, 21600, 120)})
	}
	for _, n := range designs() {
		a, err := archive.DatabaseOf(e).Open(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		var all []*record.Batch
		for _, f := range enginetest.Generate(3, 2, series...) {
			all = append(all, f.Batches...)
		}
		enginetest.StoreBatches(t, a, "s", all...)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// readers opens a file twice: in a child process and in this process.
func readers(t testing.TB, url string, n design.Name) (child, local archive.Archive, e *engine.Engine) {
	t.Helper()
	var out []archive.Archive
	for _, o := range []engine.Options{{ReadOnly: true}, {ReadOnly: true, InProcess: true}} {
		opened, err := engine.Registry{duckdb.Driver()}.Open(t.Context(), url, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := opened.Close(); err != nil {
				t.Error(err)
			}
		})
		a, err := archive.DatabaseOf(opened).Open(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		if out = append(out, a); e == nil {
			e = opened
		}
	}
	return out[0], out[1], e
}

// TestReader: the child process returns exactly what this process reads from the file.
func TestReader(t *testing.T) {
	path := archiveFile(t)
	for _, n := range designs() {
		child, local, e := readers(t, "duckdb:"+path, n)
		if e.Cost == "" || len(e.Processes) != 1 || e.Processes[0] == int32(os.Getpid()) {
			t.Errorf("cost %q, processes %v", e.Cost, e.Processes)
		}
		same := func(what string, f func(a archive.Archive) (any, error)) {
			t.Helper()
			x, err := f(child)
			y, want := f(local)
			if err != nil || want != nil || !reflect.DeepEqual(x, y) {
				t.Errorf("%s, %s: %v, %v; want %v, %v", n, what, x, err, y, want)
			}
		}
		same("subsets", func(a archive.Archive) (any, error) { return a.Subsets(t.Context()) })
		same("contents", func(a archive.Archive) (any, error) { return a.Contents(t.Context(), "s") })
		same("no contents", func(a archive.Archive) (any, error) { return a.Contents(t.Context(), "none") })
		same("marks", func(a archive.Archive) (any, error) { return a.Marks(t.Context(), "s") })
		same("size", func(a archive.Archive) (any, error) { return a.Size(t.Context()) })
		same("digest", func(a archive.Archive) (any, error) { return digest(t, a, "s"), nil })
		same("catalog", func(a archive.Archive) (any, error) {
			c, err := a.Catalog(t.Context(), "s")
			return []any{string(c.ParsedText()), c.Intact()}, err
		})
		catalog, err := local.Catalog(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		cases := catalog.Cases()
		for _, name := range []string{"PCT", "MCTC"} {
			lt, _ := record.TypeByName(name)
			q := &question.Question{Name: "repeating " + name, Type: lt, Subset: "s"}
			if q.Columns, err = question.Columns(lt, append([]string{"fcst_valid_beg", "fcst_lead", "model"}, lt.Group.Fields...)...); err != nil {
				t.Fatal(err)
			}
			cases = append(cases, q)
		}
		if len(cases) < 4 {
			t.Fatalf("%d cases", len(cases))
		}
		for _, q := range cases {
			q = q.InSubset("s")
			for _, f := range enginetest.Offered(duckdb.Driver())[n] {
				p, err := child.Phrase(t.Context(), q, f)
				want, wanted := local.Phrase(t.Context(), q, f)
				if errors.Is(err, flavour.ErrCannotExpress) != errors.Is(wanted, flavour.ErrCannotExpress) || (err == nil) != (wanted == nil) {
					t.Errorf("%s, %s: %v, want %v", q.Name, f, err, wanted)
				}
				if err != nil {
					continue
				}
				if p.Text != want.Text || !reflect.DeepEqual(p.Args, want.Args) || p.Question != q {
					t.Errorf("%s, %s: another text", q.Name, f)
				}
				var x, y answer.Builder
				if err := errors.Join(child.Ask(t.Context(), p, &x), local.Ask(t.Context(), want, &y)); err != nil {
					t.Fatal(err)
				}
				if x.Rows == 0 || x.Rows != y.Rows || x.Digest() != y.Digest() {
					t.Errorf("%s, %s, %s: %d rows, want %d", n, q.Name, f, x.Rows, y.Rows)
				}
				plan, err := child.Explain(t.Context(), p)
				if err != nil || len(plan.Access) == 0 {
					t.Errorf("%s: plan %v, %v", q.Name, plan, err)
				}
			}
		}
		if _, err := child.Loader(t.Context(), "s"); !errors.Is(err, engine.ErrReadOnly) {
			t.Errorf("a loader: %v", err)
		}
		if _, err := archive.DatabaseOf(e).Open(t.Context(), "none"); !errors.Is(err, engine.ErrNoDesign) {
			t.Errorf("no such design: %v", err)
		}
		for range child.Dump(t.Context(), "s") {
			break // one that is left leaves the others
		}
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() { _ = digest(t, child, "s") })
		}
		group.Wait()
	}
}

// BenchmarkReader compares the child process with this process: reading every record, and one question.
func BenchmarkReader(b *testing.B) {
	child, local, e := readers(b, "duckdb:"+archiveFile(b), design.Wide)
	b.Log(e.Cost)
	lt, _ := record.TypeByName("SAL1L2")
	q := &question.Question{Name: "all", Type: lt, Subset: "s"}
	q.Columns, _ = question.Columns(lt, "fcst_valid_beg", "fcst_lead", "model", "fabar", "oabar", "total")
	for name, a := range map[string]archive.Archive{"process": child, "here": local} {
		b.Run("dump/"+name, func(b *testing.B) {
			var n int64
			for b.Loop() {
				n += digest(b, a, "s").Records
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "records/s")
		})
		b.Run("ask/"+name, func(b *testing.B) {
			p, err := a.Phrase(b.Context(), q, flavour.SQL)
			if err != nil {
				b.Fatal(err)
			}
			var into answer.Builder
			for b.Loop() {
				if err := a.Ask(b.Context(), p, &into); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(into.Rows), "rows")
		})
	}
}

// endless is a query that takes days.
func endless() *archive.Query {
	lt, _ := record.TypeByName("SAL1L2")
	q := &question.Question{Name: "endless", Type: lt, Subset: "s"}
	q.Columns, _ = question.Columns(lt, "model", "total")
	return &archive.Query{Question: q, Text: "SELECT 'x', sum(a.range * b.range)::DOUBLE FROM range(1000000000) a, range(1000000000) b"}
}

// TestReaderEnds: a call ends with its context, and other calls continue. A crash of the process is reported as damage
// of the file. Silence beyond the deadline, or too much memory, is not.
func TestReaderEnds(t *testing.T) {
	path := archiveFile(t)
	child, _, e := readers(t, "duckdb:"+path, design.Wide)
	ctx, stop := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer stop()
	var into answer.Builder
	if err := child.Ask(ctx, endless(), &into); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("interrupted: %v", err)
	}
	if _, err := child.Subsets(t.Context()); err != nil {
		t.Error(err)
	}
	failed := make(chan error, 1)
	go func() {
		var into answer.Builder
		failed <- child.Ask(t.Context(), endless(), &into)
	}()
	time.Sleep(200 * time.Millisecond)
	if err := syscall.Kill(int(e.Processes[0]), syscall.SIGSEGV); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; fault.Code(err) != fault.Differs || !strings.Contains(err.Error(), "archive "+path+" is damaged") || !strings.Contains(err.Error(), "SIGSEGV") || errors.Is(err, engine.ErrUnreachable) {
		t.Errorf("crashed: %v", err)
	}
	if d := digest(t, child, "s"); d.Records == 0 {
		t.Error("nothing is read after a crash")
	}
	child, _, _ = readers(t, "duckdb:"+path+"?deadline=1s", design.Wide)
	if err := child.Ask(t.Context(), endless(), &into); fault.Code(err) != fault.Failed || !strings.Contains(err.Error(), "did not answer within the limit of 1s") {
		t.Errorf("silent: %v", err)
	}
	_, err := host.NewReader(t.Context(), host.Options{URL: "duckdb:" + path, Path: path, Deadline: time.Minute, Memory: 1})
	if fault.Code(err) != fault.Failed || err == nil || !strings.Contains(err.Error(), "exceeded its memory limit of") {
		t.Errorf("memory: %v", err)
	}
}

// TestMisplacedBlocks: a file may have valid blocks at wrong places. Every call on it ends, and this process and later
// calls continue. Attacks found such files: they ended ask and serve with SIGSEGV, and verify never ended.
func TestMisplacedBlocks(t *testing.T) {
	const seed, at, headerBytes = 20261126, 3 * 4096, 4096
	path := archiveFile(t)
	intact, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	latest := max(binary.LittleEndian.Uint64(intact[headerBytes+8:]), binary.LittleEndian.Uint64(intact[2*headerBytes+8:]))
	head := headerBytes
	if binary.LittleEndian.Uint64(intact[head+8:]) != latest {
		head = 2 * headerBytes
	}
	blocks, size := int(binary.LittleEndian.Uint64(intact[head+32:])), int(binary.LittleEndian.Uint64(intact[head+40:])) //nolint:gosec // of a file of this test's
	r := rand.New(rand.NewPCG(seed, 0))                                                                                  //nolint:gosec // a test's
	n := 32
	if testing.Short() {
		n = 6
	}
	outcomes := map[string]int{}
	file := append([]byte(nil), intact...)
	file[8] ^= 1 // the first letter of the magic number DUCK
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := readAll(t, path, design.Wide); fault.Code(err) != fault.Differs || errors.Is(err, engine.ErrUnreachable) {
		t.Errorf("a damaged header: %v", err)
	}
	for i := range n {
		x, y := r.IntN(blocks), r.IntN(blocks-1)
		if y >= x {
			y++
		}
		file := append([]byte(nil), intact...)
		copy(file[at+x*size:], intact[at+y*size:at+(y+1)*size])
		if i%2 == 0 { // swapped, otherwise duplicated
			copy(file[at+y*size:], intact[at+x*size:at+(x+1)*size])
		}
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, d := range designs() {
			if err := readAll(t, path, d); err == nil {
				outcomes["read"]++
			} else if code := fault.Code(err); code == fault.Differs {
				outcomes["damaged"]++
			} else {
				outcomes["failed"]++
				t.Logf("blocks %d and %d, %s: status %d: %v", x, y, d, code, err)
			}
		}
	}
	t.Logf("seed %d, %d files of %d blocks: %v", seed, n, blocks, outcomes)
}

// readAll reads the complete archive. Of several errors it returns one that is not damage, if there is one.
func readAll(t *testing.T, path string, n design.Name) error {
	t.Helper()
	e, err := engine.Registry{duckdb.Driver()}.Open(t.Context(), "duckdb:"+path+"?deadline=20s", engine.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer e.Close()
	a, err := archive.DatabaseOf(e).Open(t.Context(), n)
	if err != nil {
		return err
	}
	_, err = a.Subsets(t.Context())
	_, contents := a.Contents(t.Context(), "s")
	_, marks := a.Marks(t.Context(), "s")
	_, catalog := a.Catalog(t.Context(), "s")
	errs := []error{err, contents, marks, catalog}
	for _, err := range a.Dump(t.Context(), "s") {
		errs = append(errs, err)
	}
	var first error
	for _, err := range errs {
		if err != nil && (first == nil || fault.Code(err) != fault.Differs) {
			first = err
		}
	}
	return first
}
