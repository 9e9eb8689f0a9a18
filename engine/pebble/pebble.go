package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/internal/build"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
)

// Driver describes the engine: pebble:dir.
func Driver() engine.Driver {
	return engine.Driver{
		Scheme:  "pebble",
		Licence: "BSD-3-Clause",
		Summary: "Pebble, an embedded log-structured key-value store",
		Example: "pebble:archive.pebble",
		Params: []engine.Param{
			{Name: "cache", Default: "256", Help: "block cache, MiB"},
			{Name: "compression", Default: "fastest", Help: "compression of blocks: none, fastest, balanced or good"},
			{Name: "memtable", Default: "64", Help: "memory for writes before they become a table, MiB"},
		},
		Offers: append([]any{archive.Offer{
			Designs: map[design.Name][]flavour.Name{design.KeyValue: {flavour.KeysNative, flavour.EpochRange}},
		}}, offered()...),
		Place:      engine.Embedded,
		Recognizes: func(path string, _ []byte) bool { return len(lists.Files(path, "MANIFEST-*")) > 0 },
		Open:       open,
	}
}

// settings are the parameters of a URL.
type settings struct {
	cache, memtable int64 // bytes
	compression     string
	profile         func() pebble.DBCompressionSettings
}

func parse(u *url.URL) (settings, error) {
	d := Driver()
	v := d.Values(u)
	s := settings{compression: v.Given["compression"], cache: int64(v.Int("cache", 1, 1<<20)) << 20, memtable: int64(v.Int("memtable", 1, 2048)) << 20}
	s.profile = engine.Choice(v, "compression", map[string]func() pebble.DBCompressionSettings{
		"none":     func() pebble.DBCompressionSettings { return pebble.DBCompressionNone },
		"fastest":  func() pebble.DBCompressionSettings { return pebble.DBCompressionFastest },
		"balanced": func() pebble.DBCompressionSettings { return pebble.DBCompressionBalanced },
		"good":     func() pebble.DBCompressionSettings { return pebble.DBCompressionGood },
	})
	return s, v.Err
}

// store is an open folder; every archive of the engine shares it.
type store struct {
	db       *pebble.DB
	dir      string
	readOnly bool
	failure  *diskFailure
	location atomic.Pointer[engine.Location] // set after the open
	root     *os.Root                        // the folder, also after it was renamed; nil if it is in memory or read-only
	archive  archive.Archive                 // shared by all callers: it runs the commits of a subset one after the other

	mu      sync.RWMutex
	commits map[string]int64 // number of commits of each subset since the open
}

func open(_ context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
	s, err := parse(u)
	if err != nil {
		return nil, err
	}
	dir := engine.Path(u)
	if err := checkFolder(dir, o.ReadOnly); err != nil {
		return nil, err
	}
	return s.open(vfs.Default, dir, o)
}

// open opens a folder on a file system.
func (s *settings) open(disk vfs.FS, dir string, o engine.Options) (*engine.Engine, error) {
	st := &store{dir: dir, readOnly: o.ReadOnly, failure: &diskFailure{done: make(chan struct{})}, commits: map[string]int64{}}
	opts := s.options(o)
	opts.FS = vfs.OnDiskFull(folderFS{disk, o.ReadOnly, st}, func() { st.failure.block(syscall.ENOSPC) })
	opts.Logger = logger{o.Logger(), st.failure}
	opts.EventListener = &pebble.EventListener{
		// Reading damaged data returns an error. By default Pebble would panic.
		DataCorruption: func(pebble.DataCorruptionInfo) {},
		// Pebble retries a failed flush at once and forever, and writers wait for it.
		BackgroundError: st.failure.onBackgroundError,
	}
	var err error
	st.db, err = runWork(st, func() (*pebble.DB, error) { return pebble.Open(dir, opts) })
	if err != nil {
		return nil, unreachable(dir, st.explain(err))
	}
	if location, err := engine.NewLocation(dir); err == nil { // a test's folder is in memory
		st.location.Store(&location)
	}
	shared := docengine.New(docStore{store: st}, docengine.Options{Design: design.KeyValue, Shown: dir, ReadOnly: o.ReadOnly})
	st.archive = archive.WrapErrors(&openArchive{shared, st}, st.explain)
	return &engine.Engine{
		Abilities: append([]any{st}, st.abilities()...),
		Metrics:   st.metrics,
		About:     func(context.Context) (engine.About, error) { return s.about(), nil },
		Close:     func() error { return st.write(st.db.Close) },
	}, nil
}

// folderFS is a file system that may be read-only. Then nobody writes, and readers need no lock, which would
// require a file.
type folderFS struct {
	vfs.FS
	readOnly bool
	store    *store
}

// checkReplaced returns an error if the folder was moved or deleted, or if another folder has its name now. Otherwise
// the store would change files of that folder.
func (s *store) checkReplaced() error {
	if location := s.location.Load(); location != nil {
		return location.CheckReplaced()
	}
	return nil
}

// Create blocks its caller after the store has stopped, because a failed flush would retry forever. It stops the
// store if another folder has the name now.
func (m folderFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := m.store.checkReplaced(); err != nil {
		m.store.failure.block(err)
	}
	select {
	case <-m.store.failure.done:
		select {}
	default:
	}
	f, err := m.FS.Create(name, c)
	if err != nil && m.store.location.Load() != nil { // Pebble would panic
		m.store.failure.block(err)
	}
	return f, err
}

// ReuseForWrite renames an obsolete log; see Create.
func (m folderFS) ReuseForWrite(from, to string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if err := m.store.checkReplaced(); err != nil {
		m.store.failure.block(err)
	}
	return m.FS.ReuseForWrite(from, to, c)
}

// Remove removes an obsolete file from the folder that was opened, even if another folder has the name now: that one may
// contain a file of this name.
func (m folderFS) Remove(name string) error {
	if m.store.root != nil {
		return m.store.root.Remove(filepath.Base(name))
	}
	return m.FS.Remove(name)
}

// Lock also opens the folder for Remove: Pebble locks it before it removes files, and unlocks it after the last of them.
func (m folderFS) Lock(name string) (io.Closer, error) {
	lock, err := m.FS.Lock(name)
	if m.readOnly && errors.Is(err, syscall.EROFS) {
		return io.NopCloser(nil), nil
	}
	if err != nil || m.readOnly {
		return lock, err
	}
	if root, err := os.OpenRoot(filepath.Dir(name)); err == nil { // a test's folder is in memory
		m.store.root, lock = root, rootLock{lock, root}
	}
	return lock, nil
}

// rootLock is a lock and the locked folder.
type rootLock struct {
	io.Closer
	root *os.Root
}

// Close closes both.
func (l rootLock) Close() error { return errors.Join(l.Closer.Close(), l.root.Close()) }

// idPrefix is the prefix of every document's id; see design.AppendKey.
const idPrefix = "DD::"

// spanPolicy returns the policy of the keys from a key up to end: only payloads may be in separate files.
func spanPolicy(from []byte) (policy pebble.SpanPolicy, end []byte, err error) {
	first := []byte(idPrefix)
	switch last := prefixEnd(first); {
	case bytes.Compare(from, first) < 0:
		return pebble.SpanPolicy{ValueStoragePolicy: pebble.ValueStorageLowReadLatency}, first, nil
	case bytes.Compare(from, last) < 0:
		return pebble.SpanPolicy{DisableValueSeparationBySuffix: true}, last, nil
	}
	return pebble.SpanPolicy{ValueStoragePolicy: pebble.ValueStorageLowReadLatency}, nil, nil
}

// minSeparateBytes is the least size of a value that is stored in a separate file.
const minSeparateBytes = 128

func (s *settings) options(o engine.Options) *pebble.Options {
	opts := &pebble.Options{
		CacheSize:          s.cache,
		MemTableSize:       uint64(s.memtable),
		FormatMajorVersion: pebble.FormatNewest,
		ReadOnly:           o.ReadOnly,
	}
	// Payloads are separate from their keys. A compaction then copies only references; otherwise a few
	// incremental loads would rewrite the payloads of a year. Values that change often, such as catalogs and
	// records of other studies, are not separate.
	opts.Experimental.SpanPolicyFunc = spanPolicy
	opts.Experimental.ValueSeparationPolicy = func() pebble.ValueSeparationPolicy {
		return pebble.ValueSeparationPolicy{
			Enabled: true, MinimumSize: minSeparateBytes, MaxBlobReferenceDepth: 10,
			RewriteMinimumAge: 5 * time.Minute, TargetGarbageRatio: 0.5,
		}
	}
	opts.ApplyCompressionSettings(s.profile)
	if o.Threads > 0 {
		opts.CompactionConcurrencyRange = func() (int, int) { return 1, o.Threads }
	}
	for i := range opts.Levels {
		opts.Levels[i].FilterPolicy = bloom.FilterPolicy(10) // half of the ids in a query may not exist
		opts.Levels[i].FilterType = sstable.TableFilter
	}
	return opts
}

func (s *settings) about() engine.About {
	return engine.About{
		Product: "Pebble", Version: build.Module("github.com/cockroachdb/pebble/v2"),
		Acknowledged: "on disk: flushed, commits of one moment together",
		Settings: map[string]string{
			"cache": strconv.FormatInt(s.cache, 10), "memtable": strconv.FormatInt(s.memtable, 10), "compression": s.compression,
			"sync": "each commit", "filter": "bloom, 10 bits a key",
		},
	}
}

// checkFolder reports whether dir can be opened. It must contain a Pebble database or, if one may be created, nothing.
// Pebble itself would mix its files with others.
func checkFolder(dir string, readOnly bool) error {
	if dir == "" {
		return fault.Misuse("pebble URL", "names no folder", "write pebble:archive.pebble")
	}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, os.ErrNotExist) && !readOnly:
		return nil
	case err != nil:
		return unreachable(dir, err)
	}
	desc, err := pebble.Peek(dir, vfs.Default)
	if err != nil {
		return unreachable(dir, explain(dir, err))
	}
	if desc.Exists {
		return nil
	}
	if readOnly {
		return &fault.Error{File: dir, Problem: "contains no Pebble database", Cure: "load an archive into it first", Err: engine.ErrUnreachable}
	}
	for _, e := range entries {
		if !isPebbleFile(e.Name()) {
			return &fault.Error{
				File: dir, Problem: "contains no Pebble database but other files, e.g. " + e.Name(),
				Cure: "name a new or an empty folder", Err: engine.ErrUnreachable,
			}
		}
	}
	return nil
}

// isPebbleFile reports whether a file may come from a Pebble that crashed while it created its database.
func isPebbleFile(name string) bool {
	hasPrefix := func(p string) bool { return strings.HasPrefix(name, p) }
	return slices.ContainsFunc([]string{"LOCK", "MANIFEST-", "OPTIONS-", "marker.", "temporary."}, hasPrefix) ||
		strings.HasSuffix(name, ".log") || strings.HasSuffix(name, ".dbtmp")
}

func unreachable(dir string, err error) error {
	if fault.Code(err) == fault.Differs { // damaged
		return err
	}
	if strings.Contains(err.Error(), "lock held") || errors.Is(err, syscall.EAGAIN) {
		return engine.LockedError(dir, err)
	}
	return engine.FileError(dir, "cannot be opened", err, "name a readable and writable folder")
}

// Open returns the archive. keyvalue is the only design.
func (s *store) Open(_ context.Context, d design.Name) (archive.Archive, error) {
	if d != design.KeyValue {
		return nil, fmt.Errorf("pebble has no design %q, only %q: %w", d, design.KeyValue, engine.ErrNoDesign)
	}
	return s.archive, nil
}

// get reads one pair; ok is false if it does not exist. The value is a copy.
func (s *store) get(key []byte) (value []byte, ok bool, err error) {
	v, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return bytes.Clone(v), true, closer.Close()
}

// logger passes Pebble's messages to the program's log.
type logger struct {
	log     *slog.Logger
	failure *diskFailure
}

func (l logger) Infof(format string, args ...any) {
	l.log.Debug("pebble: " + fmt.Sprintf(format, args...))
}

func (l logger) Errorf(format string, args ...any) {
	l.log.Error("pebble: " + fmt.Sprintf(format, args...))
}

// Fatalf does not return: Pebble calls it when it cannot continue without breaking its guarantees. If args
// contain an error of writing its log or manifest, the store stops. Everything else is a fault of the program.
func (l logger) Fatalf(format string, args ...any) {
	for _, a := range args {
		if err, ok := a.(error); ok && !pebble.IsCorruptionError(err) {
			l.failure.block(err)
		}
	}
	panic("pebble cannot continue: " + fmt.Sprintf(format, args...))
}

// joinClose joins the error of a Close to err.
func joinClose(err *error, c io.Closer) { *err = errors.Join(*err, c.Close()) }

// diskFailure records that the disk cannot be written any more: it is full or broken, or its file system has become
// read-only. Pebble cannot continue then: it would end the process or retry forever. Therefore block stops every
// writing goroutine where it is. This has the effect of a kill: the archive is intact. Callers that wait for a
// blocked goroutine get an error, and the archive stays readable until it is closed.
type diskFailure struct {
	once sync.Once
	done chan struct{} // closed by record
	err  error         // the reason, valid after done is closed
}

func (s *diskFailure) record(err error) { s.once.Do(func() { s.err = err; close(s.done) }) }

// onBackgroundError records an error that a retry cannot repair.
func (s *diskFailure) onBackgroundError(err error) {
	isCause := func(lasting error) bool { return errors.Is(err, lasting) }
	if slices.ContainsFunc([]error{syscall.EROFS, syscall.EIO, syscall.EDQUOT, syscall.EFBIG}, isCause) {
		s.record(err)
	}
}

// block blocks its caller forever, after it found that the disk cannot be written.
func (s *diskFailure) block(err error) {
	s.record(err)
	select {}
}

// runWork runs work that may write. If the disk fails, runWork abandons the work. It then starts no further work,
// in particular no Close: abandoned work may still run, and Pebble panics if it finds a closed log.
func runWork[T any](s *store, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	select {
	case <-s.failure.done:
	default:
		go func() {
			v, err := work()
			done <- result{v, err}
		}()
	}
	select {
	case r := <-done:
		return r.value, r.err
	case <-s.failure.done:
		var none T
		if err := s.failure.err; errors.Is(err, engine.ErrUnreachable) {
			return none, err
		} else if !errors.Is(err, syscall.ENOSPC) {
			return none, engine.NotWritableError(s.dir, err)
		}
		return none, engine.DiskFullError(s.dir, s.failure.err)
	}
}

// write is runWork for work without a result.
func (s *store) write(work func() error) error {
	_, err := runWork(s, func() (struct{}, error) { return struct{}{}, work() })
	return err
}

// explain adds place and cure to an error of a damaged file. If the folder was moved, its files are only missing here.
func (s *store) explain(err error) error {
	err = explain(s.dir, err)
	if moved := s.checkReplaced(); moved != nil && fault.Code(err) == fault.Differs {
		return moved
	}
	return err
}

func explain(dir string, err error) error {
	if err == nil {
		return nil
	}
	switch info := pebble.ExtractDataCorruptionInfo(err); {
	case info != nil:
		return engine.DamagedError(dir, fmt.Errorf("%s: %w", filepath.Base(info.Path), info.Details))
	case pebble.IsCorruptionError(err) || errors.Is(err, docengine.ErrDamaged):
		return engine.DamagedError(dir, err)
	case errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "object size mismatch"):
		return engine.DamagedError(dir, err) // the manifest lists the file
	}
	return err
}

// metrics reads Pebble's own counts: bytes written to the log, by flushes and by compactions, and hits of the
// cache.
func (s *store) metrics(context.Context) (engine.Metrics, error) {
	m := s.db.Metrics()
	all := m.Total()
	total := func(name, unit string, value float64) engine.Total {
		return engine.Total{Name: name, Unit: unit, Value: value}
	}
	return engine.Metrics{Totals: []engine.Total{
		total("WAL.BytesIn", "bytes", float64(m.WAL.BytesIn)),
		total("WAL.BytesWritten", "bytes", float64(m.WAL.BytesWritten)),
		total("Flush.Count", "", float64(m.Flush.Count)),
		total("TableBytesFlushed", "bytes", float64(all.TableBytesFlushed)),
		total("Compact.Count", "", float64(m.Compact.Count)),
		total("Compact.Duration", "ms", float64(m.Compact.Duration.Milliseconds())),
		total("TableBytesRead", "bytes", float64(all.TableBytesRead)),
		total("TableBytesCompacted", "bytes", float64(all.TableBytesCompacted)),
		total("BlockCache.Hits", "", float64(m.BlockCache.Hits)),
		total("BlockCache.Misses", "", float64(m.BlockCache.Misses)),
	}}, nil
}
