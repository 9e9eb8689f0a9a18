package own

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/results/run"
)

// source is a table while its files are read.
type source struct {
	origin   string
	table    *tables.Table
	out      *run.OwnTable
	declared *declaration
	guesses  []*guess            // by column of CSV files
	unnamed  []unnamedColumn     // of CSV files
	named    map[string]bool     // the names that the files and folders give to columns; nil = not read
	keys     []map[string]string // by file: values in the names of folders, key=value
	problem  error               // the reason why the table is skipped; nil = it is not
	stage    atomic.Pointer[stage]
}

// stage is a step of reading a table.
type stage struct {
	name     string
	before   int64        // bytes of the files that it has read completely
	position func() int64 // bytes of the present file that it has read or written; nil = not known
}

// parquet are the options of COPY for the files that DuckDB writes. With this compression they are not larger than the
// user's files.
const parquet = " (FORMAT parquet, COMPRESSION zstd)"

// position returns the stage of read, the number of bytes that it has read or written, and the size of the user's
// files.
func (s *source) position() (part string, n, all int64) {
	now := s.stage.Load()
	if now == nil {
		return "", 0, 0
	}
	if now.position != nil {
		n = now.before + now.position()
	}
	return now.name, n, s.out.Bytes
}

// goodName matches table names that need no quotes in any engine.
var goodName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// isData reports whether the name is that of a Parquet or CSV file, and whether it is a CSV file. base is the name
// without its extensions.
func isData(name string) (base string, csv, ok bool) {
	for _, end := range []string{".parquet", ".csv", ".csv.gz", ".tsv", ".tsv.gz"} {
		if strings.HasSuffix(strings.ToLower(name), end) {
			return name[:len(name)-len(end)], end != ".parquet", true
		}
	}
	return "", false, false
}

// findTables assigns every file of a folder to a table, or lists it with the reason why it is unused. A file in the
// folder is a table of the same name. All files below a subfolder are one table; folders key=value add columns.
// definitions are the files of statements for a table in an engine, by TABLE.ENGINE; definitionKey returns this key for
// the path of such a file, and "" for any other.
func findTables(
	dir string, declared *declaration, definitionKey func(path string) string,
) (out []*source, unused []run.SkippedFile, definitions map[string]string, err error) {
	definitions = map[string]string{}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, nil, nil, err
	}
	var star map[string]string // file → table, as barograph synth tpcds writes them
	if files, _, err := tables.OpenStarFiles(dir); err == nil {
		star = map[string]string{}
		for _, name := range tables.StarTables() {
			for _, f := range files.Parquet[name] {
				star[f] = string(name)
			}
		}
	}
	skip := func(path, why string) {
		unused = append(unused, run.SkippedFile{File: path, Reason: why})
	}
	// With a slash at its end, WalkDir follows a link to a folder.
	err = filepath.WalkDir(dir+string(filepath.Separator), func(path string, e fs.DirEntry, err error) error {
		path = filepath.Clean(path)
		if err != nil {
			if path == dir {
				return &fault.Error{File: dir, Problem: "cannot be read", Err: err, Cure: "name a folder of Parquet or CSV files"}
			}
			skip(path, "cannot be read: "+strings.TrimPrefix(err.Error(), "open "+path+": "))
			return nil
		}
		hidden := path != dir && (strings.HasPrefix(e.Name(), ".") || strings.HasPrefix(e.Name(), "_"))
		if e.IsDir() {
			if hidden {
				skip(path, "its name starts with "+e.Name()[:1]+", which marks files that are not data")
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(path, "run.json")); err == nil && path != dir {
				skip(path, "is a run folder of Barograph")
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		base, csv, ok := isData(e.Name())
		name, inner, inSubfolder := strings.Cut(filepath.ToSlash(rel), "/")
		switch {
		case hidden:
			skip(path, "its name starts with "+e.Name()[:1]+", which marks files that are not data")
			return nil
		case path == declared.path():
			skip(path, "declares types")
			return nil
		case e.Name() == schemaFile && !inSubfolder:
			skip(path, "is not read, because --types names another file")
			return nil
		case !inSubfolder && definitions[definitionKey(path)] != "":
			skip(path, "is not run, because "+filepath.Base(definitions[definitionKey(path)])+" is for the same table")
			return nil
		case !inSubfolder && definitionKey(path) != "":
			definitions[definitionKey(path)] = path
			return nil
		case !ok:
			skip(path, "its name is not that of a Parquet or CSV file")
			return nil
		case star != nil && star[path] == "":
			skip(path, "is not in the manifest of barograph synth tpcds")
			return nil
		}
		origin := name
		switch {
		case star != nil:
			name, origin, inner = star[path], star[path], ""
		case !inSubfolder:
			name, inner = base, ""
		}
		s := addFile(&out, dir, origin, name, path, csv)
		if info, err := os.Stat(path); err == nil { // of the file, not of a symbolic link to it
			s.out.Sources[len(s.out.Sources)-1].Bytes = info.Size()
			s.out.Bytes += info.Size()
		}
		folder, _ := filepath.Split(inner)
		s.keys = append(s.keys, folderKeys(folder))
		return nil
	})
	if err == nil && len(out) == 0 {
		err = &fault.Error{
			File:    dir,
			Problem: "has no Parquet or CSV file",
			Cure:    "name a folder of such files: NAME.parquet, or NAME/*.parquet, is the table NAME",
		}
	}
	return out, unused, definitions, err
}

// tableName returns the name of the table for the name of a file or folder.
func tableName(name string) string {
	if name = tables.Name(name); !goodName.MatchString(name) {
		return "_" + name
	}
	return name
}

// addFile adds a file to a table. origin is the file or the folder that gives the
// table its name.
func addFile(out *[]*source, root, origin, name, path string, csv bool) *source {
	table := tableName(name)
	i := slices.IndexFunc(*out, func(s *source) bool { return s.table.Name == table })
	if i < 0 {
		i = len(*out)
		*out = append(*out, &source{
			origin: origin,
			table:  &tables.Table{Name: table, Root: root, CSV: csv},
			out:    &run.OwnTable{Name: table},
		})
	}
	s := (*out)[i]
	switch {
	case s.problem != nil:
	case s.origin != origin:
		s.problem = &fault.Error{
			File:    path,
			Problem: "and " + s.table.Files[0] + " have the same table name, " + table,
			Cure:    "rename one of them, or put the files of a table into a folder with its name",
		}
	case s.table.CSV != csv:
		s.problem = &fault.Error{
			File:    path,
			Problem: "and " + s.table.Files[0] + " belong to one table, " + table + ", but have two formats",
			Cure:    "put files of one format into the folder of a table",
		}
	}
	s.table.Files = append(s.table.Files, path)
	s.out.Files = append(s.out.Files, path)
	s.out.Sources = append(s.out.Sources, run.OwnFile{File: path})
	return s
}

// folderKeys returns the keys and values in the names of folders, as Hive writes them.
func folderKeys(folder string) map[string]string {
	keys := map[string]string{}
	for part := range strings.SplitSeq(filepath.ToSlash(folder), "/") {
		if key, value, ok := strings.Cut(part, "="); ok && key != "" {
			if text, err := url.PathUnescape(value); err == nil {
				value = text
			}
			keys[key] = value
		}
	}
	return keys
}

// addKeys adds columns for the keys in the names of folders. The rows of a file outside
// such a folder have NULL.
func (s *source) addKeys() error {
	t := s.table
	var names []string
	for _, keys := range s.keys {
		for key := range keys {
			if !slices.Contains(names, key) {
				names = append(names, key)
			}
		}
	}
	slices.Sort(names)
	for _, key := range names {
		k := tables.Key{Column: tables.Column{Name: tables.Name(key)}, Folder: key}
		s.declared.declare(t.Name, &k.Column)
		var g guess
		for i, keys := range s.keys {
			value, ok := keys[key]
			if !ok || value == tables.NoKey || value == "" {
				continue
			}
			if k.Column.Kind != "" && !conforms(&k.Column, value) {
				return &fault.Error{
					File:    t.Files[i],
					Problem: fmt.Sprintf("the folder name %s=%s has a value that is not a %s", key, value, kindName(&k.Column)),
					Cure:    "rename the folder, or declare another type",
				}
			}
			g.add([]byte(value))
		}
		g.chooseType(&k.Column)
		t.Keys = append(t.Keys, k)
	}
	return nil
}

// read finds the columns and rows of a table's files, and has ref write the rows to a Parquet file in the folder work,
// with types that all engines have. It checks that the Parquet file has every row of every file.
func (s *source) read(ctx context.Context, ref *tables.Tables, work string) (err error) {
	t := s.table
	if err := cmp.Or(s.problem, s.addKeys()); err != nil {
		return err
	}
	if t.CSV {
		if err := s.profile(ctx); err != nil {
			return err
		}
	}
	counts, err := ref.Describe(ctx, t)
	if err != nil {
		return err
	}
	if err := s.declared.check(t); err != nil {
		return err
	}
	for i := range s.out.Sources {
		if f := &s.out.Sources[i]; !t.CSV {
			f.Rows = counts[f.File]
			if f.SHA256, err = sha256Of(f.File); err != nil {
				return err
			}
		}
	}
	for _, c := range t.Columns {
		s.out.Columns = append(s.out.Columns, c.Name+" ("+kindName(&c)+")")
	}
	s.out.Notes = t.Notes
	file := filepath.Join(work, t.Name+".parquet")
	converting := &stage{name: "converting"}
	if !t.CSV { // CSV becomes smaller by an unknown factor
		converting.position = func() int64 {
			info, err := os.Stat(file)
			if err != nil {
				return 0
			}
			return info.Size()
		}
	}
	s.stage.Store(converting)
	if err := exec(ctx, ref, "COPY (SELECT * FROM "+flavour.Ident(t.Name)+") TO "+flavour.Quote(file)+parquet); err != nil {
		return &fault.Error{
			File:    t.Files[0],
			Problem: "table " + t.Name + " cannot be converted to its types",
			Err:     err,
			Cure:    "declare the types: --types FILE",
		}
	}
	t.Parquet = file
	err = ref.Ask(ctx, "SELECT count(*) FROM read_parquet("+flavour.DuckDBFile(t.Parquet)+")", func(row []any) error {
		n, ok := row[0].(int64)
		if s.out.Rows, t.Rows = n, n; !ok {
			return errors.New("DuckDB returned no count of rows")
		}
		return nil
	})
	if err != nil {
		return err
	}
	var inFiles int64
	for _, f := range s.out.Sources {
		inFiles += f.Rows
	}
	if inFiles != s.out.Rows {
		return &fault.Error{
			File:    t.Files[0],
			Problem: fmt.Sprintf("table %s has %s, but its files have %s", t.Name, run.CountOf(s.out.Rows, "row"), run.FormatCount(inFiles)),
			Cure:    "write the table as one Parquet file",
		}
	}
	if t.CSV {
		return s.verify(ctx)
	}
	return nil
}

// exec runs a statement and ignores its rows.
func exec(ctx context.Context, ref *tables.Tables, text string) error {
	return ref.Ask(ctx, text, func([]any) error { return nil })
}
