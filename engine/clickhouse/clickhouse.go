package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
)

// params are the parameters of the URL. They have ClickHouse's own names.
var params = []engine.Param{ //nolint:gochecknoglobals // a constant table
	{Name: "max_threads", Help: "threads that a statement may use; as many as there are cores by default"},
	{Name: "max_memory_usage", Help: "bytes of memory that a statement may use; no limit by default"},
}

// sessionStatements start each session.
var sessionStatements = []string{ //nolint:gochecknoglobals // a constant table
	"CREATE DATABASE IF NOT EXISTS " + databaseName,
	"USE " + databaseName,
	"SET max_query_size = 1000000000, max_ast_elements = 10000000, max_expanded_ast_elements = 10000000, " +
		"mutations_sync = 2, output_format_json_skip_null_value_in_named_tuples = 1",
}

const databaseName = "barograph"

// Driver describes the engine.
func Driver() engine.Driver {
	return engine.Driver{
		Scheme:  "clickhouse",
		Licence: "Apache-2.0",
		Summary: "ClickHouse, a columnar database in a folder, with chDB's library in a separate process",
		Example: "clickhouse:folder",
		Params:  params,
		Offers:  append([]any{archive.SQLOffer(design.Normalized, design.Document, design.Wide)}, offers()...),
		Place:   engine.Embedded,
		Library: &engine.Library{Artifacts: []launch.Artifact{artifact()}, Find: checkInstalled},
		Recognizes: func(path string, _ []byte) bool {
			_, err := os.Stat(filepath.Join(path, "metadata", databaseName+".sql"))
			return err == nil
		},
		Open: open,
	}
}

// database is an open folder.
type database struct {
	*pool
	process  *process
	path     string
	readOnly bool
	unlock   func() error // releases the lock of a folder that is open for reading

	publishLock sync.RWMutex // a commit locks it while it replaces tables, a statement read-locks it while it starts
	mu          sync.Mutex
	loading     map[string]bool // locked subsets, see lockSubset
	unpublished sync.Map        // error of publishCopies, by subsetValues; nothing may change the copies any more
}

func open(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path := engine.Path(u)
	if path == "" || u.Host != "" {
		return nil, fault.Misuse("clickhouse URL", "names no folder; servers are not supported", "write clickhouse:folder")
	}
	if err := checkInstalled(); err != nil {
		return nil, err
	}
	path, err := filepath.Abs(path) // the library would resolve a relative path itself
	switch {
	case err != nil:
	case o.ReadOnly:
		_, err = os.Stat(filepath.Join(path, "metadata", databaseName+".sql"))
	default:
		err = os.MkdirAll(path, 0o755)
	}
	if err != nil {
		return nil, openError(path, err)
	}
	d := &database{path: path, readOnly: o.ReadOnly, loading: map[string]bool{}, unlock: func() error { return nil }}
	var h *process // it runs the library
	err = retryLocked(func() (err error) {
		h, err = startHost(ctx, func(dir string) ([]string, error) { return d.arguments(dir, u, o) })
		return err
	})
	if err != nil {
		err = openError(path, err)
		if damage := d.checkDigests(); fault.Code(damage) == fault.Differs { // the damage is the cause
			err = damage
		} else if strings.Contains(err.Error(), cannotLock) {
			err = engine.LockedError(path, errors.New("ClickHouse cannot lock the folder"))
		}
		return nil, errors.Join(err, d.unlock())
	}
	d.pool, d.process = h.pool, h
	stop := func() error { return errors.Join(h.close(), d.unlock()) }
	location, err := engine.NewLocation(path)
	if err = errors.Join(err, d.checkAndRemoveDigests()); err == nil {
		err = d.recover(ctx)
	}
	if err != nil {
		return nil, errors.Join(d.describeError(err), stop())
	}
	closeArchive := func() error {
		if location.CheckReplaced() != nil { // without the process, writeDigests writes nothing into another archive
			h.Kill()
		}
		d.writeDigests(context.WithoutCancel(ctx))
		return stop()
	}
	abilities, processes := append([]any{d}, d.abilities()...), []int32{int32(h.PID())} //nolint:gosec // a pid fits
	return &engine.Engine{Abilities: abilities, About: d.about, Processes: processes, Close: closeArchive}, nil
}

// cannotLock is in the error of the library, and in that of readOnlyFolder, if another process has locked the folder.
const cannotLock = "Cannot lock file"

// retryLocked calls start again while the folder is locked, because the process of a killed program exits a moment
// later than the program.
func retryLocked(start func() error) (err error) {
	for try := range 4 {
		time.Sleep(time.Duration(try) * 100 * time.Millisecond)
		if err = start(); err == nil || !strings.Contains(err.Error(), cannotLock) {
			break
		}
	}
	return err
}

// arguments returns the library's arguments, and writes its configuration into dir.
func (d *database) arguments(dir string, u *url.URL, o engine.Options) ([]string, error) {
	path, config := d.path, writeConfig
	if o.ReadOnly {
		var err error
		if path, err = d.readOnlyFolder(dir); err != nil {
			return nil, err
		}
		config = readConfig
	}
	file, err := writeConfigFile(dir, config)
	out := []string{"--path=" + path, file}
	if o.Threads > 0 {
		out = append(out, "--max_threads="+strconv.Itoa(o.Threads))
	}
	for _, p := range params {
		if v := u.Query().Get(p.Name); v != "" {
			out = append(out, "--"+p.Name+"="+v)
		}
	}
	return out, err
}

// writeConfigFile writes the library's configuration into dir and returns the argument that names the file.
func writeConfigFile(dir, config string) (argument string, err error) {
	file := filepath.Join(dir, "config.xml")
	return "--config-file=" + file, os.WriteFile(file, []byte("<clickhouse>"+config+"</clickhouse>"), 0o600)
}

// writeConfig is the library's configuration for an archive that is open for writing, readConfig for one that is open
// for reading. With readConfig the library merges and removes nothing. With both an unreadable part is an error; by
// default ClickHouse would detach up to a hundred parts of a table.
const (
	writeConfig = "<database_atomic_delay_before_drop_table_sec>0</database_atomic_delay_before_drop_table_sec>" +
		"<merge_tree><old_parts_lifetime>10</old_parts_lifetime>" + refuseBrokenParts + "</merge_tree>"
	readConfig = "<merge_tree><old_parts_lifetime>1000000000</old_parts_lifetime>" +
		"<temporary_directories_lifetime>1000000000</temporary_directories_lifetime>" +
		"<max_bytes_to_merge_at_max_space_in_pool>1</max_bytes_to_merge_at_max_space_in_pool>" +
		"<max_bytes_to_merge_at_min_space_in_pool>1</max_bytes_to_merge_at_min_space_in_pool>" + refuseBrokenParts + "</merge_tree>"
	refuseBrokenParts = "<max_suspicious_broken_parts>0</max_suspicious_broken_parts>" +
		"<max_suspicious_broken_parts_bytes>0</max_suspicious_broken_parts_bytes>"
)

// readOnlyFolder creates a folder in dir that the library opens instead of the archive's, because it writes into the
// folder that it opens. A link leads to the archive's tables. A shared lock keeps other processes from opening the
// archive for writing meanwhile.
func (d *database) readOnlyFolder(dir string) (string, error) {
	f, err := os.Open(filepath.Join(d.path, "status"))
	if err == nil {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); err != nil {
			return "", errors.Join(fmt.Errorf("%s %s: %w", cannotLock, f.Name(), err), f.Close())
		}
		d.unlock = f.Close
	} else if !errors.Is(err, fs.ErrNotExist) { // without this file, no process writes
		return "", err
	}
	store, err := filepath.Abs(filepath.Join(d.path, "store"))
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "archive")
	if err := os.MkdirAll(filepath.Join(path, "metadata"), 0o700); err != nil {
		return "", err
	}
	sql := filepath.Join("metadata", databaseName+".sql")
	text, err := os.ReadFile(filepath.Join(d.path, sql))
	if err != nil {
		return "", err
	}
	return path, errors.Join(os.WriteFile(filepath.Join(path, sql), text, 0o600), os.Symlink(store, filepath.Join(path, "store")))
}

// openError returns the error of a folder that cannot be opened.
func openError(path string, err error) error {
	return engine.FileError(path, "cannot be opened", err, "name a folder of ClickHouse, or a new folder, that no other process has open")
}

// damageNames matches the names of ClickHouse's errors for files that are damaged or in the wrong place. A lack of
// memory, threads, open files or space has other names, such as CANNOT_ALLOCATE_MEMORY.
var damageNames = regexp.MustCompile(`\((CANNOT_(READ_\w+|PARSE_\w+|DECOMPRESS|CONVERT_TYPE|SEEK_THROUGH_FILE)|` +
	`CHECKSUM_\w+|CORRUPTED_DATA|INCORRECT_\w+|UNKNOWN_(CODEC|FORMAT_VERSION)|SIZES_OF_\w+|\w+_DOESNT_MATCH|` +
	`\w*DATA_PARTS?\w*|\w+_END_OF_FILE|\w+_AFTER_EOF|NO_SUCH_COLUMN_IN_TABLE|NOT_FOUND_COLUMN_IN_BLOCK|LOGICAL_ERROR)\)`)

// describeError adds place and cure to an error if the disk is full or a file is damaged. If a process that only reads
// the archive crashes, describeError reports a damaged file, because that is the usual cause.
func (d *database) describeError(err error) error {
	switch text := err.Error(); {
	case errors.Is(err, syscall.ENOSPC) || strings.Contains(text, "No space left on device") || strings.Contains(text, "NOT_ENOUGH_SPACE"):
		return engine.DiskFullError(d.path, err)
	case damageNames.MatchString(text):
		return engine.DamagedError(d.path, err)
	case d.readOnly && errors.Is(err, engine.ErrUnreachable) && d.process.Crash() != "":
		// The connection failed because the process crashed after it had answered; the engine is not unreachable.
		return engine.DamagedError(d.path, errors.New("the process that read it crashed: "+d.process.Crash()))
	}
	return err
}

func (d *database) about(ctx context.Context) (engine.About, error) {
	a := engine.About{Product: "ClickHouse", Acknowledged: "on disk: flushed, each commit"}
	a.Settings = map[string]string{"library": libraryName}
	version, err := sqlengine.QueryTexts(ctx, d, "SELECT version()")
	if err != nil {
		return a, err
	}
	a.Version = version[0]
	text := "SELECT name, value FROM system.settings WHERE name IN ('max_threads', 'max_memory_usage', 'join_algorithm')"
	return a, d.Rows(ctx, text, nil, func(row []any) error {
		var name, value string
		err := sqlengine.Scan(row, &name, &value)
		a.Settings[name] = value
		return err
	})
}

// Rows passes each row to f. No commit replaces tables while the statement starts.
func (d *database) Rows(ctx context.Context, text string, args []any, f func(row []any) error) error {
	d.publishLock.RLock()
	release := sync.OnceFunc(d.publishLock.RUnlock)
	defer release()
	return d.pool.Rows(ctx, text, args, func(row []any) error {
		release()
		return f(row)
	})
}
