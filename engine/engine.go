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
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
)

// Sentinel errors; engines wrap them with what they know.
var (
	ErrUnreachable error = fault.Class("engine is unreachable") // no server, no permission, no such folder
	ErrNoDesign          = errors.New("engine does not offer the design")
	ErrReadOnly          = errors.New("archive is read-only")
)

// ErrLocked is wrapped by the error of an archive that another process has open
// or is loading: waiting may help. It is an ErrUnreachable.
var ErrLocked error = locked{}

type locked struct{}

func (locked) Error() string { return ErrUnreachable.Error() }
func (locked) Unwrap() error { return ErrUnreachable }

// Unreachable says of a database that it is not reached, and what to do.
func Unreachable(shown string, err error, cure string) error {
	if fault.Code(err) == fault.Differs { // a damaged archive is reached
		return err
	}
	if strings.Contains(err.Error(), "\n") {
		err = oneLine{err}
	}
	if !errors.Is(err, ErrUnreachable) {
		err = unreachable{err}
	}
	return &fault.Error{Setting: cmp.Or(shown, "the server"), Problem: "is unreachable", Err: err, Cure: cmp.Or(unbelieved(err), cure)}
}

// unreachable is a driver's error that is also an ErrUnreachable.
type unreachable struct{ error }

// Error leaves out the path of a file, which the setting names.
func (u unreachable) Error() string {
	if p, ok := u.error.(*fs.PathError); ok { //nolint:errorlint // a chain may say more
		return p.Err.Error()
	}
	return u.error.Error()
}

func (u unreachable) Unwrap() []error { return []error{ErrUnreachable, u.error} }

// oneLine prints a driver's error of several lines, such as one for each address that it
// tried, as one.
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

// Failed returns the context's error where that is why a call failed. A driver
// may notice a deadline a little before the context does. A connection that
// broke is said to be an engine that is not reached, by any of the drivers'
// own errors that the caller names too.
func Failed(ctx context.Context, err error, broken ...error) error {
	end, ok := ctx.Deadline()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case ok && time.Until(end) < time.Millisecond:
		return context.DeadlineExceeded
	case lost(err, broken):
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return err
}

// lost reports whether a call failed as its connection broke or none was obtained.
func lost(err error, broken []error) bool {
	if _, explained := errors.AsType[*fault.Error](err); explained || errors.Is(err, ErrUnreachable) {
		return false // of a file, or said already
	}
	_, network := errors.AsType[*net.OpError](err)
	broken = append(broken, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed, driver.ErrBadConn, syscall.EPIPE, syscall.ECONNRESET)
	return network || slices.ContainsFunc(broken, func(e error) bool { return errors.Is(err, e) })
}

// Driver describes an engine and opens it.
type Driver struct {
	Scheme    string // of the URL: "duckdb"
	Summary   string // one line for `barograph list engines`
	Licence   string // of the database
	Example   string // a URL that works: "duckdb:archive.db"
	Params    []Param
	Abilities []any // what its databases can do, one value of each ability: archive.Offer, kv.Offer, posts.Offer, tables.Offer; promised = delivered
	Place     Place
	Server    *launch.Server // how the lab starts one; nil = embedded
	Library   *Library       // what an embedded engine needs besides this program; nil = nothing
	NotRun    string         // what of it was not run against a server, and why; "" = all of it was

	// Wrote reports whether an embedded engine wrote a file or folder, of whose
	// content head is the beginning (16 bytes, none of a folder); nil = no files.
	Wrote func(path string, head []byte) bool

	// Open connects. A folder or file that can be made is made, unless
	// Options.ReadOnly is set. Errors wrap ErrUnreachable where the cure is
	// to start or name another server or path.
	Open func(ctx context.Context, u *url.URL, o Options) (*Engine, error)
}

// Library is what an embedded engine loads at run time, from a language registry.
type Library struct {
	Artifacts []launch.Artifact
	Find      func() error // looks for it; its error names what is missing
	Optional  bool         // the engine opens without it; what needs it says so
}

// Place tells where an engine runs.
type Place string

// The places.
const (
	Embedded Place = "embedded" // in Barograph's own process
	Remote   Place = "server"   // in a process of its own, see Driver.Server
	Memory   Place = "memory"   // no database at all: the client's floor
)

// Param is an option in the query string of an engine's URL.
type Param struct {
	Name, Default, Help string
	Secret              bool
}

// Options for Open; the zero value is the default.
type Options struct {
	Log      *slog.Logger // nil = discard
	ReadOnly bool         // never create or change anything
	Threads  int          // 0 = as the engine chooses

	// InProcess has an embedded engine read its file in this process, because this run
	// has written it. Without it an engine may read by a process of its own, which a
	// damaged file cannot take this one down with.
	InProcess bool
}

// Logger is where to log; it is never nil.
func (o Options) Logger() *slog.Logger { return cmp.Or(o.Log, slog.New(slog.DiscardHandler)) }

// Engine is an open database, safe for concurrent use. What is nil, or not among the
// abilities, it cannot do.
type Engine struct {
	Abilities []any                                      // one value of each contract: archive.Database, kv.Database, posts.Database, *tables.Databases; see Find
	File      *Location                                  // of an embedded engine; nil = it has none. Registry.Open sets it
	Metrics   func(ctx context.Context) (Metrics, error) // what a server tells of itself, in a few ms
	About     func(ctx context.Context) (About, error)
	Cost      string       // what reading by a process of its own costs, in words; "" = this process reads
	Processes []int32      // processes of an embedded engine's own, which do its work
	Close     func() error // waits for nothing; open archives must be closed before
}

// Find returns an ability of an open database by the type of its contract, for
// example kv.Database. The zero value means that the engine does not have it.
func Find[T any](e *Engine) T { return first[T](e.Abilities) }

// Promised returns what a driver offers of an ability, for example kv.Offer. The zero
// value means nothing.
func Promised[T any](d *Driver) T { return first[T](d.Abilities) }

func first[T any](list []any) (found T) {
	for _, a := range list {
		if a, ok := a.(T); ok {
			return a
		}
	}
	return found
}

// About is what a run must know to be repeated.
type About struct {
	Product  string            `json:"product"` // "DuckDB"
	Version  string            `json:"version"`
	Settings map[string]string `json:"settings,omitempty"` // every setting that was changed, and those that decide speed

	// Acknowledged is, in words, what has become of a write when it is
	// acknowledged, read from the server; Promises what follows from that.
	Acknowledged string    `json:"acknowledged,omitempty"`
	Promises     []Promise `json:"promises,omitempty"`
	Lags         bool      `json:"lags,omitempty"`    // a read may show an older value, also while nothing fails
	Flushed      bool      `json:"flushed,omitempty"` // they hold where the power fails, too, of as many nodes as a client may lose

	Unranked string `json:"unranked,omitempty"` // why its times are shown but stand in no ranking; "" = they do
}

// Steady lists what is promised while nothing fails, whatever an acknowledged
// write is worth then: what Conn demands, but where the engine, as it is set up,
// may answer with older values, what it promises.
func (a *About) Steady() []Promise {
	if len(a.Promises) == 0 && !a.Lags {
		return Promises()
	}
	var all []Promise
	for _, p := range Promises() {
		if p == NothingLost || p == NothingRisen || slices.Contains(a.Promises, p) {
			all = append(all, p)
		}
	}
	return all
}

// Metrics is what a server tells of itself at one moment.
type Metrics struct {
	Totals   []Total   // since the server began, so that two tell what lies between; in one order
	Sessions []Session // those that are at work now, but for the one that asks
}

// Since is what was counted since an earlier moment.
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

// Spent is what a server has spent on answers until now, by its own counters:
// two moments tell what lies between. Where it counts for all its sessions
// together, others' work is in it, too.
type Spent struct {
	CPU  time.Duration // of all its processes and nodes; −1 = it does not tell, also below
	Read int64         // bytes from files, past its own buffers
}

// Total is a count that only grows.
type Total struct {
	Name  string // in the server's own words
	Unit  string // "bytes", "ms", or "" for a plain count
	Value float64
}

// Session groups sessions by what they wait for.
type Session struct {
	Wait  Wait
	What  string // in the server's own words: "LWLock:WALWrite"
	Count int
}

// Wait is a kind of thing that a session waits for.
type Wait string

// The kinds.
const (
	OnCPU     Wait = "cpu"     // for nothing: it computes, or queues for a core
	OnLock    Wait = "lock"    // for another session
	OnDisk    Wait = "disk"    // for reads, writes or their flush
	OnNetwork Wait = "network" // for its client, or for another node
	OnOther   Wait = "other"
)

// Promise is what a server, as it is set up, promises of writes that it
// acknowledged and of what is read after them, also while its processes are
// killed and started again; not where the machine dies.
type Promise string

// The promises.
const (
	Linearizable   Promise = "linearizable"               // each key, as if calls took place one by one, each between its begin and its end
	ReadYourWrites Promise = "read your writes"           // what a client wrote, or something newer
	MonotonicReads Promise = "monotonic reads"            // what a client has read, or something newer
	NothingLost    Promise = "no acknowledged write lost" // when all is over
	NothingRisen   Promise = "no deleted record back"     // likewise
)

// Promises lists them in their order.
func Promises() []Promise {
	return []Promise{Linearizable, ReadYourWrites, MonotonicReads, NothingLost, NothingRisen}
}
