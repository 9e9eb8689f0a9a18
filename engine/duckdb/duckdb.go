package duckdb

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/flavour"
)

// memoryPath is the path of a database in memory, which Close discards.
const memoryPath = ":memory:"

// storageVersion is the format of new files. Since v1.3.0 DuckDB has a compression of text that
// costs about half the time; v1.4 is the version with long-term support.
const storageVersion = "v1.4.0"

const scheme = "duckdb"

// params are the parameters of the URL. All but deadline have DuckDB's own names.
var params = []engine.Param{ //nolint:gochecknoglobals // a constant table
	{Name: "threads", Help: "threads that a statement may use; as many as there are cores by default"},
	{Name: "memory_limit", Help: "memory that DuckDB may use, e.g. 4GB; 80 % of the machine's by default, and " + loadMemory + " in a load"},
	{Name: "checkpoint_threshold", Default: "16MB", Help: "size at which the log is written into the file"},
	{Name: "storage_compatibility_version", Default: storageVersion, Help: "oldest DuckDB that must be able to read a new file; v1.2.0 and before load slower"},
	{Name: "deadline", Default: "10m", Help: "longest silence of the process that reads an archive; after it the process is killed"},
	{Name: "temp_directory", Help: "folder for data that exceed the memory limit; next to the file by default"},
}

// Driver describes DuckDB.
func Driver() engine.Driver {
	return engine.Driver{
		Scheme:     scheme,
		Licence:    "MIT",
		Summary:    "DuckDB, a columnar database in one file, inside Barograph's process",
		Example:    "duckdb:archive.db",
		Params:     params,
		Offers:     append([]any{archive.SQLOffer(design.Normalized, design.Document, design.Wide)}, offered()...),
		Place:      engine.Embedded,
		Library:    &engine.Library{Optional: true, Artifacts: []launch.Artifact{httpfs()}, Find: func() error { _, err := extension(); return err }},
		Recognizes: func(_ string, head []byte) bool { return len(head) > 12 && string(head[8:12]) == "DUCK" },
		Open:       open,
	}
}

func open(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path := engine.Path(u)
	settings := map[string]string{
		"autoinstall_known_extensions": "false", // DuckDB must not download anything
		"autoload_known_extensions":    "false",
		"access_mode":                  "READ_WRITE",

		"storage_compatibility_version": storageVersion,
	}
	if o.ReadOnly {
		settings["access_mode"] = "READ_ONLY"
	}
	if o.Threads > 0 {
		settings["threads"] = strconv.Itoa(o.Threads)
	}
	for _, p := range params {
		if v := u.Query().Get(p.Name); v != "" && p.Name != "deadline" {
			settings[p.Name] = v
		}
	}
	file, err := place(path, o.ReadOnly)
	if err != nil {
		return nil, err
	}
	if o.ReadOnly && !o.InProcess {
		return reader(ctx, u, o, file)
	}
	if file != "" && !o.ReadOnly {
		if err := create(file, settings); errors.Is(err, engine.ErrUnreachable) {
			return nil, err
		} else if err != nil {
			return nil, unreachable(path, err)
		}
	}
	db, err := openDatabase(file, settings)
	if err != nil {
		return nil, unreachable(path, err)
	}
	db.readOnly, db.bounded = o.ReadOnly, file != "" && settings["memory_limit"] == ""
	if err := db.identify(ctx); err != nil {
		db.close()
		return nil, unreachable(path, err)
	}
	return &engine.Engine{
		Abilities: append([]any{archives{db}}, db.abilities(file, settings)...),
		About:     db.about,
		Close: func() error {
			db.close()
			return nil
		},
	}, nil
}

// place checks the path and creates its folder. It returns "" for a database in memory.
func place(path string, readOnly bool) (file string, err error) {
	switch {
	case path == "":
		return "", fault.Misuse("duckdb URL", "names no file", "write duckdb:archive.db, or duckdb::memory: for an archive in memory")
	case path == memoryPath && readOnly:
		return "", &fault.Error{Setting: "duckdb::memory:", Problem: "is empty and read-only", Err: engine.ErrReadOnly, Cure: "name a file"}
	case path == memoryPath:
		return "", nil
	case strings.Contains(path, "?"): // DuckDB would end the name of the log there
		return "", fault.Misuse(path, "has a question mark, which DuckDB does not accept", "use another name")
	case readOnly:
		if _, err := os.Stat(path); err != nil {
			return "", unreachable(path, err)
		}
		return path, nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", unreachable(path, err)
	}
	return path, nil
}

func unreachable(path string, err error) error {
	switch text := err.Error(); {
	case isDamage(text) || strings.Contains(text, "not a valid DuckDB database file") && hasHeader(path):
		return engine.DamagedError(path, err)
	case strings.Contains(text, "WAL does not match database file"):
		return engine.StaleLogError(path+".wal", path)
	case strings.Contains(text, "Could not set lock on file"):
		return engine.LockedError(path, errors.New("DuckDB cannot lock the file"))
	}
	return engine.FileError(path, "cannot be opened", err, "name a DuckDB file, or a new file in a writable folder, that no other process has open")
}

// explain adds place and cure to an error if the disk is full or the file is damaged.
func (db *database) explain(err error) error {
	switch text := err.Error(); {
	case strings.Contains(text, "No space left on device") || strings.Contains(text, "out of disk space"):
		return engine.DiskFullError(db.path, err)
	case strings.Contains(text, "Out of Memory Error"): // the advice after its first line is for DuckDB's own shell
		text, _, _ = strings.Cut(text, "\n")
		return &fault.Error{File: db.path, Err: errors.New(text), Cure: "raise the limit with the parameter memory_limit of the URL, for example memory_limit=4GB"}
	case isDamage(text):
		return engine.DamagedError(db.path, err)
	}
	return err
}

// damaged matches DuckDB's errors about a file whose content has changed.
var damaged = regexp.MustCompile(`(?i)corrupt|FATAL Error|INTERNAL Error|Serialization Error|database has been invalidated|Failed to deserialize|is out of range of the file`)

// quoted matches names in DuckDB's errors, for example the path of a file in a folder called "corrupt".
var quoted = regexp.MustCompile(`"[^"]*"`)

func isDamage(text string) bool { return damaged.MatchString(quoted.ReplaceAllString(text, "")) }

// identify finds DuckDB's name of the file.
func (db *database) identify(ctx context.Context) error {
	name, err := sqlengine.QueryTexts(ctx, pool{db}, "SELECT current_database()")
	db.alias = strings.Join(name, "")
	return err
}

// about returns the version and the settings.
func (db *database) about(ctx context.Context) (engine.About, error) {
	a := engine.About{Product: "DuckDB", Version: strings.TrimPrefix(mapping.LibraryVersion(), "v"), Acknowledged: "on disk: flushed, each commit", Settings: map[string]string{}}
	for _, name := range []string{"threads", "memory_limit", "checkpoint_threshold", "storage_compatibility_version", "access_mode"} {
		value, err := sqlengine.QueryTexts(ctx, pool{db}, "SELECT current_setting("+flavour.Quote(name)+")::VARCHAR")
		if err != nil {
			return a, err
		}
		a.Settings[name] = strings.Join(value, "")
	}
	return a, nil
}

// archives opens the archives of a file.
type archives struct{ db *database }

// Open opens the archive of a design.
func (as archives) Open(ctx context.Context, d design.Name) (archive.Archive, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := sqlengine.CheckOffered(Driver(), d); err != nil {
		return nil, err
	}
	if err := as.db.seal(ctx); err != nil {
		return nil, as.db.explain(err)
	}
	return archive.WrapErrors(newArchive(as.db, d), as.db.explain), nil
}

const (
	asideMark = ".new-"     // between an archive's name and a random number: the folder of a new archive
	asideName = "made.db"   // the beginning of the names in that folder: the new archive, its log and its spilled data
	asideLife = time.Minute // creation takes some hundredths of a second; older folders are from killed processes
)

// create creates an empty database if the file does not exist. DuckDB writes a new file in several
// steps and refuses a file that a kill left incomplete. Therefore create makes the file in another
// folder and links it to its name when it is complete.
func create(path string, settings map[string]string) error {
	sweep(path)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Lstat(path + ".wal"); err == nil {
		return engine.StaleLogError(path+".wal", path)
	}
	aside, err := os.MkdirTemp(filepath.Dir(path), filepath.Base(path)+asideMark)
	if err != nil {
		return err
	}
	defer os.RemoveAll(aside) //nolint:errcheck // a later sweep also removes it
	settings = maps.Clone(settings)
	settings["threads"] = "1" // starts fastest
	newFile := filepath.Join(aside, asideName)
	db, err := openDatabase(newFile, settings)
	if err != nil {
		return err
	}
	db.close()
	// Link, because a rename would replace a file that another process has created meanwhile.
	// That file is as good.
	switch err := os.Link(newFile, path); {
	case err == nil || errors.Is(err, fs.ErrExist):
		return nil
	case !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrPermission):
		return err
	}
	return os.Rename(newFile, path) // for file systems without links
}

// sweep removes the folders in which killed processes were creating the archive. It keeps a user's file or folder with
// such a name, for example a backup.
func sweep(path string) {
	entries, _ := os.ReadDir(filepath.Dir(path)) // opening the file reports an unreadable folder
	isForeign := func(e fs.DirEntry) bool { return !strings.HasPrefix(e.Name(), asideName) }
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || !strings.HasPrefix(e.Name(), filepath.Base(path)+asideMark) || time.Since(info.ModTime()) <= asideLife {
			continue
		}
		folder := filepath.Join(filepath.Dir(path), e.Name())
		if files, err := os.ReadDir(folder); err == nil && !slices.ContainsFunc(files, isForeign) {
			_ = os.RemoveAll(folder) // the next sweep tries again
		}
	}
}
