package clickhouse

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/formats/tpcds"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
)

// scans opens the tables of the study scan. They are in a folder of their own next to the archive's folder, with a
// process of their own, because ClickHouse reads the configuration of disks when it starts. store_sales is partitioned
// by the ticket numbers. The only part of partition i is moved to path i modulo the number of the placement's paths.
type scans struct{ *database }

// Names in the folder and on the disks.
const (
	starFolder  = "barograph-star"
	starNote    = "placement.json" // written last
	starLoading = "loading.json"   // the note while a load has not finished
	starPolicy  = "star"
)

// starTables are the tables at a placement.
type starTables struct {
	tables.Placement
	home    string
	process *process // nil until the tables are loaded
}

// Open opens the tables.
func (s scans) Open(ctx context.Context, p tables.Placement) (*tables.Star, error) {
	t := &starTables{Placement: p, home: filepath.Join(s.path, starFolder)}
	d := sqlengine.StarDialect{Table: func(name tables.StarTable) string { return string(name) }}
	out, err := sqlengine.OpenStar(ctx, &sqlengine.StarEngine{
		Location: t.home, ReadOnly: s.readOnly, Text: d.Text, Load: t.load, Size: t.size, DropCaches: t.dropCaches,
		ReadNote: func(context.Context) (string, error) { return t.note() }, Close: t.close,
		Rows: func(ctx context.Context, q tables.StarQuery, f func(row []any) error) error {
			return t.process.pool.Rows(ctx, d.Text(q), nil, f)
		},
		Plan: func(ctx context.Context, q tables.StarQuery) (string, error) {
			lines, err := sqlengine.QueryTexts(ctx, t.process.pool, "EXPLAIN indexes = 1 "+d.Text(q))
			return strings.Join(lines, "\n") + "\n", err
		},
	}, p)
	if err != nil {
		return nil, err
	}
	out.Processes = t.processes
	note, err := t.note()
	if loaded, ok := sqlengine.ParsePlacement(note); err == nil && ok && p.CheckLoaded(loaded) == nil {
		err = t.start(ctx)
	}
	return out, err
}

// note returns the placement of the loaded tables; "" = no tables are loaded.
func (t *starTables) note() (string, error) { return t.readNote(starNote) }

// readNote returns the placement in a file; "" = the file does not exist.
func (t *starTables) readNote(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(t.home, name))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return string(text), err
}

// start starts the process, with a disk for each path.
func (t *starTables) start(ctx context.Context) (err error) {
	t.process, err = startHost(ctx, func(dir string) ([]string, error) {
		disks, volume := "", ""
		for i, path := range t.Paths {
			var name strings.Builder
			if err := xml.EscapeText(&name, []byte(starFolderOn(path)+"/")); err != nil {
				return nil, err
			}
			disks += fmt.Sprintf("<d%d><path>%s</path></d%d>", i, name.String(), i)
			volume += fmt.Sprintf("<disk>d%d</disk>", i)
		}
		config := writeConfig
		if disks != "" {
			config += "<storage_configuration><disks>" + disks + "</disks><policies><" + starPolicy + "><volumes><all>" +
				volume + "</all></volumes></" + starPolicy + "></policies></storage_configuration>"
		}
		file, err := writeConfigFile(dir, config)
		return []string{"--path=" + t.home, file, "--max_threads=" + strconv.Itoa(t.Parallel())}, err
	})
	if err != nil {
		return openError(t.home, err)
	}
	return nil
}

// starFolderOn returns the folder of the tables on a path of the placement.
func starFolderOn(path string) string { return filepath.Join(path, starFolder) }

func (t *starTables) processes() []int32 {
	if t.process == nil {
		return nil
	}
	return []int32{int32(t.process.PID())} //nolint:gosec // a pid fits
}

func (t *starTables) close() error {
	if t.process == nil {
		return nil
	}
	h := t.process
	t.process = nil
	return h.close()
}

// load replaces the folder. It removes the old tables first, because the disks may not have room for two copies of the
// facts. The next load finds the paths of an interrupted one in the file loading.json.
func (t *starTables) load(ctx context.Context, files tables.StarFiles, placement string) (out tables.StarLoadResult, err error) {
	if err := t.close(); err != nil {
		return out, err
	}
	note, loading := filepath.Join(t.home, starNote), filepath.Join(t.home, starLoading)
	if err := os.Rename(note, loading); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return out, err
	}
	old, err := t.readNote(starLoading) // of complete tables, or of a load that was interrupted
	if err != nil {
		return out, err
	}
	loaded, _ := sqlengine.ParsePlacement(old)
	folders := append([]string{t.home}, lists.Map(t.Paths, starFolderOn)...)
	for _, dir := range append(lists.Map(loaded.Paths, starFolderOn), folders...) {
		if err := os.RemoveAll(dir); err != nil {
			return out, err
		}
	}
	for _, dir := range folders {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return out, &fault.Error{File: dir, Problem: "cannot be created", Err: err, Cure: "name writable folders"}
		}
	}
	if err := writeFile(loading, placement); err != nil {
		return out, err
	}
	if err := t.start(ctx); err != nil {
		return out, err
	}
	out.Rows = map[tables.StarTable]int64{}
	for _, table := range tables.StarTables() {
		if out.Rows[table], err = t.fillTable(ctx, table, files.Parquet[table]); err != nil {
			return out, err
		}
	}
	if err := t.movePartitions(ctx); err != nil {
		return out, err
	}
	return out, errors.Join(os.Rename(loading, note), syncFile(t.home))
}

// fillTable creates a table, lets ClickHouse read the files, and returns the number of rows.
func (t *starTables) fillTable(ctx context.Context, table tables.StarTable, files []string) (int64, error) {
	if len(files) == 0 {
		return 0, &fault.Error{
			Setting: string(table), Problem: "has no Parquet files", Cure: "make them with `barograph synth tpcds`",
		}
	}
	var cols []string
	order := "tuple()"
	for _, c := range tpcds.Columns(string(table)) {
		kind := [...]string{
			tpcds.Whole: "Int32", tpcds.Big: "Int64", tpcds.Decimal: "Decimal(7, 2)", tpcds.Date: "Date32",
			tpcds.Char: "String", tpcds.Varchar: "String",
		}[c.Kind]
		if !c.Key {
			kind = "Nullable(" + kind + ")"
		}
		cols = append(cols, c.Name+" "+kind)
	}
	policy := ""
	if table == tables.StoreSales {
		order = "(ss_item_sk, ss_ticket_number) PARTITION BY ss_ticket_number % " + strconv.Itoa(t.Partitions)
		if len(t.Paths) > 0 {
			policy = ", storage_policy = '" + starPolicy + "'"
		}
	}
	texts := []string{"CREATE TABLE " + string(table) + " (" + strings.Join(cols, ", ") + ") ENGINE = MergeTree ORDER BY " +
		order + " SETTINGS " + tableSettings + policy}
	dir, err := os.MkdirTemp("", "barograph-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it contains only links
	for _, file := range files {
		if file, err = literalPath(dir, file); err != nil {
			return 0, err
		}
		texts = append(texts, "INSERT INTO "+string(table)+" SETTINGS max_partitions_per_insert_block = 0 "+
			"SELECT * FROM file("+quote(file)+", Parquet)"+readerSettings)
	}
	for _, text := range append(texts, "OPTIMIZE TABLE "+string(table)+" FINAL") {
		if err := t.process.pool.Exec(ctx, text); err != nil {
			return 0, err
		}
	}
	return sqlengine.QueryNumber(ctx, t.process.pool, "SELECT count() FROM "+string(table))
}

// literalPath returns a path that ClickHouse's function file does not take as a pattern: the file's own, or that of a
// link in dir to the file.
func literalPath(dir, file string) (string, error) {
	if !strings.ContainsAny(file, "*?{") {
		return file, nil
	}
	target, err := filepath.Abs(file)
	link := filepath.Join(dir, fmt.Sprintf("%016x.parquet", xxh3.HashString(target)))
	return link, errors.Join(err, os.Symlink(target, link))
}

// movePartitions moves the part of each partition to its disk.
func (t *starTables) movePartitions(ctx context.Context) error {
	if len(t.Paths) == 0 {
		return nil
	}
	var moves []string
	text := "SELECT name, partition, disk_name FROM system.parts WHERE active AND table = '" + string(tables.StoreSales) + "'"
	err := t.process.pool.Rows(ctx, text, nil, func(row []any) error {
		var name, disk string
		var i int
		err := sqlengine.Scan(row, &name, &i, &disk)
		if to := fmt.Sprintf("d%d", i%len(t.Paths)); disk != to {
			moves = append(moves, "ALTER TABLE "+string(tables.StoreSales)+" MOVE PART '"+name+"' TO DISK '"+to+"'")
		}
		return err
	})
	for _, text := range moves {
		if err == nil {
			err = t.process.pool.Exec(ctx, text)
		}
	}
	return err
}

// size adds up the parts of store_sales by disk.
func (t *starTables) size(ctx context.Context) ([]int64, error) {
	out := make([]int64, max(len(t.Paths), 1))
	text := "SELECT disk_name, bytes_on_disk FROM system.parts WHERE active AND table = '" + string(tables.StoreSales) + "'"
	return out, t.process.pool.Rows(ctx, text, nil, func(row []any) error {
		var disk string
		var n int64
		err := sqlengine.Scan(row, &disk, &n)
		i, _ := strconv.Atoi(strings.TrimPrefix(disk, "d")) // an error: the default disk, which is the first
		out[i] += n
		return err
	})
}

// dropCaches drops ClickHouse's caches of files.
func (t *starTables) dropCaches(ctx context.Context) error {
	return errors.Join(
		t.process.pool.Exec(ctx, "SYSTEM DROP MARK CACHE"), t.process.pool.Exec(ctx, "SYSTEM DROP UNCOMPRESSED CACHE"))
}

// writeFile writes a file completely or not at all.
func writeFile(name, text string) error {
	temporary := name + ".new"
	err := os.WriteFile(temporary, []byte(text), 0o600)
	if err == nil {
		err = syncFile(temporary)
	}
	if err == nil {
		err = os.Rename(temporary, name)
	}
	if err != nil {
		_ = os.Remove(temporary) // an error: it was not created
		return err
	}
	return syncFile(filepath.Dir(name))
}
