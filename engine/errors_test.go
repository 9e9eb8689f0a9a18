package engine

import (
	"cmp"
	"context"
	"crypto/tls"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
)

// TestUnreachableError: the error names the database once, has one line, and its cure fits a certificate that is not
// trusted. Damage is not unreachable.
func TestUnreachableError(t *testing.T) {
	lines := errors.New("failed to connect to `h`:\n\t127.0.0.1: refused\n\t::1: refused\n\t127.0.0.1: refused\nthe end")
	for _, c := range []struct {
		shown string
		err   error
		want  string
	}{
		{"x://h", errors.New("refused"), "x://h is unreachable: refused; start it"},
		{"", errors.New("refused"), "the server is unreachable: refused; start it"},
		{"x://h", fmt.Errorf("%w: refused", ErrUnreachable), "x://h is unreachable: engine is unreachable: refused; start it"},
		{"x://h", ErrUnreachable, "x://h is unreachable; start it"},
		{"x://h", lines, "x://h is unreachable: failed to connect to `h`: 127.0.0.1: refused; ::1: refused; the end; start it"},
		{"x://h", &fs.PathError{Op: "open", Path: "/ca.pem", Err: fs.ErrNotExist}, "x://h is unreachable: file does not exist; start it"},
		{"x://h", &tls.CertificateVerificationError{Err: errors.New("expired")}, "x://h is unreachable: tls: failed to verify certificate: expired; name the CA that signed the server's certificate (tls_ca=FILE), or the host name in it (tls_name=NAME); renew an expired certificate"},
	} {
		err := UnreachableError(c.shown, c.err, "start it")
		if err.Error() != c.want || !errors.Is(err, ErrUnreachable) || !errors.Is(err, c.err) {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
	damaged := DamagedError("a.db", errors.New("page 7"))
	if got := UnreachableError("a.db", damaged, "x"); got != damaged || errors.Is(got, ErrUnreachable) { //nolint:errorlint // the same error
		t.Errorf("%v", got)
	}
	if !errors.Is(ErrLocked, ErrUnreachable) || ErrLocked.Error() != ErrUnreachable.Error() {
		t.Error("a locked archive is not unreachable")
	}
}

// TestFaultsOfFiles: the faults of an engine's files have a place and a cure, in one line.
func TestFaultsOfFiles(t *testing.T) {
	cause := errors.New("cause")
	for want, err := range map[string]error{
		"x.db: its disk is full: cause; free space on that disk and run the same command again: everything that was committed is intact":                                                      DiskFullError("x.db", cause),
		"x.db: its disk cannot be written any more: cause; see the system's log for the disk's fault and repair it, then run the same command again: everything that was committed is intact": NotWritableError("x.db", cause),
		"x.db-wal does not belong to x.db; restore the database to which the log belongs (the log contains its last commits), or move the log to another folder":                              StaleLogError("x.db-wal", "x.db"),
		"x.db is no database: cause; name another": FileError("x.db", "is no database", cause, "name another"),
		"archive x.db is damaged: cause; restore a copy, or remove the archive and load the files again; also check the disk": DamagedError("x.db", cause),
	} {
		if isStale := strings.Contains(want, "-wal"); err.Error() != want || errors.Is(err, cause) == isStale || isStale && !errors.Is(err, ErrUnreachable) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// nearDeadline is a context whose deadline is a little later, as when a driver notices the deadline before it does.
type nearDeadline struct {
	context.Context
	left time.Duration
}

func (c nearDeadline) Deadline() (time.Time, bool) { return time.Now().Add(c.left), true }

// TestCallErrorOfAContext: the error of a call whose context is done, or whose deadline is less than a millisecond away,
// is that of the context.
func TestCallErrorOfAContext(t *testing.T) {
	ended, stop := context.WithCancel(t.Context())
	stop()
	broken := errors.New("broken")
	for _, c := range []struct {
		ctx  context.Context
		want error
	}{
		{t.Context(), broken},
		{ended, context.Canceled},
		{nearDeadline{t.Context(), time.Hour}, broken},
		{nearDeadline{t.Context(), 0}, context.DeadlineExceeded},
		{nearDeadline{t.Context(), -time.Hour}, context.DeadlineExceeded},
	} {
		if err := CallError(c.ctx, broken); err != c.want { //nolint:errorlint // not wrapped
			t.Errorf("%v, want %v", err, c.want)
		}
	}
	for _, lost := range []error{
		io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn, syscall.EPIPE, syscall.ECONNRESET, &net.OpError{Op: "read", Err: broken},
	} {
		if err := CallError(t.Context(), fmt.Errorf("ask: %w", lost)); !errors.Is(err, ErrUnreachable) || !errors.Is(err, lost) {
			t.Errorf("%v: %v", lost, err)
		}
	}
	explained := &fault.Error{File: "x", Problem: "Error 1021 (disk full)"}
	if err := CallError(t.Context(), explained); err != error(explained) { //nolint:errorlint // not wrapped
		t.Errorf("%v", err)
	}
}

// TestURLs: an embedded engine has no host, a server has one. Each parameter is known and occurs once with a value.
func TestURLs(t *testing.T) {
	r := Registry{
		{Scheme: "file", Place: Embedded, Example: "file:a.db", Params: []Param{{Name: "cache"}}},
		{Scheme: "served", Place: Remote, Example: "served://h/db", Params: []Param{{Name: "cache"}}},
	}
	for raw, want := range map[string]string{
		"file:a.db":                        "file a.db",
		"FILE:a.db":                        "file a.db",
		"file:a#b.db?cache=1":              "file a#b.db", // part of the path
		"file://localhost/a.db":            "file /a.db",
		"file:///a.db":                     "file /a.db",
		"served://h:1/db?cache=2":          "served /db",
		"served:":                          "served ",
		"served://h/db?passfile=x&cache=1": "served /db",
		"file://h/a.db":                    "file URL names a host; write it as in file:a.db",
		"served:db":                        "served URL has no // before its host; write it as in served://h/db",
		"served://h/db?cache=":             "served URL, parameter cache needs exactly one value; write cache=VALUE once",
		"served://h/db?cache=1&cache=2":    "served URL, parameter cache needs exactly one value; write cache=VALUE once",
		"served://h/db?cash=1":             "served URL, parameter cash is not known; did you mean cache? Choose one of cache, passfile, passenv; see `barograph list engines`",
		"file:a?passfile=x":                "file URL, parameter passfile is not known; choose one of cache; see `barograph list engines`",
		"filed:x":                          "engine filed is not known; did you mean file? Choose one of file, served",
		"filed":                            "engine filed is not known; did you mean file? Choose one of file, served",
		"filed:":                           "engine filed is not known; did you mean file? Choose one of file, served",
		"other://h:x/y":                    "URL other:xxxxx cannot be parsed",
	} {
		d, u, err := r.Parse(raw)
		got := ""
		if err == nil {
			got = d.Scheme + " " + Path(u)
		} else {
			got = err.Error()
		}
		if got != want && (err == nil || !strings.HasPrefix(got, want+";")) {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
	if got := Path(&url.URL{Opaque: "50%"}); got != "50%" {
		t.Errorf("an incomplete escape: %s", got)
	}
}

// TestFileNamedLikeAnEngine: the name of an engine is the engine, even if a file in this folder has that name. A folder
// that was moved is reported as one.
func TestFileNamedLikeAnEngine(t *testing.T) {
	r := filesOf(new([]string))
	path := writeFile(t, "text", "0123456789abcdef")
	t.Chdir(filepath.Dir(path))
	for raw, want := range map[string]string{"text": "", "./text": "./text", path: path} {
		if d, u, err := r.Parse(raw); err != nil || d.Scheme != "text" || Path(u) != want {
			t.Errorf("%s: %v, %v", raw, u, err)
		}
	}
	dir := filepath.Join(t.TempDir(), "a.d")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	folder, err := NewLocation(dir)
	if err = errors.Join(err, os.Remove(dir)); err != nil {
		t.Fatal(err)
	}
	if err := folder.CheckReplaced(); !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), dir+": the folder was moved or deleted while it was open") {
		t.Errorf("%v", err)
	}
}

// TestOpenNamesTheDatabaseOnce: an error of an engine that does not name the database gets its URL, without its password.
func TestOpenNamesTheDatabaseOnce(t *testing.T) {
	var failed error
	r := Registry{
		{Scheme: "file", Place: Embedded, Open: func(context.Context, *url.URL, Options) (*Engine, error) { return &Engine{}, failed }},
		{Scheme: "served", Place: Remote, Open: func(context.Context, *url.URL, Options) (*Engine, error) { return &Engine{}, failed }},
	}
	for _, c := range []struct {
		raw, says, want string
	}{
		{"served://me:secret@h/db", "refused", "served://me:xxxxx@h/db: refused"},
		{"served://h/db", "served://h/db is full", "served://h/db is full"},
		{"served://h/db", "/db is full", "served://h/db: /db is full"}, // a path does not identify a server
		{"file:a.db", "refused", "file:a.db: refused"},
		{"file:a.db", "a.db: refused", "a.db: refused"},
		{"file:", "refused", "file:: refused"},
	} {
		failed = errors.New(c.says)
		if _, err := r.Open(t.Context(), c.raw, Options{}); err == nil || err.Error() != c.want || !errors.Is(err, failed) {
			t.Errorf("%s: %v, want %s", c.raw, err, c.want)
		}
	}
	failed = nil
	for raw, hasFile := range map[string]bool{"file::memory:": false, "file:" + writeFile(t, "a.db", ""): true, "served://h" + writeFile(t, "a.db", ""): false} {
		if e, err := r.Open(t.Context(), raw, Options{ReadOnly: true}); err != nil || (e.File != nil) != hasFile {
			t.Errorf("%s: %+v, %v", raw, e, err)
		}
	}
	if _, err := r.Open(t.Context(), "file:"+filepath.Join(t.TempDir(), "none"), Options{}); err != nil {
		t.Errorf("a new file: %v", err)
	}
}

// TestLimitsOfValues: limits are included, the first error is kept, and it names the parameter and its value.
func TestLimitsOfValues(t *testing.T) {
	d := Driver{Scheme: "x", Params: []Param{{Name: "n", Default: "1"}, {Name: "b", Default: "true"}, {Name: "t", Default: "1s"}, {Name: "l"}}}
	for query, want := range map[string]string{
		"":                 "1 true 1s []",
		"n=3&b=false&t=2s": "3 false 2s []",
		"l=a,b":            "1 true 1s [a b]",
		"n=0":              "x URL, parameter n: \"0\" is not understood; give a number from 1 to 3",
		"n=4&b=x":          "x URL, parameter n: \"4\" is not understood; give a number from 1 to 3",
		"b=maybe":          "x URL, parameter b: \"maybe\" is not understood; write b=true or b=false",
		"t=999ms":          "x URL, parameter t: \"999ms\" is not understood; give a time such as 10s, at least 1s",
		"t=soon":           "x URL, parameter t: \"soon\" is not understood; give a time such as 10s, at least 1s",
	} {
		v := d.Values(&url.URL{RawQuery: query})
		n, b, wait, list := v.Int("n", 1, 3), v.Bool("b"), v.Duration("t", time.Second), v.List("l")
		got := fmt.Sprint(n, " ", b, " ", wait, " ", list)
		if v.Err != nil {
			got = v.Err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestAbilities: the logger is never nil, and abilities are found by their type.
func TestAbilities(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	if (Options{}).Logger() == nil || (Options{Log: log}).Logger() != log {
		t.Error("another logger")
	}
	e, d := &Engine{Abilities: []any{"text", 7, 8}}, &Driver{Offers: []any{2.5, "offer"}}
	if Find[int](e) != 7 || Find[string](e) != "text" || Find[bool](e) || OfferOf[string](d) != "offer" || OfferOf[int](d) != 0 {
		t.Errorf("%v, %v", Find[int](e), OfferOf[string](d))
	}
}

// TestReasonsOfMissing: software that is missing has a reason. That of a library is its own, if it has one.
func TestReasonsOfMissing(t *testing.T) {
	find := func() error { return &fault.Error{Problem: "is damaged"} }
	for want, d := range map[string]*Driver{
		"its library is damaged":       {Library: &Library{Find: find}},
		"its server is not installed":  {Server: &launch.Server{Find: find}},
		"its library is not installed": {Library: &Library{Find: func() error { return &fault.Error{Err: fs.ErrNotExist} }}},
		"":                             {},
	} {
		if got := cmp.Or(d.Missing(false), &fault.Skip{}); got.Reason != want {
			t.Errorf("%q, want %q", got.Reason, want)
		}
		if err := d.Require(true); (err == nil) != (want == "") {
			t.Errorf("%v", err)
		}
	}
}

// TestPause: a pause ends with the context.
func TestPause(t *testing.T) {
	ended, stop := context.WithCancel(t.Context())
	stop()
	if err := Pause(ended, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if err := Pause(t.Context(), 0); err != nil {
		t.Errorf("%v", err)
	}
}

// TestTLSOfAURL: each parameter of TLS has its effect, and those of a cluster are its CA and its first node.
func TestTLSOfAURL(t *testing.T) {
	known := map[string]bool{}
	for _, p := range TLSParams() {
		known[p.Name] = p.Help != ""
	}
	for _, name := range []string{"tls", "tls_ca", "tls_cert", "tls_key", "tls_name"} {
		if !known[name] {
			t.Errorf("%s is not listed", name)
		}
	}
	for _, c := range []struct {
		query, name string // the expected server; "" = no TLS
		skips       bool
	}{
		{"", "", false},
		{"tls=false", "", false},
		{"tls=false&tls_name=n&tls_ca=none.pem", "", false},
		{"tls=true", "h", false},
		{"tls_name=n", "n", false},
		{"tls=skip-verify", "h", true},
		{"tls=skip-verify&tls_name=n", "n", true},
	} {
		got, err := TLS(&url.URL{Scheme: "x", Host: "h:5", RawQuery: c.query})
		switch {
		case err != nil || (got == nil) != (c.name == ""):
			t.Errorf("%s: %v, %v", c.query, got, err)
		case got != nil && (got.ServerName != c.name || got.InsecureSkipVerify != c.skips || got.MinVersion != tls.VersionTLS12 || got.RootCAs != nil || got.Certificates != nil):
			t.Errorf("%s: %+v", c.query, got)
		}
	}
	cluster := &launch.Cluster{Dir: t.TempDir(), Nodes: []launch.Node{{Host: "127.0.0.1"}}}
	if got, err := ClusterTLS(cluster); got != nil || err != nil {
		t.Errorf("without TLS: %v, %v", got, err)
	}
	cluster.TLS = true
	if _, err := ClusterTLS(cluster); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "lab URL, parameter tls_ca") {
		t.Errorf("without its CA: %v", err)
	}
}
