package host

import (
	"bufio"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// Options say what a Reader reads, and its limits.
type Options struct {
	URL      string        // of the engine
	Path     string        // of the archive, for messages
	Threads  int           // see engine.Options
	Deadline time.Duration // the longest silence during a call; then the process is ended
	Memory   int64         // bytes that the process may have; 0 = no limit

	// Check is the Checker's work. It runs in this process, because it reads bytes and
	// trusts none of them; nil = there is no Checker.
	Check func(ctx context.Context) ([]string, error)

	// Invalid reports whether the engine cannot answer anything after this error, so that
	// the process must be restarted.
	Invalid func(err error) bool
}

// Reader reads the archives of one database by a process, which it starts again after a
// crash. Several calls run at once, each on a connection of its own.
type Reader struct {
	o Options

	mu      sync.Mutex
	process *Process
	idle    []*connection
	stuck   error // a deadline was reached: later calls are not tried
	closed  bool

	started time.Duration // what the start of the process took
	calls   time.Duration // what an empty call takes
}

// emptyCalls are those that are measured at the start.
const emptyCalls = 5

// NewReader starts a process that has the archive open, or returns why it is not open.
func NewReader(ctx context.Context, o Options) (*Reader, error) {
	r := &Reader{o: o}
	began := time.Now()
	var times []time.Duration
	for i := range emptyCalls + 1 {
		at := time.Now()
		if _, err := r.About(ctx); err != nil {
			return nil, errors.Join(err, r.Close())
		}
		if i == 0 {
			r.started = time.Since(began)
			continue
		}
		times = append(times, time.Since(at))
	}
	slices.Sort(times)
	r.calls = times[emptyCalls/2]
	return r, nil
}

// Cost is what reading by a process costs, in words.
func (r *Reader) Cost() string {
	return fmt.Sprintf("read by a process of its own: its start took %.0f ms, an empty call takes %.2f ms", r.started.Seconds()*1e3, r.calls.Seconds()*1e3)
}

// PID is the number of the process; 0 = there is none now.
func (r *Reader) PID() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process == nil {
		return 0
	}
	return r.process.PID()
}

// Close ends the process.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return r.end()
}

// end ends the process, if there is one, and its connections; r.mu is locked.
func (r *Reader) end() (err error) {
	for _, c := range r.idle {
		_ = c.conn.Close() // the process ends anyway
	}
	if r.idle = nil; r.process != nil {
		late := time.AfterFunc(2*patience, r.process.kill)
		err = r.process.Close()
		late.Stop()
		r.process = nil
	}
	return err
}

// connection is one to the process, for one call at a time.
type connection struct {
	process *Process
	conn    *net.UnixConn
	from    *gob.Decoder
	to      *gob.Encoder
	out     *bufio.Writer
}

var errClosed = errors.New("the archive is closed")

// take returns an idle connection, or makes one; the process is started if there is none.
func (r *Reader) take(ctx context.Context) (*connection, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return nil, errClosed
	case r.stuck != nil:
		return nil, r.stuck
	}
	if r.process != nil {
		select {
		case <-r.process.gone:
			_ = r.end() // it has crashed: those that called it know
		default:
		}
	}
	if r.process == nil {
		text, err := json.Marshal(order{URL: r.o.URL, Threads: r.o.Threads, Memory: r.o.Memory})
		if err == nil {
			r.process, err = Start(ctx, envArchive+"="+string(text), func(string) ([]string, error) { return nil, nil })
		}
		if err != nil {
			return nil, err
		}
	}
	if n := len(r.idle); n > 0 {
		c := r.idle[n-1]
		r.idle = r.idle[:n-1]
		return c, nil
	}
	dialed, err := r.process.Dial(ctx)
	if err != nil {
		return nil, err
	}
	conn := dialed.(*net.UnixConn) //nolint:forcetypeassert // of a unix socket
	c := &connection{process: r.process, conn: conn, from: gob.NewDecoder(bufio.NewReaderSize(conn, 1<<16)), out: bufio.NewWriter(conn)}
	c.to = gob.NewEncoder(c.out)
	return c, nil
}

// put gives a connection back after a call that has ended.
func (r *Reader) put(c *connection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process != c.process {
		_ = c.conn.Close() // of a process that is gone
		return
	}
	r.idle = append(r.idle, c)
}

// restart ends a process in which the engine answers nothing any more; the next call
// starts another one.
func (r *Reader) restart(p *Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process == p {
		p.kill()
		_ = r.end() // it only read
	}
}

// call sends a request, gives chunks to each as they come, and returns the last reply.
func (r *Reader) call(ctx context.Context, q *request, each func(chunk []byte) error) (*reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, err := r.take(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.conn.SetReadDeadline(time.Unix(1, 0)) })
	last, err := r.exchange(ctx, c, q, each)
	stopped := stop()
	if err == nil && stopped {
		r.put(c)
		if last.Err == nil {
			return last, nil
		}
		if err = last.Err.error(); r.o.Invalid != nil && r.o.Invalid(err) {
			r.restart(c.process)
		}
		return nil, err
	}
	if ctx.Err() != nil {
		go r.abandon(c)
		return nil, ctx.Err()
	}
	if errors.Is(err, errLeft) {
		go r.abandon(c)
		return nil, err
	}
	return nil, r.broken(c, err)
}

// errLeft: the caller wants no more chunks.
var errLeft = errors.New("the caller has left")

func (r *Reader) exchange(ctx context.Context, c *connection, q *request, each func(chunk []byte) error) (*reply, error) {
	err := c.to.Encode(q)
	if err == nil {
		err = c.out.Flush()
	}
	for err == nil {
		var next reply
		if err = c.conn.SetReadDeadline(time.Now().Add(r.o.Deadline)); err == nil && ctx.Err() == nil {
			err = c.from.Decode(&next)
		}
		switch {
		case ctx.Err() != nil:
			err = ctx.Err()
		case err != nil:
		case next.Last:
			return &next, nil
		case each == nil:
			err = errChunk
		default:
			err = each(next.Chunk)
		}
	}
	return nil, err
}

// patience is how long a call that nobody waits for may go on in the process.
const patience = 2 * time.Second

// abandon has the process cancel a call. One that does not end is a hang: the process is
// killed.
func (r *Reader) abandon(c *connection) {
	defer c.conn.Close() //nolint:errcheck // nothing is expected of it
	_ = c.conn.CloseWrite()
	_ = c.conn.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, c.conn); errors.Is(err, os.ErrDeadlineExceeded) {
		r.restart(c.process)
	}
}

// broken is the error of a call whose connection broke, or was silent for too long.
func (r *Reader) broken(c *connection, err error) error {
	_ = c.conn.Close() // it is of no use
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err := &fault.Error{
			File: r.o.Path, Problem: fmt.Sprintf("the process that reads it gave no answer for %s, the limit", r.o.Deadline),
			Cure: "raise the limit with the parameter deadline of the URL, or see `barograph verify` whether the archive is damaged",
		}
		r.mu.Lock()
		r.stuck = err
		r.mu.Unlock()
		r.restart(c.process)
		return err
	}
	select {
	case <-c.process.gone:
	case <-time.After(patience):
		return &fault.Error{File: r.o.Path, Problem: "the process that reads it does not speak as it should", Err: err}
	}
	state, text := c.process.cmd.ProcessState, c.process.Stderr()
	switch {
	case c.process.killed.Load() || state.Success():
		return r.closing()
	case state.ExitCode() == overMemory:
		return &fault.Error{
			File: r.o.Path, Problem: fmt.Sprintf("the process that reads it needed more than %d MiB of memory, the limit", r.o.Memory>>20),
			Cure: "raise the limit with the parameter memory_limit of the URL, or see `barograph verify` whether the archive is damaged",
		}
	case strings.HasPrefix(state.String(), "signal: killed"):
		return &fault.Error{File: r.o.Path, Problem: "the process that reads it was killed from outside", Cure: "see the system's log: perhaps memory ran out"}
	}
	return engine.Damaged(r.o.Path, errors.New("the process that read it crashed: "+reason(text, state.String())))
}

// closing is the error of a call whose process this side has ended.
func (r *Reader) closing() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.stuck != nil:
		return r.stuck
	case r.closed:
		return errClosed
	}
	return &fault.Error{File: r.o.Path, Problem: "the process that reads it was restarted, because another call failed or did not end", Cure: "try again"}
}

// crash finds the line that says why a process has ended: of the Go runtime, or of C++.
var crash = regexp.MustCompile(`(?m)^(?:\s*what\(\): *|SIG[A-Z]+: |fatal error: |panic: |runtime: ).*$`)

func reason(stderr, state string) string {
	if line := crash.FindString(stderr); line != "" {
		return strings.TrimSpace(line)
	}
	return state
}

// About is the engine's, with what reading by a process costs.
func (r *Reader) About(ctx context.Context) (engine.About, error) {
	last, err := r.call(ctx, &request{Op: opAbout}, nil)
	if err != nil || last.About == nil {
		return engine.About{}, errors.Join(err, ctx.Err())
	}
	if r.calls > 0 && last.About.Settings != nil {
		last.About.Settings["process"] = r.Cost()
	}
	return *last.About, nil
}

// Open opens the archive of a design.
func (r *Reader) Open(ctx context.Context, n design.Name) (archive.Archive, error) {
	if _, err := r.call(ctx, &request{Op: opOpen, Design: n}, nil); err != nil {
		return nil, err
	}
	return &openArchive{r, n}, nil
}

// archive is the read side of archive.Archive.
type openArchive struct {
	*Reader
	design design.Name
}

// Loader is refused: the process only reads.
func (a *openArchive) Loader(context.Context, string) (archive.Loader, error) {
	return nil, fmt.Errorf("%s: %w", a.o.Path, engine.ErrReadOnly)
}

// Marks lists the files that are loaded completely.
func (a *openArchive) Marks(ctx context.Context, subset string) ([]archive.Mark, error) {
	last, err := a.call(ctx, &request{Op: opMarks, Design: a.design, Subset: subset}, nil)
	if err != nil {
		return nil, err
	}
	return last.Marks, nil
}

// Catalog is the subset's metadata.
func (a *openArchive) Catalog(ctx context.Context, subset string) (*design.Catalog, error) {
	last, err := a.call(ctx, &request{Op: opCatalog, Design: a.design, Subset: subset}, nil)
	if err != nil {
		return nil, err
	}
	if last.Catalog == nil {
		return design.NewCatalog(subset), nil
	}
	return design.ParseCatalog(last.Catalog)
}

// Subsets lists the subsets.
func (a *openArchive) Subsets(ctx context.Context) ([]string, error) {
	last, err := a.call(ctx, &request{Op: opSubsets, Design: a.design}, nil)
	if err != nil {
		return nil, err
	}
	return append([]string{}, last.Names...), nil
}

// Contents counts what a subset has.
func (a *openArchive) Contents(ctx context.Context, subset string) (archive.Contents, error) {
	last, err := a.call(ctx, &request{Op: opContents, Design: a.design, Subset: subset}, nil)
	if err != nil || last.Contents == nil {
		return archive.Contents{}, err
	}
	if last.Contents.Records == nil {
		last.Contents.Records = map[string]int64{}
	}
	return *last.Contents, nil
}

// Phrase puts a question into the engine's words.
func (a *openArchive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*archive.Query, error) {
	w, err := newWireQuery(&archive.Query{Question: q})
	if err != nil {
		return nil, err
	}
	last, err := a.call(ctx, &request{Op: opPhrase, Design: a.design, Flavour: f, Query: w}, nil)
	if err != nil {
		return nil, err
	}
	if last.Query == nil {
		return nil, errChunk
	}
	return last.Query.query(q)
}

// Ask sends a query and copies the rows.
func (a *openArchive) Ask(ctx context.Context, q *archive.Query, into *answer.Builder) error {
	w, err := newWireQuery(q)
	if err != nil {
		return err
	}
	into.Reset(q.Question.Columns)
	var d decoder
	last, err := a.call(ctx, &request{Op: opAsk, Design: a.design, Query: w}, func(chunk []byte) error { return d.rows(chunk, into) })
	if err == nil && last.Query != nil {
		q.Server = last.Query.Query.Server
	}
	return err
}

// Explain returns how the engine carries out a query.
func (a *openArchive) Explain(ctx context.Context, q *archive.Query) (archive.Plan, error) {
	w, err := newWireQuery(q)
	if err != nil {
		return archive.Plan{}, err
	}
	last, err := a.call(ctx, &request{Op: opExplain, Design: a.design, Query: w}, nil)
	if err != nil || last.Plan == nil {
		return archive.Plan{}, err
	}
	return *last.Plan, nil
}

// Dump walks every record.
func (a *openArchive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return a.batches(ctx, &request{Op: opDump, Design: a.design, Subset: subset})
}

// Salvage reads the tables by numbers of rows. Each part that crashes the process, or
// cannot be read, is read in halves.
func (a *openArchive) Salvage(ctx context.Context, subset string, lost func(archive.Loss)) iter.Seq2[*record.Batch, error] {
	return archive.SalvageParts(ctx, a, subset, lost)
}

// Parts are the rows of the tables of a subset, cut into parts.
func (a *openArchive) Parts(ctx context.Context, subset string) ([]archive.Rows, error) {
	last, err := a.call(ctx, &request{Op: opParts, Design: a.design, Subset: subset}, nil)
	if err != nil {
		return nil, err
	}
	return last.Parts, nil
}

// DumpRows walks some rows of a table.
func (a *openArchive) DumpRows(ctx context.Context, subset string, r archive.Rows) iter.Seq2[*record.Batch, error] {
	return a.batches(ctx, &request{Op: opRows, Design: a.design, Subset: subset, Rows: r})
}

// batches are those that a request returns.
func (a *openArchive) batches(ctx context.Context, q *request) iter.Seq2[*record.Batch, error] {
	return func(yield func(*record.Batch, error) bool) {
		var d decoder
		var b record.Batch
		_, err := a.call(ctx, q, func(chunk []byte) error {
			if err := d.batch(chunk, &b); err != nil {
				return err
			}
			if !yield(&b, nil) {
				return errLeft
			}
			return nil
		})
		if err != nil && !errors.Is(err, errLeft) {
			yield(nil, err)
		}
	}
}

// Size is the archive's size on disk.
func (a *openArchive) Size(ctx context.Context) (int64, error) {
	last, err := a.call(ctx, &request{Op: opSize, Design: a.design}, nil)
	if err != nil {
		return 0, err
	}
	return last.Size, nil
}

// Check looks at what is below the records.
func (a *openArchive) Check(ctx context.Context, _ string) ([]string, error) {
	if a.o.Check == nil {
		return nil, nil
	}
	return a.o.Check(ctx)
}

// Close leaves the process to the Reader.
func (a *openArchive) Close() error { return nil }
