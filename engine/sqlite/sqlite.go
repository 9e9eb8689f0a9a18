package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
)

// Driver describes the engine.
func Driver() engine.Driver {
	return engine.Driver{
		Scheme:  "sqlite",
		Licence: "public domain",
		Summary: "SQLite, a database in one file, in Barograph's own process",
		Example: "sqlite:archive.db",
		Params: []engine.Param{
			{Name: "cache", Default: strconv.Itoa(cacheMiB), Help: "page cache of a connection, MiB"},
		},
		Offers:     append([]any{archive.SQLOffer(design.Normalized, design.Document)}, offered()...),
		Place:      engine.Embedded,
		Recognizes: func(_ string, head []byte) bool { return strings.HasPrefix(string(head), "SQLite format 3") },
		Open:       open,
	}
}

// The settings of every connection; docs/decisions/0003-sqlite-driver.md contains measurements.
const (
	cacheMiB    = 64   // page cache of a connection, MiB
	pageBytes   = 8192 // page size of a new file; 4096 and 16384 were neither faster nor slower
	busySeconds = 60   // how long a commit waits for a commit of another process

	idleConnections = 16 // kept open, with their page caches
)

// database is an open file.
type database struct {
	writing  sync.Mutex // locked by a writer of records or posts; others wait here, not in SQLite
	path     string
	readOnly bool
	sealed   bool // no statement can attach another file, because users write the statements
	cache    int  // MiB
	log      *slog.Logger
	pool     *sql.DB    // for everything except loads
	loading  sync.Mutex // locked by the one loader
}

func open(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
	driver := Driver()
	v := driver.Values(u)
	d := &database{path: engine.Path(u), readOnly: o.ReadOnly, cache: v.Int("cache", 1, math.MaxInt32), log: o.Logger()}
	if v.Err != nil {
		return nil, v.Err
	}
	if err := d.place(); err != nil {
		return nil, err
	}
	d.pool = sql.OpenDB(d)
	d.pool.SetMaxIdleConns(idleConnections)
	var n int
	if err := d.pool.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n); err != nil {
		d.pool.Close() //nolint:errcheck // the first error is more specific
		if e := d.explain(err); fault.Code(e) == fault.Differs && isSQLite(d.path) {
			return nil, e
		}
		return nil, d.unreachable("cannot be opened", err, "name an archive that Barograph has loaded, or a new file in a writable folder")
	}
	return &engine.Engine{Abilities: append([]any{d}, d.abilities()...), About: d.about, Close: d.pool.Close}, nil
}

// isSQLite reports whether a file without SQLite's header was SQLite's: its header differs in a few bytes, or
// the file consists of pages and begins with a page from another place.
func isSQLite(path string) bool {
	const magic = "SQLite format 3\x00"
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // it is only read
	head := make([]byte, len(magic))
	info, err := f.Stat()
	if err == nil {
		_, err = io.ReadFull(f, head)
	}
	same := 0
	for i := range head {
		if head[i] == magic[i] {
			same++
		}
	}
	// The first byte of a page is its kind; in an overflow page it is part of a page number.
	return err == nil && (same > len(magic)-4 || info.Size()%pageBytes == 0 && strings.IndexByte("\x00\x02\x05\x0a\x0d", head[0]) >= 0)
}

// place checks the path and creates its folder.
func (d *database) place() error {
	if d.path == "" || strings.HasPrefix(d.path, ":") || strings.ContainsRune(d.path, 0) {
		return fault.Misuse("sqlite URL", "names no file", "write sqlite:archive.db")
	}
	info, err := os.Stat(d.path)
	if log, e := os.Stat(d.path + "-wal"); e == nil && log.Size() > 0 && (err != nil || info.Size() == 0) { // SQLite would delete the log
		return engine.StaleLogError(d.path+"-wal", d.path)
	}
	switch {
	case err == nil && info.IsDir():
		return d.unreachable("is a folder", nil, "name a file in it, e.g. sqlite:"+filepath.Join(d.path, "archive.db"))
	case err == nil && d.readOnly:
		return nil
	case err == nil:
		if err := writable(d.path); err != nil { // SQLite would open it read-only and fail at the first commit
			return d.unreachable("cannot be written", err, "copy it to a writable folder, or name another file")
		}
		return nil
	case d.readOnly:
		return d.unreachable("cannot be read", err, "check the path; a read-only archive is never created")
	case !errors.Is(err, os.ErrNotExist):
		return d.unreachable("cannot be reached", err, "name another path")
	}
	if err := os.MkdirAll(filepath.Dir(d.path), 0o755); err != nil {
		return d.unreachable("is in a folder that cannot be created", err, "name another path")
	}
	return nil
}

func (d *database) unreachable(problem string, err error, cure string) error {
	return engine.FileError(d.path, problem, err, cure)
}

// Connect makes database a driver.Connector for its pool.
func (d *database) Connect(context.Context) (driver.Conn, error) {
	return d.connect(busySeconds * time.Second)
}

// Driver is a method of driver.Connector.
func (d *database) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }

// connect opens a connection. patience is how long its statements wait for a lock.
func (d *database) connect(patience time.Duration) (*sqlite3.SQLiteConn, error) {
	mode := "rwc"
	abs, err := filepath.Abs(d.path)
	if err == nil && d.readOnly {
		mode, err = readMode(abs)
	}
	if err != nil {
		return nil, err
	}
	// Escape the path, because '?', '#' and '%' have a meaning in SQLite's URIs.
	uri := (&url.URL{Scheme: "file", Path: filepath.ToSlash(abs)}).String()
	if err := checksums(); err != nil {
		return nil, err
	}
	// _mutex=no: only one goroutine at a time uses a connection, so SQLite need not lock it in every call. Queries
	// with 28,000 rows then took 0.7 of the time.
	dc, err := d.Driver().Open(fmt.Sprintf("%s?mode=%s&vfs=%s&_mutex=no&_busy_timeout=%d", uri, mode, sumVFS, patience.Milliseconds()))
	if err != nil {
		return nil, err
	}
	c := dc.(*sqlite3.SQLiteConn)
	if err := d.configure(c); err != nil {
		c.Close() //nolint:errcheck // the first error is more specific
		return nil, err
	}
	return c, nil
}

// configure sets up a new connection.
func (d *database) configure(c *sqlite3.SQLiteConn) error {
	if err := c.SetFileControlInt("", sqlite3.SQLITE_FCNTL_RESERVE_BYTES, sumBytes); err != nil { // for a new file
		return err
	}
	attached := 0
	if !d.readOnly && !d.sealed {
		attached = 1 // VACUUM attaches its copy
	}
	c.SetLimit(sqlite3.SQLITE_LIMIT_ATTACHED, attached)
	for _, pragma := range d.pragmas() {
		if _, err := c.Exec("PRAGMA "+pragma, nil); err != nil {
			return err
		}
	}
	return c.RegisterFunc("sqrt", squareRoot, true) // SQLite has the function only if it was compiled with it
}

// readMode returns how to open a file for reading. On read-only media SQLite cannot create the files of its
// log. Nobody writes there, and SQLite does not need them unless the log still contains commits.
func readMode(path string) (string, error) {
	if !errors.Is(writable(path), syscall.EROFS) {
		return "ro", nil // also for another owner's file, which the owner may be writing
	}
	if log, err := os.Stat(path + "-wal"); err == nil && log.Size() > 0 {
		return "", &fault.Error{
			File: path, Problem: "is on read-only media, and its log contains commits that are not in the file", Err: engine.ErrUnreachable,
			Cure: "copy it and its -wal file to a writable folder, and open the copy",
		}
	}
	return "ro&immutable=1", nil
}

// squareRoot returns NULL for a negative number, like SQLite's own function: SQLite takes NaN for NULL.
func squareRoot(x any) any {
	switch v := x.(type) {
	case float64:
		return math.Sqrt(v)
	case int64:
		return math.Sqrt(float64(v))
	}
	return nil
}

// pragmas returns the settings of a connection. FULL syncs the log at every commit. NORMAL would sync it only
// at a checkpoint, and a power failure could lose a commit.
func (d *database) pragmas() []string {
	// Do not trust the file's schema: it must not call a function that has effects outside.
	p := []string{"trusted_schema=OFF", "cell_size_check=ON", fmt.Sprintf("cache_size=-%d", d.cache*1024), "temp_store=MEMORY"}
	if !d.readOnly {
		p = append(p, fmt.Sprintf("page_size=%d", pageBytes), "journal_mode=WAL", "synchronous=FULL", "wal_autocheckpoint=4000")
	}
	return p
}

func (d *database) about(ctx context.Context) (engine.About, error) {
	a := engine.About{Product: "SQLite", Settings: map[string]string{"driver": "github.com/mattn/go-sqlite3"}}
	a.Version, _, _ = sqlite3.Version()
	for _, name := range []string{"journal_mode", "synchronous", "page_size", "cache_size", "temp_store", "mmap_size"} {
		var v string
		if err := d.pool.QueryRowContext(ctx, "PRAGMA "+name).Scan(&v); err != nil {
			return a, err
		}
		a.Settings[name] = v
	}
	a.Acknowledged = map[string]string{
		"0": "given to the system, never flushed", "1": "given to the system, flushed at checkpoints",
		"2": "on disk: flushed, each commit", "3": "on disk: flushed, each commit",
	}[a.Settings["synchronous"]]
	return a, nil
}

// size returns the bytes of the file and of its log, after moving as much of the log into the file as other
// readers allow.
func (d *database) size(ctx context.Context) (int64, error) {
	if !d.readOnly {
		how := "PASSIVE" // does not wait
		if d.loading.TryLock() {
			defer d.loading.Unlock()
			how = "TRUNCATE" // waits for the writer
		}
		if _, err := d.pool.ExecContext(ctx, "PRAGMA wal_checkpoint("+how+")"); err != nil {
			return 0, engine.CallError(ctx, err)
		}
	}
	return engine.Bytes(d.path, d.path+"-wal")
}
