package engine

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
)

// Sentinel errors. Engines wrap them with details.
var (
	ErrUnreachable error = fault.Class("engine is unreachable") // no server, no permission, no such folder
	ErrNoDesign    error = fault.Class("engine does not offer the design")
	ErrReadOnly          = errors.New("archive is read-only")
)

// ErrLocked is wrapped by the error of an archive that another process has open or is loading. Waiting may help.
// errors.Is(ErrLocked, ErrUnreachable) is true. Error returns exactly the text of ErrUnreachable, because fault.Error omits
// a cause whose text is that of its fault.Class.
var ErrLocked error = locked{}

type locked struct{}

func (locked) Error() string { return ErrUnreachable.Error() }
func (locked) Unwrap() error { return ErrUnreachable }

// UnreachableError returns the fault of a database that cannot be reached, with its cure. shown
// is the URL or file to name, without a password.
func UnreachableError(shown string, err error, cure string) error {
	if fault.Code(err) == fault.Differs { // a damaged archive was reached
		return err
	}
	if strings.Contains(err.Error(), "\n") {
		err = oneLine{err}
	}
	if !errors.Is(err, ErrUnreachable) {
		err = classified{err, ErrUnreachable}
	}
	return &fault.Error{Setting: cmp.Or(shown, "the server"), Problem: "is unreachable", Err: err, Cure: cmp.Or(certificateCure(err), cure)}
}

// FileError returns the fault of an embedded engine's file or folder that cannot be used: "x.db cannot be opened: file
// is not a database; …". It also is an ErrUnreachable. err may be nil.
func FileError(file, problem string, err error, cure string) error {
	class := ErrUnreachable
	if err != nil {
		class = classified{err, ErrUnreachable}
	}
	return &fault.Error{File: file, Problem: problem, Err: class, Cure: cure}
}

// classified is an error that also is of a class (ErrUnreachable or ErrLocked), whose text it does not print.
type classified struct{ cause, class error }

// Error omits the path of a file, because the fault already names it.
func (c classified) Error() string {
	if p, ok := c.cause.(*fs.PathError); ok { //nolint:errorlint // a wrapped PathError may have more text, which must stay
		return p.Err.Error()
	}
	return c.cause.Error()
}

func (c classified) Unwrap() []error { return []error{c.class, c.cause} }

// oneLine joins the lines of a driver's error into one, for example a line for each address that
// the driver tried. It omits a line whose text is already in the result.
type oneLine struct{ error }

func (e oneLine) Error() (out string) {
	for line := range strings.Lines(e.error.Error()) {
		line = strings.TrimSpace(line)
		switch {
		case strings.Contains(out, line):
		case out == "" || strings.HasSuffix(out, ":"):
			out = strings.TrimSpace(out + " " + line)
		default:
			out += "; " + line
		}
	}
	return out
}

func (e oneLine) Unwrap() error { return e.error }

// CallError returns the context's error if a call failed because the context is done. A driver
// may notice a deadline a little before the context does. If the connection broke, the
// error also wraps ErrUnreachable. broken lists further errors by which the caller's driver
// reports a broken connection. If the disk of a SQL server is full, the error has a cure.
func CallError(ctx context.Context, err error, broken ...error) error {
	deadline, ok := ctx.Deadline()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case ok && time.Until(deadline) < time.Millisecond:
		return context.DeadlineExceeded
	case isConnectionLost(err, broken):
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	if _, explained := errors.AsType[*fault.Error](err); !explained && serverDiskFull.MatchString(err.Error()) {
		return DiskFullError("server", oneLine{err})
	}
	return err
}

// serverDiskFull matches the errors of PostgreSQL and MariaDB when the server's disk is full.
var serverDiskFull = regexp.MustCompile(`SQLSTATE 53100|Errcode: 28 |errno: (28|135) |Error (1021|1114) `)

// isConnectionLost reports whether a call failed because its connection broke or could not be opened.
func isConnectionLost(err error, broken []error) bool {
	if _, explained := errors.AsType[*fault.Error](err); explained || errors.Is(err, ErrUnreachable) {
		return false // the error concerns a file, or is already classified
	}
	_, network := errors.AsType[*net.OpError](err)
	broken = append(broken, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn, syscall.EPIPE, syscall.ECONNRESET)
	return network || slices.ContainsFunc(broken, func(e error) bool { return errors.Is(err, e) })
}

// Driver describes an engine and opens it.
type Driver struct {
	Scheme   string // of the URL: "duckdb"
	Summary  string // one line for `barograph list engines`
	Licence  string // of the database
	Example  string // a valid URL: "duckdb:archive.db"
	Params   []Param
	Offers   []any // what it promises of each ability, at most one of each: archive.Offer, kv.Offer, posts.Offer, tables.Offer
	Place    Place
	Server   *launch.Server // how the lab starts one; nil = embedded
	Library  *Library       // what an embedded engine needs besides this program; nil = nothing
	Untested string         // the part of its code that no test has run against a server, and why; "" = none

	// Recognizes reports whether an embedded engine wrote a file or folder. head contains the
	// first 16 bytes of a file and is empty for a folder. nil = the engine writes no files.
	Recognizes func(path string, head []byte) bool

	// Open connects. It creates a missing folder or file unless Options.ReadOnly is set.
	// Errors wrap ErrUnreachable if the cure is to start the server, or to name another server or path.
	Open func(ctx context.Context, u *url.URL, o Options) (*Engine, error)
}

// Library is what an embedded engine needs at run time besides this program. `barograph lab install`
// fetches it from a package registry (Maven, npm or PyPI).
type Library struct {
	Artifacts []launch.Artifact
	Find      func() error // looks for the library; the error names what is missing
	Optional  bool         // the engine opens without it; the functions that need it fail with an explanation
}

// Place is where an engine runs.
type Place string

// The places.
const (
	Embedded Place = "embedded" // in Barograph's own process
	Remote   Place = "server"   // in a separate process, see Driver.Server
	Memory   Place = "memory"   // no database at all: it measures the client overhead
)

// Param is an option in the query string of an engine's URL.
type Param struct {
	Name, Default, Help string
	Secret              bool // its value is a secret, such as a password
}

// Options for Open; the zero value is the default.
type Options struct {
	Log      *slog.Logger // nil = discard
	ReadOnly bool         // never create or change anything
	Threads  int          // 0 = the engine chooses

	// InProcess makes an embedded engine read its file in this process, because this run
	// wrote the file. Otherwise the engine may read in a separate process, so a damaged
	// file cannot crash this one.
	InProcess bool
}

// Logger returns the logger to use; it is never nil.
func (o Options) Logger() *slog.Logger { return cmp.Or(o.Log, slog.New(slog.DiscardHandler)) }

// Engine is an open database, safe for concurrent use. A nil function means that the database does not offer it.
// The same is true of an ability that is not in Abilities.
type Engine struct {
	Abilities []any                                      // at most one of each: archive.Database, kv.Database, posts.Database, *tables.Databases; see Find
	File      *Location                                  // of an embedded engine; nil = no file. Registry.Open sets it
	Metrics   func(ctx context.Context) (Metrics, error) // the server's own counters; takes a few ms
	About     func(ctx context.Context) (About, error)

	// Statements lists the statements that the server has run since it began to count, without those that read its
	// statistics. The list is empty if the server does not count. nil = the engine has no such statistics.
	Statements func(ctx context.Context) ([]Statement, error)

	Cost      string       // in words, what reading in a separate process costs; "" = this process reads
	Processes []int32      // processes that an embedded engine started for its work
	Close     func() error // does not wait; the caller closes open archives before
}

// Find returns an ability of an open database by the type of its contract, for
// example kv.Database. The zero value means that the engine does not have it.
func Find[T any](e *Engine) T { return firstOf[T](e.Abilities) }

// OfferOf returns what a driver offers of an ability, for example kv.Offer. The zero
// value means that the driver does not offer the ability.
func OfferOf[T any](d *Driver) T { return firstOf[T](d.Offers) }

func firstOf[T any](list []any) (found T) {
	for _, a := range list {
		if a, ok := a.(T); ok {
			return a
		}
	}
	return found
}

// About describes the database and its settings, as far as somebody needs them to repeat a run.
type About struct {
	Product  string            `json:"product"` // "DuckDB"
	Version  string            `json:"version"`
	Settings map[string]string `json:"settings,omitempty"` // every changed setting, and the settings that determine speed

	// Acknowledged says in words, as read from the server, what the server has done with a
	// write when it acknowledges it. Promises lists the guarantees that follow.
	Acknowledged string    `json:"acknowledged,omitempty"`
	Promises     []Promise `json:"promises,omitempty"`
	StaleReads   bool      `json:"lags,omitempty"`    // a read may return an older value even without any failure
	Flushed      bool      `json:"flushed,omitempty"` // Promises also survive a power failure of as many nodes as the cluster tolerates

	Unranked string `json:"unranked,omitempty"` // why reports show its times but do not rank them; "" = they are ranked
}

// PromisesWithoutFailures lists the guarantees that the server gives while nothing fails:
//   - all of them, as kv.Conn demands, if it has no stale reads and lists no Promises (a crash may lose its writes);
//   - otherwise those in Promises, and always NoLostWrites and NoRevivedRecords: without a failure nothing is lost.
func (a *About) PromisesWithoutFailures() []Promise {
	all := len(a.Promises) == 0 && !a.StaleReads
	return lists.Filter(Promises(), func(p Promise) bool {
		return all || p == NoLostWrites || p == NoRevivedRecords || slices.Contains(a.Promises, p)
	})
}

// Metrics are a server's own counters at one moment.
type Metrics struct {
	Totals   []Total        // since the server started, always in the same order; subtract two of them with Since
	Sessions []SessionGroup // sessions that are active now, without the one that reads these metrics
}

// Since returns the growth of each count since an earlier moment, without counts that did not grow.
func (m *Metrics) Since(before *Metrics) (out []Total) {
	for _, t := range m.Totals {
		i := slices.IndexFunc(before.Totals, func(b Total) bool { return b.Name == t.Name })
		if i >= 0 && t.Value > before.Totals[i].Value {
			t.Value -= before.Totals[i].Value
			out = append(out, t)
		}
	}
	return out
}

// ServerUsage is what a server has spent on queries since it started, by its own counters. The
// difference of two values is the cost of the queries in between. If the server counts for
// all its sessions together, the difference includes the work of other clients.
type ServerUsage struct {
	CPU  time.Duration // of all its processes and nodes; −1 = not reported
	Read int64         // bytes from files, without hits in the server's own buffers; −1 = not reported
}

// Total is a count that only grows.
type Total struct {
	Name  string // the server's name for it
	Unit  string // "bytes", "ms", or "" for a plain count
	Value float64
}

// Statement is all executions of the statements that differ only in their constants.
type Statement struct {
	ID    string // the server's
	Text  string
	Calls int64
	Time  time.Duration // in the server
	Rows  int64         // returned or changed
}

// SessionGroup is the number of active sessions that wait for the same thing.
type SessionGroup struct {
	Wait  Wait
	What  string // the server's name for it: "LWLock:WALWrite"
	Count int
}

// Wait is a kind of thing that a session waits for.
type Wait string

// The kinds of Wait.
const (
	OnCPU     Wait = "cpu"     // it does not wait: it computes or queues for a core
	OnLock    Wait = "lock"    // for another session
	OnDisk    Wait = "disk"    // for reads, writes or their flush
	OnNetwork Wait = "network" // for its client, or for another node
	OnOther   Wait = "other"
)

// Promise is a guarantee that a server, with its current settings, gives for acknowledged
// writes and for later reads. The guarantee also covers a kill and restart of the server's
// processes, but not the loss of the machine.
type Promise string

// The guarantees.
const (
	Linearizable     Promise = "linearizable"               // for each key, calls appear to run one by one, each between its start and its end
	ReadYourWrites   Promise = "read your writes"           // a client reads its own last write or a newer one
	MonotonicReads   Promise = "monotonic reads"            // a client never reads an older value than before
	NoLostWrites     Promise = "no acknowledged write lost" // checked after the last operation
	NoRevivedRecords Promise = "no deleted record back"     // checked after the last operation
)

// Promises lists all guarantees in their documented order.
func Promises() []Promise {
	return []Promise{Linearizable, ReadYourWrites, MonotonicReads, NoLostWrites, NoRevivedRecords}
}
