package host

import (
	"bufio"
	"cmp"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"os"
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

// Options are what a Reader reads, and its limits.
type Options struct {
	URL      string        // the engine's URL
	Path     string        // the archive's path, for messages
	Threads  int           // see engine.Options
	Deadline time.Duration // after so long a silence during a call the Reader kills the process
	Memory   int64         // bytes that the process may have; 0 = no limit

	// Check is the work of the archive.Checker. It runs in this process, because it reads
	// bytes and trusts none of them; nil = the archive has no Checker.
	Check func(ctx context.Context) ([]string, error)

	// Invalid reports whether the engine cannot answer any call after this error. Then the
	// Reader restarts the process.
	Invalid func(err error) bool
}

// Reader reads the archives of one database in a separate process. It restarts the process
// after a crash. Several calls run at once, each on its own connection.
type Reader struct {
	o Options

	mu          sync.Mutex
	process     *Process
	idle        []*connection
	deadlineErr error // a call exceeded the deadline; all later calls return this error
	closed      bool

	started time.Duration // duration of the process's start
	calls   time.Duration // duration of an empty call
}

// emptyCalls is the number of empty calls that NewReader times.
const emptyCalls = 5

// NewReader starts a process and opens the archive in it. If the process cannot open the
// archive, NewReader returns the reason.
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

// Cost describes in words what reading in a separate process costs.
func (r *Reader) Cost() string {
	return fmt.Sprintf("read in a separate process: its start took %.0f ms, an empty call takes %.2f ms", r.started.Seconds()*1e3, r.calls.Seconds()*1e3)
}

// PID returns the process id; 0 = no process is running.
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

// end ends the process, if it is running, and closes its connections. The caller has
// locked r.mu.
func (r *Reader) end() (err error) {
	for _, c := range r.idle {
		_ = c.conn.Close() // the process exits in any case
	}
	if r.idle = nil; r.process != nil {
		late := time.AfterFunc(2*patience, r.process.Kill)
		err = r.process.Close()
		late.Stop()
		r.process = nil
	}
	return err
}

// connection is a connection to the process. It serves one call at a time.
type connection struct {
	process *Process
	conn    *net.UnixConn
	from    *gob.Decoder
	to      *gob.Encoder
	out     *bufio.Writer
}

var errClosed = errors.New("the archive is closed")

// take returns an idle connection or opens one. It starts the process if it is not running.
func (r *Reader) take(ctx context.Context) (*connection, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return nil, errClosed
	case r.deadlineErr != nil:
		return nil, r.deadlineErr
	}
	if r.process != nil {
		select {
		case <-r.process.exited:
			_ = r.end() // it has crashed: its callers have got the error
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
	conn := dialed.(*net.UnixConn) //nolint:forcetypeassert // Dial connects to a unix socket
	c := &connection{process: r.process, conn: conn, from: gob.NewDecoder(bufio.NewReaderSize(conn, 1<<16)), out: bufio.NewWriter(conn)}
	c.to = gob.NewEncoder(c.out)
	return c, nil
}

// put returns a connection to the idle ones after a call has finished.
func (r *Reader) put(c *connection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process != c.process {
		_ = c.conn.Close() // its process has exited
		return
	}
	r.idle = append(r.idle, c)
}

// restart ends a process whose engine answers no calls any more. The next call starts
// another process.
func (r *Reader) restart(p *Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.process == p {
		p.Kill()
		_ = r.end() // it has written nothing
	}
}

// call sends a request, calls onChunk for each chunk as it arrives, and returns the last reply. If it returns an error,
// the reply is empty.
func (r *Reader) call(ctx context.Context, q *request, onChunk func(chunk []byte) error) (reply, error) {
	if err := ctx.Err(); err != nil {
		return reply{}, err
	}
	c, err := r.take(ctx)
	if err != nil {
		return reply{}, err
	}
	interrupted := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = c.conn.SetReadDeadline(time.Unix(1, 0))
		close(interrupted)
	})
	last, err := r.exchange(ctx, c, q, onChunk)
	stopped := stop()
	if !stopped {
		<-interrupted // afterwards no other goroutine changes the deadline
	}
	if err == nil && stopped {
		r.put(c)
		if last.Err == nil {
			return last, nil
		}
		if err = last.Err.error(); r.o.Invalid != nil && r.o.Invalid(err) {
			r.restart(c.process)
		}
		return reply{}, err
	}
	if errors.Is(err, errLeft) {
		go r.abandon(c)
		return reply{}, err
	}
	if ctx.Err() != nil {
		go r.abandon(c)
		return reply{}, ctx.Err()
	}
	return reply{}, r.broken(c, err)
}

// errLeft means that the caller wants no more chunks.
var errLeft = errors.New("the caller has left")

func (r *Reader) exchange(ctx context.Context, c *connection, q *request, onChunk func(chunk []byte) error) (reply, error) {
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
			return next, nil
		case onChunk == nil:
			err = errChunk
		default:
			err = onChunk(next.Chunk)
		}
	}
	return reply{}, err
}

// patience is how long the process may continue a call for which no caller waits, and how long it may take to exit.
const patience = 2 * time.Second

// abandon makes the process cancel a call. If the call does not end, the process hangs and
// abandon kills it.
func (r *Reader) abandon(c *connection) {
	defer c.conn.Close() //nolint:errcheck // no reply is expected
	_ = c.conn.CloseWrite()
	_ = c.conn.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, c.conn); errors.Is(err, os.ErrDeadlineExceeded) {
		r.restart(c.process)
	}
}

// broken returns the error of a call whose connection broke or was silent for too long.
func (r *Reader) broken(c *connection, err error) error {
	_ = c.conn.Close() // it is unusable
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err := &fault.Error{
			File: r.o.Path, Problem: fmt.Sprintf("the process that reads it did not answer within the limit of %s", r.o.Deadline),
			Cure: "raise the limit with the parameter deadline of the URL, or run `barograph verify` to find out whether the archive is damaged",
		}
		r.mu.Lock()
		r.deadlineErr = err
		r.mu.Unlock()
		r.restart(c.process)
		return err
	}
	select {
	case <-c.process.exited:
	case <-time.After(patience):
		return &fault.Error{File: r.o.Path, Problem: "the process that reads it sent a malformed message", Err: err}
	}
	state, stderr := c.process.cmd.ProcessState, c.process.Stderr()
	why, isCrash := c.process.ending()
	switch {
	case c.process.killed.Load() || state.Success():
		return r.closing()
	case isCrash:
		return engine.DamagedError(r.o.Path, errors.New("the process that read it crashed: "+why))
	case state.ExitCode() == overMemory:
		return &fault.Error{
			File: r.o.Path, Problem: fmt.Sprintf("the process that reads it exceeded its memory limit of %d MiB", r.o.Memory>>20),
			Cure: "raise the limit with the parameter memory_limit of the URL, or run `barograph verify` to find out whether the archive is damaged",
		}
	case state.Exited() && state.ExitCode() != goCrashed: // noSocket; the last line that it printed has the reason
		return &fault.Error{
			File: r.o.Path, Problem: "the process that reads it exited with an error",
			Err:  errors.New(cmp.Or(stderr[strings.LastIndex(stderr, "\n")+1:], state.String())),
			Cure: "if too many files are open, raise the limit (ulimit -n); then try again",
		}
	}
	return &fault.Error{
		File: r.o.Path, Problem: "the process that reads it was ended by another process or the system", Err: errors.New(why),
		Cure: "try again; the system's log may have the reason, for example a lack of memory",
	}
}

// closing returns the error of a call whose process this side has ended.
func (r *Reader) closing() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.deadlineErr != nil:
		return r.deadlineErr
	case r.closed:
		return errClosed
	}
	return &fault.Error{File: r.o.Path, Problem: "the process that reads it was restarted, because another call failed or hung", Cure: "try again"}
}

// About returns the engine's About and adds what reading in a separate process costs.
func (r *Reader) About(ctx context.Context) (engine.About, error) {
	last, err := r.call(ctx, &request{Op: opAbout}, nil)
	if last.About.Settings != nil {
		last.About.Settings["process"] = r.Cost()
	}
	return last.About, err
}

// Open opens the archive of a design.
func (r *Reader) Open(ctx context.Context, n design.Name) (archive.Archive, error) {
	if _, err := r.call(ctx, &request{Op: opOpen, Design: n}, nil); err != nil {
		return nil, err
	}
	return &openArchive{r, n}, nil
}

// openArchive implements the read operations of archive.Archive.
type openArchive struct {
	*Reader
	design design.Name
}

// Loader returns an error, because the process only reads.
func (a *openArchive) Loader(context.Context, string) (archive.Loader, error) {
	return nil, fmt.Errorf("%s: %w", a.o.Path, engine.ErrReadOnly)
}

// Marks lists the completely loaded files.
func (a *openArchive) Marks(ctx context.Context, subset string) ([]archive.Mark, error) {
	last, err := a.call(ctx, &request{Op: opMarks, Design: a.design, Subset: subset}, nil)
	return last.Marks, err
}

// Catalog returns the subset's metadata.
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
	return append([]string{}, last.Names...), err
}

// Contents counts the records and objects of a subset.
func (a *openArchive) Contents(ctx context.Context, subset string) (archive.Contents, error) {
	last, err := a.call(ctx, &request{Op: opContents, Design: a.design, Subset: subset}, nil)
	if last.Contents.Records == nil {
		last.Contents.Records = map[string]int64{}
	}
	return last.Contents, err
}

// Phrase writes a question as a query of the engine.
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
		q.ServerTime = last.Query.Query.ServerTime
	}
	return err
}

// Explain returns how the engine executes a query.
func (a *openArchive) Explain(ctx context.Context, q *archive.Query) (archive.Plan, error) {
	w, err := newWireQuery(q)
	if err != nil {
		return archive.Plan{}, err
	}
	last, err := a.call(ctx, &request{Op: opExplain, Design: a.design, Query: w}, nil)
	return last.Plan, err
}

// Dump yields every record.
func (a *openArchive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return a.batches(ctx, &request{Op: opDump, Design: a.design, Subset: subset})
}

// Salvage reads the tables by ranges of row numbers. It halves each range that crashes the
// process or cannot be read.
func (a *openArchive) Salvage(ctx context.Context, subset string, lost func(archive.Loss)) iter.Seq2[*record.Batch, error] {
	return archive.SalvageSubset(ctx, a, subset, lost)
}

// RowRanges returns the ranges of rows of the tables of a subset.
func (a *openArchive) RowRanges(ctx context.Context, subset string) ([]archive.RowRange, error) {
	last, err := a.call(ctx, &request{Op: opRanges, Design: a.design, Subset: subset}, nil)
	return last.Ranges, err
}

// DumpRows yields the records of a range of rows.
func (a *openArchive) DumpRows(ctx context.Context, subset string, r archive.RowRange) iter.Seq2[*record.Batch, error] {
	return a.batches(ctx, &request{Op: opRows, Design: a.design, Subset: subset, Rows: r})
}

// batches yields the batches that a request returns.
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

// Size returns the archive's size on disk.
func (a *openArchive) Size(ctx context.Context) (int64, error) {
	last, err := a.call(ctx, &request{Op: opSize, Design: a.design}, nil)
	return last.Size, err
}

// Check checks the structures below the records.
func (a *openArchive) Check(ctx context.Context, _ string) ([]string, error) {
	if a.o.Check == nil {
		return nil, nil
	}
	return a.o.Check(ctx)
}

// Close leaves the process running; Reader.Close ends it.
func (a *openArchive) Close() error { return nil }
