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
	"net/url"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/record"
)

// envArchive is the environment variable that names the archive that a child must read.
const envArchive = "BAROGRAPH_READER"

// order is the value of envArchive.
type order struct {
	URL     string `json:"url"`
	Threads int    `json:"threads"`
	Memory  int64  `json:"memory"` // bytes that the process may have; 0 = no limit
}

// Exit statuses of a child.
const (
	overMemory = 86
	noSocket   = 87
)

// IsChild reports whether this process is a child that serves an engine of this scheme. If
// so, the engine's package must call Child before it does anything else.
func IsChild(scheme string) bool {
	var o order
	if json.Unmarshal([]byte(os.Getenv(envArchive)), &o) != nil {
		return false
	}
	u, err := url.Parse(o.URL)
	return err == nil && u.Scheme == scheme
}

// Child serves one archive to its parent process until standard input ends. It does not
// return.
func Child(open func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error)) {
	// The parent handles ^C: it ends this process or cancels the call. If SIGXFSZ is ignored, a write beyond the limit of
	// file sizes is an error and does not end the process.
	signal.Ignore(os.Interrupt, syscall.SIGXFSZ)
	c := &child{archives: map[design.Name]archive.Archive{}}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		time.AfterFunc(patience, func() { os.Exit(0) }) //nolint:forbidigo // the archive is only read
		if e := c.open.Load(); e != nil {
			_ = e.Close() // removes spilled data
		}
		os.Exit(0) //nolint:forbidigo // as above
	}()
	fmt.Fprintln(os.Stderr, c.serve(open))
	os.Exit(noSocket) //nolint:forbidigo // this process must not become Barograph
}

// serve answers calls until the socket fails.
func (c *child) serve(open func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error)) error {
	var o order
	l, err := net.FileListener(os.NewFile(3, "socket"))
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(os.Getenv(envArchive)), &o); err != nil {
		return err
	}
	if o.Memory > 0 {
		watchMemory(o.Memory)
	}
	u, err := url.Parse(o.URL)
	if err == nil {
		c.engine, err = open(context.Background(), u, engine.Options{ReadOnly: true, InProcess: true, Threads: o.Threads})
	}
	if c.openErr = err; err == nil {
		c.open.Store(c.engine)
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go c.connection(conn)
	}
}

// memoryEvery is the interval at which a child measures its memory.
const memoryEvery = 50 * time.Millisecond

// watchMemory exits if this process uses more memory than limit. It measures immediately, and continues after an error,
// for example if too many files are open.
func watchMemory(limit int64) {
	self := process.Process{Pid: int32(os.Getpid())} //nolint:gosec // a pid fits
	look := func() {
		if info, err := self.MemoryInfo(); err == nil && info.RSS > uint64(limit) { //nolint:gosec // positive
			os.Exit(overMemory) //nolint:forbidigo // the parent reports it
		}
	}
	look()
	go func() {
		for ; ; look() {
			time.Sleep(memoryEvery)
		}
	}()
}

// child is the archive that this process serves.
type child struct {
	engine  *engine.Engine
	open    atomic.Pointer[engine.Engine] // the open engine, for the goroutine that closes it
	openErr error                         // the error of opening it

	mu       sync.Mutex
	archives map[design.Name]archive.Archive
}

// connection answers the calls of one connection, one after another. When the parent
// closes its side, the call in flight is canceled.
func (c *child) connection(conn net.Conn) {
	defer conn.Close() //nolint:errcheck // the parent notices the end of the connection
	in, out := bufio.NewReader(conn), bufio.NewWriterSize(conn, 1<<16)
	from, to := gob.NewDecoder(in), gob.NewEncoder(out)
	for {
		var r request
		if err := from.Decode(&r); err != nil {
			return
		}
		ctx, cancel := context.WithCancel(context.Background())
		next := make(chan error, 1)
		go func() {
			_, err := in.Peek(1)
			if err != nil {
				cancel()
			}
			next <- err
		}()
		last := reply{}
		err := c.call(ctx, &r, &last, func(chunk []byte) error { return to.Encode(reply{Chunk: chunk}) })
		if err != nil {
			last = reply{Err: newWireError(err)}
		}
		last.Last = true
		if err = to.Encode(&last); err == nil {
			err = out.Flush()
		}
		if err == nil {
			err = <-next
		}
		cancel()
		if err != nil {
			return
		}
	}
}

// archive opens the archive of a design once and keeps it open.
func (c *child) archive(ctx context.Context, n design.Name) (archive.Archive, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.archives[n]; a != nil {
		return a, nil
	}
	a, err := archive.DatabaseOf(c.engine).Open(ctx, n)
	if err == nil {
		c.archives[n] = a
	}
	return a, err
}

// chunkRows is the greatest number of rows of an answer in one chunk.
const chunkRows = 1 << 16

// call runs an operation.
func (c *child) call(ctx context.Context, r *request, out *reply, chunk func([]byte) error) (err error) {
	if c.openErr != nil {
		return c.openErr
	}
	if r.Op == opAbout {
		out.About, err = c.engine.About(ctx)
		return err
	}
	a, err := c.archive(ctx, r.Design)
	if err != nil {
		return err
	}
	var q *archive.Query
	if r.Query != nil {
		if q, err = r.Query.query(nil); err != nil {
			return err
		}
	}
	switch r.Op {
	case opOpen:
	case opMarks:
		out.Marks, err = a.Marks(ctx, r.Subset)
	case opCatalog:
		var catalog *design.Catalog
		if catalog, err = a.Catalog(ctx, r.Subset); err == nil {
			out.Catalog = catalog.ParsedText()
		}
	case opSubsets:
		out.Names, err = a.Subsets(ctx)
	case opContents:
		out.Contents, err = a.Contents(ctx, r.Subset)
	case opPhrase:
		var put *archive.Query
		if put, err = a.Phrase(ctx, q.Question, r.Flavour); err == nil {
			out.Query, err = newWireQuery(put)
		}
	case opAsk:
		var b answer.Builder
		var e encoder
		err = a.Ask(ctx, q, &b)
		for from := 0; from < b.Rows && err == nil; from += chunkRows {
			e.buf = e.buf[:0]
			e.rows(&b.Answer, from, min(from+chunkRows, b.Rows))
			err = chunk(e.buf)
		}
		out.Query = &wireQuery{Query: archive.Query{ServerTime: q.ServerTime}}
	case opExplain:
		out.Plan, err = a.Explain(ctx, q)
	case opDump:
		return sendBatches(a.Dump(ctx, r.Subset), chunk)
	case opRanges, opRows:
		rows, can := a.(archive.RowReader)
		switch {
		case !can:
			return errors.ErrUnsupported
		case r.Op == opRows:
			return sendBatches(rows.DumpRows(ctx, r.Subset, r.Rows), chunk)
		}
		out.Ranges, err = rows.RowRanges(ctx, r.Subset)
	case opSize:
		out.Size, err = a.Size(ctx)
	default:
		err = &fault.Error{Setting: "operation " + string(r.Op), Problem: "is unknown"}
	}
	return err
}

// sendBatches sends the batches of a dump as chunks.
func sendBatches(dump iter.Seq2[*record.Batch, error], chunk func([]byte) error) error {
	var e encoder
	for b, err := range dump {
		if err != nil {
			return err
		}
		e.buf = e.buf[:0]
		e.batch(b)
		if err := chunk(e.buf); err != nil {
			return err
		}
	}
	return nil
}
