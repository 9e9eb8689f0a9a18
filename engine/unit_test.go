package engine

import (
	"context"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
)

// writeFile writes a file into a folder of the test and returns its path.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// filesOf is an embedded engine that recognizes its files by their first letters. It opens everything except paths that
// end in "broken".
func filesOf(opened *[]string) Registry {
	return Registry{
		{Scheme: "none", Place: Embedded},
		{
			Scheme: "text", Place: Embedded,
			Recognizes: func(_ string, head []byte) bool {
				return strings.HasPrefix(string(head), "0123456789abcdef") && len(head) == 16
			},
			Open: func(_ context.Context, u *url.URL, _ Options) (*Engine, error) {
				*opened = append(*opened, Path(u))
				if strings.HasSuffix(Path(u), "broken") {
					return nil, errors.New("no such page")
				}
				return &Engine{Close: func() error { return nil }, About: func(context.Context) (About, error) {
					return About{Settings: map[string]string{"password": "secret", "cache": "7"}}, nil
				}}, nil
			},
		},
		{Scheme: "folders", Place: Embedded, Recognizes: func(path string, head []byte) bool { return len(head) == 0 && strings.HasSuffix(path, ".d") }},
	}
}

// TestRecognize: a file is recognized by its first 16 bytes, a folder by its path; a pipe is not opened.
func TestRecognize(t *testing.T) {
	dir := t.TempDir()
	folder, pipe := filepath.Join(dir, "a.d"), filepath.Join(dir, "pipe")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	r := filesOf(new([]string))
	for path, want := range map[string]string{
		writeFile(t, "x", "0123456789abcdef and more"): "text", writeFile(t, "x", "0123456789abcde"): "", writeFile(t, "x", "other text of more"): "",
		folder: "folders", dir: "", pipe: "", filepath.Join(dir, "missing"): "",
	} {
		if got := r.Recognize(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestPathsWithoutEngine: the path of an archive needs no engine. For another file, or for a path, the cure names engines.
func TestPathsWithoutEngine(t *testing.T) {
	r := filesOf(new([]string))
	known := writeFile(t, "a#b.db", "0123456789abcdef")
	d, u, err := r.Parse(known)
	if err != nil || d.Scheme != "text" || Path(u) != known {
		t.Errorf("%v %v: %v", d, u, err)
	}
	if d, u, err := r.Parse("text:" + known); err != nil || d.Scheme != "text" || Path(u) != known {
		t.Errorf("with the engine: %v %v: %v", d, u, err)
	}
	other := writeFile(t, "notes.txt", "notes")
	t.Chdir(filepath.Dir(writeFile(t, "notes_of.txt", "notes")))
	for raw, want := range map[string]string{
		other:           other + " is not an archive of an engine that Barograph knows; name the engine before the path: text:" + other + ", folders:" + other,
		"notes_of.txt":  "notes_of.txt is not an archive of an engine that Barograph knows; name the engine before the path: text:notes_of.txt,",
		"a.db":          "a.db names no engine; name the engine before the path: duckdb:a.db",
		"my_archive.db": "my_archive.db names no engine; name the engine before the path: duckdb:my_archive.db",
		"my archive.db": "my archive.db names no engine; name the engine before the path: duckdb:my archive.db",
		"2020.db":       "2020.db names no engine; name the engine before the path: duckdb:2020.db",
		"new/dir":       "new/dir names no engine; name the engine before the path: duckdb:new/dir",
		"texts":         "did you mean text",
	} {
		if _, _, err := r.Parse(raw); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", raw, err, want)
		}
	}
}

// TestOpenFiles: a pipe is not opened, a missing archive only for writing. An error names the archive once, a success
// remembers the file and shows no password.
func TestOpenFiles(t *testing.T) {
	var opened []string
	r := filesOf(&opened)
	dir := t.TempDir()
	pipe, missing, broken := filepath.Join(dir, "pipe"), filepath.Join(dir, "missing"), filepath.Join(dir, "broken")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, want string
		readOnly   bool
	}{
		{pipe, pipe + " is neither a file nor a folder", false},
		{pipe, pipe + " is neither a file nor a folder", true},
		{missing, "text:" + missing + " does not exist", true},
	} {
		if _, err := r.Open(t.Context(), "text:"+c.path, Options{ReadOnly: c.readOnly}); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, read-only %t: %v", c.path, c.readOnly, err)
		}
	}
	if _, err := r.Open(t.Context(), "text:"+broken, Options{}); err == nil || strings.Count(err.Error(), broken) != 1 || !strings.Contains(err.Error(), "no such page") {
		t.Errorf("%v", err)
	}
	e, err := r.Open(t.Context(), "text:"+missing, Options{})
	if err != nil || e.File != nil {
		t.Fatalf("%+v, %v", e, err)
	}
	file := writeFile(t, "x", "text")
	if e, err = r.Open(t.Context(), "text:"+file, Options{ReadOnly: true}); err != nil || e.File == nil || e.File.CheckReplaced() != nil {
		t.Fatalf("%+v, %v", e, err)
	}
	about, err := e.About(t.Context())
	if err != nil || about.Settings["cache"] != "7" || strings.Contains(about.Settings["password"], "secret") {
		t.Errorf("%v, %v", about.Settings, err)
	}
	if want := []string{broken, missing, file}; !slices.Equal(opened, want) {
		t.Errorf("opened %q, want %q", opened, want)
	}
	open, err := os.Open(file) // an engine's handle: the new file gets another inode
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	if err := os.Rename(writeFile(t, "y", "other"), file); err != nil {
		t.Fatal(err)
	}
	if err := e.File.CheckReplaced(); err == nil || !strings.Contains(err.Error(), "the file was replaced by another one while it was open") {
		t.Errorf("another file: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := e.File.CheckReplaced(); err == nil || !strings.Contains(err.Error(), "the file was moved or deleted while it was open") {
		t.Errorf("a deleted file: %v", err)
	}
	if folder, err := NewLocation(dir); err != nil || folder.CheckReplaced() != nil {
		t.Errorf("%v", err)
	}
}

// TestInstallable: a lab starts servers and installs servers and libraries.
func TestInstallable(t *testing.T) {
	r := Registry{{Scheme: "a"}, {Scheme: "b", Server: &launch.Server{}}, {Scheme: "c", Library: &Library{}}}
	if got := strings.Join(r.Servers(), " ") + "; " + strings.Join(r.Installable(), " "); got != "b; b c" {
		t.Error(got)
	}
}

// TestCheckReachable: each server is opened once and closed; its description is read, because it needs the server.
func TestCheckReachable(t *testing.T) {
	var calls []string
	fails := map[string]error{}
	r := Registry{{Scheme: "server", Place: Remote, Open: func(_ context.Context, u *url.URL, _ Options) (*Engine, error) {
		calls = append(calls, "open "+u.Host)
		return &Engine{
			About: func(context.Context) (About, error) { return About{}, fails["about"] },
			Close: func() error { calls = append(calls, "close "+u.Host); return fails["close"] },
		}, fails["open"]
	}}, {Scheme: "file", Place: Embedded}}
	if err := r.CheckReachable(t.Context(), Options{}, "server://b", "file:x", "server://a", "server://b", "unknown:x"); err != nil {
		t.Error(err)
	}
	if got, want := strings.Join(calls, ", "), "open a, close a, open b, close b"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, at := range []string{"open", "about", "close"} {
		clear(fails)
		fails[at] = errors.New("broken")
		if err := r.CheckReachable(t.Context(), Options{}, "server://a"); !errors.Is(err, fails[at]) {
			t.Errorf("an error of %s: %v", at, err)
		}
	}
}

// TestSplitName: a name is before the first equals sign, but not within a URL or the name of an existing file.
func TestSplitName(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("file=x.db", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string][2]string{
		"a=postgres://h/d?x=1": {"a", "postgres://h/d?x=1"}, "postgres://h/d?x=1": {"", "postgres://h/d?x=1"},
		"duckdb:a=b.db": {"", "duckdb:a=b.db"}, "a/b=c": {"", "a/b=c"}, "dry": {"", "dry"}, "x?y=1": {"", "x?y=1"}, "=dry": {"", "dry"},
		"file=x.db": {"", "file=x.db"}, "other=x.db": {"other", "x.db"},
	} {
		if name, url := SplitName(arg); [2]string{name, url} != want {
			t.Errorf("%s: %q, %q", arg, name, url)
		}
	}
}

// TestLabDir: labs are in the folder of the environment variable, otherwise in one for each user.
func TestLabDir(t *testing.T) {
	t.Setenv(EnvLab, "/x/labs")
	if got := LabDir(); got != "/x/labs" {
		t.Error(got)
	}
	t.Setenv(EnvLab, "")
	parent := "/var/tmp"
	if info, err := os.Stat(parent); err != nil || !info.IsDir() {
		parent = os.TempDir()
	}
	if got, want := LabDir(), filepath.Join(parent, "barograph-lab-"+strconv.Itoa(os.Geteuid())); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestHolder: another process that has a file or a file of a folder open is named, this process and others are not.
func TestHolder(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("NOT TESTED: /proc exists on Linux only")
	}
	path := writeFile(t, "archive.db", "text")
	own, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	if pid, command := Holder(path); pid != 0 || command != "" {
		t.Errorf("this process: %d, %q", pid, command)
	}
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	cmd.Stdin = own
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }() // killed
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Dir(path), link); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{path, filepath.Dir(path), link, filepath.Join(link, "archive.db")} {
		if pid, command := Holder(p); pid != cmd.Process.Pid || command != "sleep 60" {
			t.Errorf("%s: %d, %q; want %d, sleep 60", p, pid, command, cmd.Process.Pid)
		}
	}
	if pid, _ := Holder(strings.TrimSuffix(path, ".db")); pid != 0 {
		t.Errorf("a file with a longer name is the file: %d", pid)
	}
	want := path + " is open in process " + strconv.Itoa(cmd.Process.Pid) + " (sleep 60): locked; wait until that process has ended, or end it"
	if err := LockedError(path, errors.New("locked")); err.Error() != want || !errors.Is(err, ErrLocked) || !errors.Is(err, ErrUnreachable) {
		t.Errorf("%v, want %s", err, want)
	}
	if err := LockedError(path+"x", errors.New("locked")); !strings.Contains(err.Error(), "is open in another process") {
		t.Errorf("%v", err)
	}
}

// TestBytes: the size of an archive includes the files next to it; only the first must exist.
func TestBytes(t *testing.T) {
	a, b := writeFile(t, "a", "123"), writeFile(t, "b", "4567")
	if n, err := Bytes(a, a+"-wal", b); err != nil || n != 7 {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := Bytes(a+"-wal", a); err == nil || n != 0 {
		t.Errorf("a missing archive: %d, %v", n, err)
	}
	if n, err := Bytes(a, filepath.Join(b, "below")); err == nil || n != 0 {
		t.Errorf("a file below a file: %d, %v", n, err)
	}
}

// TestDamagedError: damage has the status of different results, and is reported once.
func TestDamagedError(t *testing.T) {
	err := DamagedError("a.db", errors.New("page 7"))
	if fault.Code(err) != fault.Differs || !strings.HasPrefix(err.Error(), "archive a.db is damaged: page 7") {
		t.Errorf("%v, status %d", err, fault.Code(err))
	}
	if again := DamagedError("a.db", err); again.Error() != err.Error() {
		t.Errorf("twice: %v", again)
	}
	misuse := fault.Misuse("x", "is wrong", "write y")
	if got := DamagedError("a.db", misuse); fault.Code(got) != fault.Differs || !errors.Is(got, misuse) {
		t.Errorf("another status: %v", got)
	}
}

// TestGrowthOfCounts: only counts that grew are listed, by how much.
func TestGrowthOfCounts(t *testing.T) {
	before := &Metrics{Totals: []Total{{"reads", "", 3}, {"writes", "bytes", 5}, {"locks", "", 9}}}
	now := &Metrics{Totals: []Total{{"locks", "", 8}, {"reads", "", 3}, {"writes", "bytes", 7.5}, {"new", "", 4}}}
	if got := now.Since(before); !slices.Equal(got, []Total{{"writes", "bytes", 2.5}}) {
		t.Errorf("%v", got)
	}
	if now.Totals[2].Value != 7.5 {
		t.Error("Since changes its receiver")
	}
}

// TestPromisesWithoutFailures: a server that promises nothing still gives all guarantees while nothing fails, unless its
// reads may be old.
func TestPromisesWithoutFailures(t *testing.T) {
	for _, c := range []struct {
		about About
		want  []Promise
	}{
		{About{}, Promises()},
		{About{StaleReads: true}, []Promise{NoLostWrites, NoRevivedRecords}},
		{About{Promises: []Promise{MonotonicReads}}, []Promise{MonotonicReads, NoLostWrites, NoRevivedRecords}},
		{About{Promises: []Promise{ReadYourWrites}, StaleReads: true}, []Promise{ReadYourWrites, NoLostWrites, NoRevivedRecords}},
	} {
		if got := c.about.PromisesWithoutFailures(); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q", c.about, got)
		}
	}
}

// TestAwait: a call is repeated until it succeeds. The error of one that never does contains its last error.
func TestAwait(t *testing.T) {
	n := 0
	if err := Await(t.Context(), time.Microsecond, func() error {
		if n++; n < 3 {
			return errors.New("not yet")
		}
		return nil
	}); err != nil || n != 3 {
		t.Errorf("%d calls, %v", n, err)
	}
	ended, stop := context.WithCancel(t.Context())
	stop()
	never := errors.New("never")
	if err := Await(ended, time.Hour, func() error { return never }); !errors.Is(err, never) || !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestCallErrorKinds: a broken connection is an unreachable engine, unless the error is explained already.
func TestCallErrorKinds(t *testing.T) {
	own := errors.New("of the driver")
	explained := &fault.Error{File: "x", Problem: "ends early", Err: syscall.EPIPE}
	for _, c := range []struct {
		err  error
		lost bool
	}{{syscall.EPIPE, true}, {own, true}, {errors.New("syntax"), false}, {explained, false}} {
		got := CallError(t.Context(), c.err, own)
		if errors.Is(got, ErrUnreachable) != c.lost || !errors.Is(got, c.err) {
			t.Errorf("%v: %v", c.err, got)
		}
	}
	twice := CallError(t.Context(), CallError(t.Context(), syscall.EPIPE))
	if strings.Count(twice.Error(), ErrUnreachable.Error()) != 1 {
		t.Errorf("classified twice: %v", twice)
	}
	if err := CallError(t.Context(), nil); err != nil {
		t.Error(err)
	}
	for _, cause := range []error{nil, errors.New("no database")} {
		if err := FileError("x.db", "cannot be opened", cause, "name another"); !errors.Is(err, ErrUnreachable) || cause != nil && (!errors.Is(err, cause) || !strings.Contains(err.Error(), "x.db cannot be opened: no database")) {
			t.Errorf("%v", err)
		}
	}
}
