package clickhouse

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// TestFolder: a path may be relative, a program can open several archives at once, and an archive that is open for
// writing cannot be opened for reading.
func TestFolder(t *testing.T) {
	enginetest.Installed(t, Driver())
	t.Chdir(t.TempDir())
	all := engine.Registry{Driver()}
	for _, name := range []string{"one", "two"} {
		e, err := all.Open(t.Context(), "clickhouse:"+name, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if n := stored(t, e, 10, nil); n != 10 {
			t.Errorf("%s holds %d records", name, n)
		}
	}
	if e, err := all.Open(t.Context(), "clickhouse:one", engine.Options{ReadOnly: true}); !errors.Is(err, engine.ErrUnreachable) {
		t.Errorf("an archive that is written is opened for reading: %v, %v", e, err)
	}
}

// TestLibrary: a missing library and a library with another checksum are errors that name the command that installs it.
func TestLibrary(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(launch.EnvArtifacts, dir)
	path := filepath.Join(dir, artifact().Name, "package", "libchdb.so")
	try := func(want string) {
		t.Helper()
		_, err := engine.Registry{Driver()}.Open(t.Context(), "clickhouse:"+filepath.Join(dir, "archive"), engine.Options{})
		if err == nil || !errors.Is(err, engine.ErrUnreachable) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "barograph lab install --yes clickhouse") {
			t.Errorf("the error is %v; want one with %q", err, want)
		}
	}
	try("is not installed")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	try("differs from the released library")
}

// TestLargeCommit kills the process of ClickHouse during commits of more records than ClickHouse stores as one part.
// Afterwards the archive contains the complete commit or nothing of it.
func TestLargeCommit(t *testing.T) {
	enginetest.Installed(t, Driver())
	if !enginetest.Nightly() {
		t.Skip("NOT TESTED: commits of more than a million records are killed with BAROGRAPH_SOAK set")
	}
	const few, many = 1000, 1_200_000
	all, dir := engine.Registry{Driver()}, filepath.Join(t.TempDir(), "archive")
	open := func() *engine.Engine {
		e, err := all.Open(t.Context(), "clickhouse:"+dir, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := open()
	stored(t, e, few, nil)
	took := 8 * time.Second
	for kill := range 12 {
		began := time.Now()
		wait := time.Duration(rand.Int64N(int64(took))) //nolint:gosec // a moment cannot be repeated anyway
		timer := time.AfterFunc(wait, func() { killHost(t, dir) })
		n := stored(t, e, many, func(err error) { t.Logf("kill %d after %v: %v", kill, wait, err) })
		timer.Stop()
		_ = e.Close()
		if n == many {
			took = time.Since(began)
		}
		e = open()
		a, err := archive.DatabaseOf(e).Open(t.Context(), design.Wide)
		if err != nil {
			t.Fatal(err)
		}
		c, err := a.Contents(t.Context(), "a")
		marks, failed := a.Marks(t.Context(), "a")
		if err := errors.Join(err, failed); err != nil {
			t.Fatal(err)
		}
		whole := c.Total() == many
		if whole != (marks[len(marks)-1].Path == "many") || !whole && (c.Total() != few || n == many) {
			t.Fatalf("%d records are there, of %d that were acknowledged; %d marks", c.Total(), n, len(marks))
		}
		if whole {
			_ = e.Close()
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			e = open()
			stored(t, e, few, nil)
		}
	}
	_ = e.Close()
}

// stored commits n records of one series. It returns n, or 0 after an error, which it passes to failed. If failed is
// nil, an error ends the test.
func stored(t *testing.T, e *engine.Engine, n int, failed func(error)) int {
	t.Helper()
	return storedWith(t.Context(), t, e, n, failed)
}

// storedWith is stored with a context.
func storedWith(ctx context.Context, t *testing.T, e *engine.Engine, n int, failed func(error)) int {
	t.Helper()
	a, err := archive.DatabaseOf(e).Open(ctx, design.Wide)
	if err != nil {
		t.Fatal(err)
	}
	name := "few"
	if n > 100_000 {
		name = "many"
	}
	sl, _ := record.TypeByName("SL1L2")
	var b record.Batch
	b.Reset(sl, name)
	h := record.DefaultHeader()
	h[record.Model] = "WRF"
	head := b.AddHeader(h)
	for i := range n {
		b.AppendTimes(head, int32(i%1000)*60, int64(1_500_000_000+i/1000*3600), uint32(i+1)) //nolint:gosec // small
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], float64(i*7+k))
		}
	}
	c := design.NewCatalog("a")
	c.Add(&b)
	l, err := a.Loader(ctx, "a")
	if err == nil {
		defer l.Close()
		err = l.Add(ctx, &b)
	}
	if err == nil {
		_, err = l.Commit(ctx, archive.Commit{Catalog: c, Complete: []archive.Mark{{Path: name, Digest: strings.Repeat("0", 24) + strconv.Itoa(10_000_000+n), Read: int64(n), Stored: int64(n), Loaded: time.Now()}}})
	}
	if err != nil {
		if failed == nil {
			t.Fatal(err)
		}
		failed(err)
		return 0
	}
	return n
}

// killHost kills the process that has a folder open.
func killHost(t *testing.T, dir string) {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Error(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), "--path="+dir+"\x00") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			t.Error(err)
		}
		if p, err := os.FindProcess(pid); err == nil {
			_ = p.Kill() // it may have ended
		}
	}
}

// intercepted is a session that passes each statement to a function, which calls send to send the statement.
type intercepted struct {
	session
	through func(ctx context.Context, text string, send func(ctx context.Context) error) error
}

func (i intercepted) query(ctx context.Context, text string, each func(proto.Results) error) error {
	return i.through(ctx, text, func(ctx context.Context) error { return i.session.query(ctx, text, each) })
}

// intercept makes the new sessions of an archive pass each statement to a function, and closes the old sessions.
func intercept(t *testing.T, e *engine.Engine, through func(ctx context.Context, text string, send func(ctx context.Context) error) error) {
	t.Helper()
	d := engine.Find[*database](e)
	if err := d.close(); err != nil {
		t.Fatal(err)
	}
	connect := d.connect
	d.connect = func(ctx context.Context) (session, error) {
		s, err := connect(ctx)
		return intercepted{s, through}, err
	}
}

// TestInterruptedDecision interrupts a commit after it is flushed. It is then stored completely or not at all.
func TestInterruptedDecision(t *testing.T) {
	enginetest.Installed(t, Driver())
	lost := errors.New("the reply is lost")
	for _, c := range []struct {
		name               string
		isSent, isCanceled bool  // the statement that decides the commit is sent, and the commit is canceled then
		err                error // of this statement
		isKilled           bool  // the process ends while the copies are dropped
		isAcknowledged     bool
	}{
		{name: "canceled", isSent: true, isCanceled: true, isKilled: true, isAcknowledged: true},
		{name: "not dropped", isSent: true, isKilled: true, isAcknowledged: true},
		{name: "reply lost", isSent: true, err: lost},
		{name: "not sent", err: lost},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := "clickhouse:" + filepath.Join(t.TempDir(), "archive")
			open := func() *engine.Engine {
				e, err := engine.Registry{Driver()}.Open(t.Context(), url, engine.Options{})
				if err != nil {
					t.Fatal(err)
				}
				return e
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			e := open()
			isDecided, drops := false, 0 // one goroutine sends the statements
			intercept(t, e, func(ctx context.Context, text string, send func(ctx context.Context) error) error {
				switch {
				case strings.HasPrefix(text, "INSERT INTO "+commitsTable) && !strings.HasSuffix(text, ", 0, [])"):
					isDecided = true
					err := c.err
					if c.isSent {
						err = errors.Join(err, send(context.WithoutCancel(ctx)))
					}
					if c.isCanceled {
						cancel()
					}
					return errors.Join(err, ctx.Err())
				case c.isKilled && isDecided && strings.HasPrefix(text, "DROP TABLE"):
					if drops++; drops == 2 {
						return errors.Join(lost, syscall.Kill(int(e.Processes[0]), syscall.SIGKILL))
					}
				}
				return send(ctx)
			})
			var failure error
			n := storedWith(ctx, t, e, 1000, func(err error) { failure = err })
			if (n == 1000) != c.isAcknowledged || !isDecided || c.isKilled && drops < 2 {
				t.Errorf("%d records are acknowledged after %d drops: %v", n, drops, failure)
			}
			if !c.isAcknowledged {
				stored(t, e, 1000, func(err error) { failure = errors.Join(failure, err) })
				if failure == nil || strings.Count(failure.Error(), "opened for writing again") != 2 {
					t.Errorf("the error of this commit and of another one: %v", failure)
				}
			}
			_ = e.Close() // the process may have ended
			e = open()
			defer e.Close()
			if !c.isSent {
				stored(t, e, 1000, nil)
			}
			a, err := archive.DatabaseOf(e).Open(t.Context(), design.Wide)
			if err != nil {
				t.Fatal(err)
			}
			v, err := load.Verify(t.Context(), a, "a")
			if err != nil || len(v.Problems) > 0 || v.Found.Records != 1000 || v.Marks != 1 {
				t.Errorf("%+v, %v", v, err)
			}
		})
	}
}

// TestCommitThatIsNotPublished: a decided commit whose copies replace only some tables is complete after the archive
// was opened again. Until then no other commit to the subset is possible, which would drop the copies.
func TestCommitThatIsNotPublished(t *testing.T) {
	enginetest.Installed(t, Driver())
	for exchanged := range 3 {
		path := filepath.Join(t.TempDir(), "archive")
		open := func() *engine.Engine {
			e, err := engine.Registry{Driver()}.Open(t.Context(), "clickhouse:"+path, engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		e := open()
		left := exchanged
		intercept(t, e, func(ctx context.Context, text string, send func(ctx context.Context) error) error {
			if strings.HasPrefix(text, "EXCHANGE") {
				if left--; left == -1 {
					return errors.New("given up for the test")
				}
			}
			return send(ctx)
		})
		for range 2 {
			var failure error
			if stored(t, e, 1000, func(err error) { failure = err }); failure == nil || !strings.Contains(failure.Error(), "opened for writing again") {
				t.Errorf("after %d tables: %v", exchanged, failure)
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		e = open()
		a, err := archive.DatabaseOf(e).Open(t.Context(), design.Wide)
		if err != nil {
			t.Fatal(err)
		}
		v, err := load.Verify(t.Context(), a, "a")
		if err != nil || len(v.Problems) > 0 || v.Found.Records != 1000 || v.Marks != 1 {
			t.Errorf("after %d tables: %+v, %v", exchanged, v, err)
		}
		if n := stored(t, e, 1000, nil); n != 1000 {
			t.Errorf("%d records", n)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestCrashOfAReader: a process that crashes while it reads is a damaged archive, and not an engine that cannot be
// reached. A process that somebody kills says nothing about the archive.
func TestCrashOfAReader(t *testing.T) {
	enginetest.Installed(t, Driver())
	url := "clickhouse:" + filepath.Join(t.TempDir(), "archive")
	for _, end := range []syscall.Signal{0, syscall.SIGABRT, syscall.SIGKILL, syscall.SIGXCPU} {
		e, err := engine.Registry{Driver()}.Open(t.Context(), url, engine.Options{ReadOnly: end != 0})
		if err != nil {
			t.Fatal(err)
		}
		a, err := archive.DatabaseOf(e).Open(t.Context(), design.Wide)
		if err != nil {
			t.Fatal(err)
		}
		if end == 0 {
			stored(t, e, 1000, nil)
		} else if err := syscall.Kill(int(e.Processes[0]), end); err != nil {
			t.Fatal(err)
		}
		_, err = archive.BuildCatalog(t.Context(), a, "a")
		if crashed := end == syscall.SIGABRT; (err == nil) != (end == 0) || (fault.Code(err) == fault.Differs) != crashed ||
			errors.Is(err, engine.ErrUnreachable) != (end != 0 && !crashed) {
			t.Errorf("%v: %v", end, err)
		}
		if err := e.Close(); err != nil && end == 0 {
			t.Error(err)
		}
	}
}

// TestSubsetNamedLikeSQL: the name of a subset may contain a word of SQL.
func TestSubsetNamedLikeSQL(t *testing.T) {
	enginetest.Installed(t, Driver())
	e, err := engine.Registry{Driver()}.Open(t.Context(), "clickhouse:"+t.TempDir(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a, err := archive.DatabaseOf(e).Open(t.Context(), design.Wide)
	if err != nil {
		t.Fatal(err)
	}
	sl1l2, _ := record.TypeByName("SL1L2")
	var b record.Batch
	b.Reset(sl1l2, "f")
	b.AppendTimes(b.AddHeader(record.DefaultHeader()), 0, 0, 1)
	for k := range b.Num {
		b.Num[k] = append(b.Num[k], 1)
	}
	for _, subset := range []string{"a WHERE b", `a" WHERE 'b`, "a NOT NULL b"} {
		for i := range 2 {
			s := enginetest.StoreBatches(t, a, subset, &b)
			if c, err := a.Contents(t.Context(), subset); err != nil || c.Total() != 1 || s.New != int64(1-i) {
				t.Errorf("%s: %d records, %+v, %v", subset, c.Total(), s, err)
			}
		}
	}
}

// TestTextsNamedLikeTables: a text of records may be the quoted name of a table of their subset.
func TestTextsNamedLikeTables(t *testing.T) {
	enginetest.Installed(t, Driver())
	e, err := engine.Registry{Driver()}.Open(t.Context(), "clickhouse:"+t.TempDir(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a, err := archive.DatabaseOf(e).Open(t.Context(), design.Document)
	if err != nil {
		t.Fatal(err)
	}
	sl1l2, _ := record.TypeByName("SL1L2")
	h := record.DefaultHeader()
	h[record.Model] = ident(tableName("a", design.DocTable(sl1l2)))
	for i := range int32(3) { // each commit adds a record to the document
		var b record.Batch
		b.Reset(sl1l2, "f")
		b.AppendTimes(b.AddHeader(h), 3600*i, 0, 1)
		for k := range b.Num {
			b.Num[k] = append(b.Num[k], 1)
		}
		enginetest.StoreBatches(t, a, "a", &b)
		if c, err := a.Contents(t.Context(), "a"); err != nil || c.Total() != int64(i+1) || c.Objects != 1 {
			t.Errorf("after commit %d: %+v, %v", i+1, c, err)
		}
	}
}

// TestArguments: a statement of a commit accepts no arguments, like one of a pool.
func TestArguments(t *testing.T) {
	p := &pool{connect: func(context.Context) (session, error) { return nil, errors.New("connected") }}
	c := &commit{db: &database{pool: p}}
	for _, q := range []sqlengine.Querier{p, c} {
		if err := q.Exec(t.Context(), "SELECT ?", 1); err == nil || !strings.Contains(err.Error(), "accepts no arguments") {
			t.Errorf("%T: %v", q, err)
		}
	}
}

// TestKilledStatement: ClickHouse stops a statement whose context ends.
func TestKilledStatement(t *testing.T) {
	enginetest.Installed(t, Driver())
	e, err := engine.Registry{Driver()}.Open(t.Context(), "clickhouse:"+t.TempDir(), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	d := engine.Find[*database](e)
	const endless = "FROM numbers(1000000000000000)"
	await := func(statements int64) {
		t.Helper()
		text := "SELECT count() FROM system.processes WHERE endsWith(query, '" + endless + "')"
		for range 6000 {
			if n, err := sqlengine.QueryNumber(t.Context(), d, text); err != nil || n == statements {
				if err != nil {
					t.Error(err)
				}
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("there are never %d statements", statements)
	}
	for _, text := range []string{"SELECT sum(sin(number)) ", "INSERT INTO FUNCTION null('n Float64') SELECT sin(number) "} {
		ctx, cancel := context.WithCancel(t.Context())
		result := make(chan error, 1)
		go func() { result <- d.Exec(ctx, text+endless) }()
		await(1)
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", text, err)
		}
		await(0)
	}
}

// TestErrorOfACaller: a session whose caller stops in the middle of a reply cannot be used any more, even if the cause is
// an error that ClickHouse reported in another session. The text of the caller's error is kept.
func TestErrorOfACaller(t *testing.T) {
	other := &librarySession{host: &process{}, in: bufio.NewReader(strings.NewReader("X\x05\x00\x00\x00wrong"))}
	cause := other.run(t.Context(), "SELECT 1", func(string) error { _, err := other.Read(make([]byte, 10)); return err })
	s := &librarySession{host: &process{}, in: bufio.NewReader(strings.NewReader("D\x01\x00\x00\x001Z\x00\x00\x00\x00"))}
	err := s.run(t.Context(), "SELECT 1", func(string) error { return fmt.Errorf("row 1: %w", cause) })
	if !errors.Is(err, cause) || err.Error() != "row 1: wrong" || s.usable() || !other.usable() {
		t.Errorf("usable %t, %v", s.usable(), err)
	}
}

// TestErrorThatIsCut: a process that ends while it sends an error leaves a session that cannot be used.
func TestErrorThatIsCut(t *testing.T) {
	for text, usable := range map[string]bool{"X\x05\x00\x00\x00wrong": true, "X\x05\x00\x00\x00wro": false} {
		s := &librarySession{host: &process{}, in: bufio.NewReader(strings.NewReader(text))}
		err := s.run(t.Context(), "SELECT 1", func(string) error { _, err := s.Read(make([]byte, 10)); return err })
		if err == nil || s.usable() != usable || strings.Contains(err.Error(), "the process of ClickHouse has ended") == usable {
			t.Errorf("%q: usable %t, %v", text, s.usable(), err)
		}
	}
}

// blocks is a session that records the number of rows of each inserted block.
type blocks struct {
	session
	rows []int
}

func (*blocks) usable() bool { return true }

func (b *blocks) insert(_ context.Context, _ string, columns proto.Input, next func() (bool, error)) error {
	for more := true; more; {
		var err error
		if more, err = next(); err != nil {
			return err
		}
		b.rows = append(b.rows, columns[0].Data.Rows())
	}
	return nil
}

// TestBlocksAreBounded: a block has a limit of rows and of bytes, because its length has 32 bits.
func TestBlocksAreBounded(t *testing.T) {
	for _, c := range []struct {
		size, rows int
		want       []int
	}{{1, blockRows + 1, []int{blockRows, 1}}, {blockBytes / 4, 9, []int{4, 4, 1}}, {blockBytes + 1, 2, []int{1, 1, 0}}} {
		for _, col := range []sqlengine.Column{
			{Name: "text", Type: sqlengine.Text}, {Name: "data", Type: sqlengine.Entries}, {Name: "list", Type: sqlengine.Doubles},
		} {
			s, text, list, left := &blocks{}, strings.Repeat("x", c.size), make([]float64, c.size/8), c.rows
			p := &pool{connect: func(context.Context) (session, error) { return s, nil }}
			err := p.insert(t.Context(), "t", []sqlengine.Column{col}, func(to sqlengine.Sink) (bool, error) {
				if left--; left < 0 {
					return false, nil
				}
				switch col.Type {
				case sqlengine.Text:
					to.Text(0, text)
				case sqlengine.Entries:
					to.JSON(0, []byte(text))
				default:
					to.List(0, list)
				}
				return true, nil
			})
			if err != nil || !slices.Equal(s.rows, c.want) {
				t.Errorf("%d rows of %d bytes: blocks of %v rows, want %v; %v", c.rows, c.size, s.rows, c.want, err)
			}
		}
	}
}
