package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
)

// TestConnectionsAreReused: calls one after another use one connection. A connection to a process that has ended is closed.
func TestConnectionsAreReused(t *testing.T) {
	r := fake(t, Options{})
	a := opened(t, r)
	if len(r.idle) != 1 {
		t.Fatalf("%d idle connections", len(r.idle))
	}
	first := r.idle[0]
	if _, err := a.Size(t.Context()); err != nil || len(r.idle) != 1 || r.idle[0] != first {
		t.Errorf("%d idle connections, another one: %v", len(r.idle), err)
	}
	taken, err := r.take(t.Context())
	if err != nil || taken != first || len(r.idle) != 0 {
		t.Fatalf("%d idle connections, %v", len(r.idle), err)
	}
	second, err := r.take(t.Context())
	if err != nil || second == first {
		t.Fatalf("two calls on one connection, %v", err)
	}
	r.put(first)
	r.put(second)
	if !slices.Equal(r.idle, []*connection{first, second}) {
		t.Errorf("%d idle connections", len(r.idle))
	}
	second.process = nil // another one
	r.idle = r.idle[:1]
	r.put(second)
	if err := second.conn.SetDeadline(time.Time{}); len(r.idle) != 1 || err == nil {
		t.Error("a connection to an ended process is kept open")
	}
}

// TestCostInWords: the times of the start and of an empty call are in milliseconds.
func TestCostInWords(t *testing.T) {
	r := &Reader{started: 1500 * time.Millisecond, calls: 250 * time.Microsecond}
	if got := r.Cost(); got != "read in a separate process: its start took 1500 ms, an empty call takes 0.25 ms" {
		t.Error(got)
	}
	timed := fake(t, Options{})
	if timed.started <= 0 || timed.calls <= 0 || r.PID() != 0 {
		t.Errorf("start %s, call %s", timed.started, timed.calls)
	}
	if about, err := timed.About(t.Context()); err != nil || about.Settings["calls"] != "7" { // after one call to start and five to time
		t.Errorf("%q, %v", about.Settings, err)
	}
}

// TestInterruptOfTheTerminal: the terminal also sends ^C to the process, which leaves it to this one.
func TestInterruptOfTheTerminal(t *testing.T) {
	r := fake(t, Options{})
	a, pid := opened(t, r), r.PID()
	if err := syscall.Kill(pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if n, err := a.Size(t.Context()); n != 12345 || err != nil || r.PID() != pid {
		t.Errorf("%d, %v, another process: %t", n, err, r.PID() != pid)
	}
}

// inFlight calls Contents in another goroutine and returns when the call has a connection.
func inFlight(t *testing.T, r *Reader, a archive.Archive, subset string) (failed chan error) {
	t.Helper()
	failed = make(chan error, 1)
	go func() {
		_, err := a.Contents(t.Context(), subset)
		failed <- err
	}()
	for range 10_000 {
		r.mu.Lock()
		idle := len(r.idle)
		r.mu.Unlock()
		if idle == 0 {
			return failed
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("the call has not started")
	return nil
}

// TestEndsDuringACall: a call reports whether another process or the system ended the process, the user closed the
// archive, or another call restarted the process. None of them means that the archive is damaged.
func TestEndsDuringACall(t *testing.T) {
	signal := func(s syscall.Signal) func(r *Reader) error {
		return func(r *Reader) error { return syscall.Kill(r.PID(), s) }
	}
	const other = "x.db: the process that reads it was ended by another process or the system: %s; try again; the system's log may have the reason, for example a lack of memory"
	for want, end := range map[string]func(r *Reader) error{
		fmt.Sprintf(other, "signal: killed"):     signal(syscall.SIGKILL),
		fmt.Sprintf(other, "signal: terminated"): signal(syscall.SIGTERM),
		fmt.Sprintf(other, "SIGQUIT: quit"):      signal(syscall.SIGQUIT),
		"the archive is closed":                  func(r *Reader) error { return r.Close() },
		"x.db: the process that reads it was restarted, because another call failed or hung; try again": func(r *Reader) error {
			r.restart(r.process)
			return nil
		},
	} {
		r := fake(t, Options{})
		failed, process := inFlight(t, r, opened(t, r), "hang"), r.process
		r.restart(&Process{}) // of an earlier process: nothing to do
		if err := end(r); err != nil {
			t.Error(err)
		}
		if err := <-failed; err == nil || err.Error() != want || fault.Code(err) == fault.Differs {
			t.Errorf("%v\nwant %s", err, want)
		}
		if got := process.Crash(); got != "" {
			t.Errorf("%s: the process crashed: %s", want, got)
		}
	}
}

// TestStatusesOfProcesses: a crash signal, and the status of a Go program after a panic, mean that the process crashed.
// Other signals come from outside. Other statuses, and a lack of memory or threads, have other causes than the archive.
func TestStatusesOfProcesses(t *testing.T) {
	for _, c := range []struct {
		script  string // of a shell, in place of the process
		crash   string // "" = it did not crash
		problem string
	}{
		{"kill -SEGV $$", "signal: segmentation fault", "archive x.db is damaged: the process that read it crashed: signal: segmentation fault"},
		{"kill -BUS $$", "signal: bus error", "archive x.db is damaged: "},
		{"kill -ABRT $$", "signal: aborted", "archive x.db is damaged: "},
		{"kill -ILL $$", "signal: illegal instruction", "archive x.db is damaged: "},
		{"kill -FPE $$", "signal: floating point exception", "archive x.db is damaged: "},
		{"echo 'panic: nil map' >&2; exit 2", "panic: nil map", "archive x.db is damaged: the process that read it crashed: panic: nil map; "},
		{"echo 'fatal error: found bad pointer' >&2; exit 2", "fatal error: found bad pointer", "archive x.db is damaged: "},
		{"exit 2", "exit status 2", "archive x.db is damaged: "},
		{"kill -XCPU $$", "", "x.db: the process that reads it was ended by another process or the system: signal: CPU time limit exceeded; "},
		{"kill -ALRM $$", "", "x.db: the process that reads it was ended by another process or the system: signal: alarm clock; "},
		{"kill -USR1 $$", "", "x.db: the process that reads it was ended by another process or the system: signal: user defined signal 1; "},
		{"echo 'fatal error: runtime: out of memory' >&2; exit 2", "", "the system: fatal error: runtime: out of memory; "},
		{"echo 'fatal error: runtime: cannot allocate memory' >&2; exit 2", "", "the system: fatal error: runtime: cannot allocate memory; "},
		{"echo 'runtime: out of memory: cannot allocate 4194304-byte block' >&2; exit 2", "", "the system: runtime: out of memory: "},
		{"printf 'runtime: failed to create new OS thread\\nfatal error: newosproc\\n' >&2; exit 2", "", "the system: runtime: failed to create new OS thread; "},
		{"printf 'runtime/cgo: pthread_create failed\\nSIGABRT: abort\\n' >&2; exit 2", "", "the system: runtime/cgo: pthread_create failed; "},
		{
			"printf 'a warning\\naccept: too many open files\\n' >&2; exit " + strconv.Itoa(noSocket), "",
			"x.db: the process that reads it exited with an error: accept: too many open files; if too many files are open, raise the limit (ulimit -n); then try again",
		},
		{"exit 1", "", "x.db: the process that reads it exited with an error: exit status 1; "},
		{"exit " + strconv.Itoa(overMemory), "", "x.db: the process that reads it exceeded its memory limit of 1 MiB; "},
		{"exit 0", "", "x.db: the process that reads it was restarted, because another call failed or hung; try again"},
	} {
		p := &Process{exited: make(chan struct{})}
		p.cmd = exec.CommandContext(t.Context(), "sh", "-c", "ulimit -c 0; "+c.script)
		p.cmd.Stderr = &p.stderr
		_ = p.cmd.Run() // the process state has the result
		close(p.exited)
		if got := p.Crash(); got != c.crash {
			t.Errorf("%s: %q, want %q", c.script, got, c.crash)
		}
		r := &Reader{o: Options{Path: "x.db", Memory: 1 << 20}}
		err := r.broken(&connection{process: p, conn: &net.UnixConn{}}, io.ErrUnexpectedEOF)
		if !strings.Contains(err.Error(), c.problem) || (fault.Code(err) == fault.Differs) != (c.crash != "") {
			t.Errorf("%s: %v, want %s", c.script, err, c.problem)
		}
	}
}

// TestProcessesThatDoNotStart: an error of the arguments leaves no folder behind, and a folder that cannot be written is
// named.
func TestProcessesThatDoNotStart(t *testing.T) {
	dir, no := t.TempDir(), errors.New("no")
	t.Setenv("TMPDIR", dir)
	var given string
	if _, err := Start(t.Context(), "X=1", func(dir string) ([]string, error) { given = dir; return nil, no }); !errors.Is(err, no) || filepath.Dir(given) != dir {
		t.Errorf("%s, %v", given, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
	long := filepath.Join(dir, strings.Repeat("x", 120))
	if err := os.Mkdir(long, 0o700); err != nil {
		t.Fatal(err)
	}
	for tmp, cure := range map[string]string{filepath.Join(dir, "none"): "name a writable folder", long: "name a writable folder whose path has at most 60 bytes"} {
		t.Setenv("TMPDIR", tmp)
		_, err := Start(t.Context(), "X=1", func(string) ([]string, error) { return nil, nil })
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Setting != "TMPDIR" || f.Cure != cure {
			t.Errorf("%s: %v", tmp, err)
		}
	}
}

// TestStatusesDiffer: a status of a child is none of Go's (0, 1, 2) and none of a shell's (from 126 on).
func TestStatusesDiffer(t *testing.T) {
	if overMemory == noSocket || min(overMemory, noSocket) < 3 || max(overMemory, noSocket) > 125 {
		t.Errorf("%d, %d", overMemory, noSocket)
	}
}

// TestIsChild: only a process with an order for an engine of this scheme is its child.
func TestIsChild(t *testing.T) {
	for text, want := range map[string]bool{`{"url":"fake://x"}`: true, `{"url":"other:x"}`: false, `{"url":"%"}`: false, "": false, "{": false} {
		t.Setenv(envArchive, text)
		if got := IsChild("fake"); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

// TestSalvageOverTheWire: a salvage reads all ranges of rows.
func TestSalvageOverTheWire(t *testing.T) {
	a := opened(t, fake(t, Options{}))
	rows := 0
	for b, err := range archive.Salvage(t.Context(), a, "s", func(l archive.Loss) { t.Errorf("lost %+v", l) }) {
		if err != nil {
			t.Fatal(err)
		}
		rows += b.Len()
	}
	if rows != 4 {
		t.Errorf("%d rows", rows)
	}
	var b answer.Builder
	if err := a.Ask(t.Context(), &archive.Query{Question: &question.Question{}, Args: []any{1}}, &b); err == nil || !strings.Contains(err.Error(), "is a int") {
		t.Errorf("an argument that is no text: %v", err)
	}
	if err := a.Ask(t.Context(), &archive.Query{Question: &question.Question{}, Text: "many"}, &b); err == nil || !strings.Contains(err.Error(), "many") {
		t.Errorf("an error of the query: %v", err)
	}
}

// TestLimitsOfMessages: a text or a list may end with its message, but not after it. Each text is sent once.
func TestLimitsOfMessages(t *testing.T) {
	for _, c := range []struct {
		buf  []byte
		want []string // nil = an error
	}{
		{[]byte{0, 2, 'a', 'b'}, []string{"ab"}},
		{[]byte{0, 0}, []string{""}},
		{[]byte{0, 1, 'a', 1}, []string{"a", "a"}},
		{[]byte{0, 1, 'a', 0, 1, 'b', 2, 1}, []string{"a", "b", "b", "a"}},
		{[]byte{0, 1, 'a', 2}, nil},
		{[]byte{0, 3, 'a', 'b'}, nil},
		{[]byte{0}, nil},
	} {
		d := decoder{buf: c.buf}
		var got []string
		for len(d.buf) > 0 {
			got = append(got, d.text())
		}
		if d.err == nil != (c.want != nil) || d.err == nil && !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, %v", c.buf, got, d.err)
		}
	}
	var e encoder
	e.strings([]string{"a", "b", "a"})
	if want := []byte{3, 0, 1, 'a', 0, 1, 'b', 1}; !slices.Equal(e.buf, want) {
		t.Errorf("%v, want %v", e.buf, want)
	}
	for _, c := range []struct {
		buf   []byte
		texts []string // that were sent before
		want  int
		ok    bool
	}{
		{[]byte{2, 1, 1}, []string{"a"}, 2, true},
		{[]byte{2, 1, 1}, []string{"a"}, -1, true},
		{[]byte{0}, nil, 0, true},
		{[]byte{2, 1, 1}, []string{"a"}, 3, false},
		{[]byte{2, 1, 1}, []string{"a"}, 0, false},
		{[]byte{3, 1, 1}, []string{"a"}, -1, false},
	} {
		d := decoder{buf: c.buf, texts: c.texts}
		if got := d.strings(nil, c.want); (d.err == nil) != c.ok || c.ok && len(got) != int(c.buf[0]) {
			t.Errorf("%v, want %d: %q, %v", c.buf, c.want, got, d.err)
		}
	}
	for _, c := range []struct {
		buf  []byte
		want int
		ok   bool
	}{
		{[]byte{1, 7, 0, 0, 0}, 1, true},
		{[]byte{1, 7, 0, 0, 0, 9}, -1, true},
		{[]byte{1, 7, 0, 0}, 1, false},
		{[]byte{1, 7, 0, 0, 0}, 0, false},
		{[]byte{0}, 0, true},
	} {
		d := decoder{buf: c.buf}
		got := fixed(&d, []uint32{5}, c.want)
		if want := append([]uint32{5}, slices.Repeat([]uint32{7}, int(c.buf[0]))...); (d.err == nil) != c.ok || c.ok && !slices.Equal(got, want) || !c.ok && !slices.Equal(got, want[:1]) {
			t.Errorf("%v, want %d: %d, %v", c.buf, c.want, got, d.err)
		}
	}
	for buf, want := range map[string]int{"\x80\x80\x80\x80\x08": 1 << 31, "\x81\x80\x80\x80\x08": -1, "\x80": -1, "": -1, "\x05": 5} { // varints
		d := decoder{buf: []byte(buf)}
		if got := d.uint(); (d.err == nil) != (want >= 0) || want >= 0 && got != want {
			t.Errorf("%x: %d, %v", buf, got, d.err)
		}
	}
}

// TestTextsAreForgotten: neither side keeps more than 65,536 texts.
func TestTextsAreForgotten(t *testing.T) {
	const most = 65_536
	var e encoder
	for i := range most + 1 {
		if e.text(strconv.Itoa(i)); i == most-1 && len(e.texts) != most {
			t.Errorf("%d texts", len(e.texts))
		}
	}
	d := decoder{buf: e.buf}
	for i := range most + 1 {
		if got := d.text(); got != strconv.Itoa(i) {
			t.Fatalf("%q, want %d", got, i)
		}
	}
	if len(e.texts) != 1 || len(d.texts) != 1 || len(d.buf) != 0 {
		t.Errorf("%d and %d texts after the next one", len(e.texts), len(d.texts))
	}
}

// TestErrorsOverTheWire: an error keeps its text, and errors.Is finds the same sentinels in it. A fault that another
// error wraps arrives only as a part of the text.
func TestErrorsOverTheWire(t *testing.T) {
	for i, known := range sentinels() {
		got := newWireError(fmt.Errorf("it failed: %w", known)).error()
		if got.Error() != "it failed: "+known.Error() {
			t.Errorf("%v becomes %v", known, got)
		}
		for k, other := range sentinels() {
			if errors.Is(got, other) != (i == k || errors.Is(known, other)) {
				t.Errorf("%v is %v: %t", got, other, i != k)
			}
		}
	}
	bare := &fault.Error{File: "x.db", Problem: "is damaged", Cure: "restore it"}
	got := newWireError(bare).error()
	if f, ok := errors.AsType[*fault.Error](got); !ok || f.Err != nil || *f != *bare || fault.Code(got) != fault.Failed {
		t.Errorf("%#v", got)
	}
	wrapped := newWireError(fmt.Errorf("commit: %w", bare))
	if wrapped.Fault != nil || wrapped.Code != 0 || wrapped.error().Error() != "commit: "+bare.Error() {
		t.Errorf("%#v", wrapped)
	}
	incomplete := newWireError(&fault.Status{Code: fault.Incomplete, Err: errors.New("one line")}).error()
	if fault.Code(incomplete) != fault.Incomplete || incomplete.Error() != "one line" {
		t.Errorf("%#v", incomplete)
	}
}

// TestUnknownOperations: an operation that the process does not know, and the rows of an archive that has no numbered
// rows, are errors. A database that could not be opened reports why in each call.
func TestUnknownOperations(t *testing.T) {
	open, err := fakeDatabase{}.Open(t.Context(), "wide")
	if err != nil {
		t.Fatal(err)
	}
	c := &child{archives: map[design.Name]archive.Archive{"wide": struct{ archive.Archive }{open}}}
	chunk := func([]byte) error { return nil }
	for op, says := range map[operation]string{"dance": "operation dance is unknown", opRanges: errors.ErrUnsupported.Error(), opRows: errors.ErrUnsupported.Error()} {
		if err := c.call(t.Context(), &request{Op: op, Design: "wide"}, &reply{}, chunk); err == nil || err.Error() != says {
			t.Errorf("%s: %v", op, err)
		}
	}
	full := errors.New("full")
	if err := c.call(t.Context(), &request{Op: opDump, Design: "wide"}, &reply{}, func([]byte) error { return full }); !errors.Is(err, full) {
		t.Errorf("a connection that fails: %v", err)
	}
	c.openErr = errors.New("no database")
	if err := c.call(context.Background(), &request{Op: opAbout}, &reply{}, chunk); !errors.Is(err, c.openErr) {
		t.Errorf("%v", err)
	}
}
