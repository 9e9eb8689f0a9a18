package tpcds

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/duckdb/duckdb-go/v2/mapping"
)

// database is a temporary DuckDB database for one generation.
type database struct {
	dir    string // its folder, which also receives the files of tpcgen-cli
	handle mapping.Database
}

// dsdgenLock serializes calls of dsdgen, which keeps its state in global variables.
var dsdgenLock sync.Mutex //nolint:gochecknoglobals // the lock of the library's global variables

// databasePrefix is the start of the name of a database's folder.
const databasePrefix = ".dsdgen-"

// newDatabase creates a database in a file, because the 24 tables may not fit into memory.
func newDatabase(parent string, threads int) (*database, error) {
	dir, err := os.MkdirTemp(parent, databasePrefix)
	if err != nil {
		return nil, err
	}
	d := &database{dir: dir}
	var config mapping.Config
	if mapping.CreateConfig(&config) == mapping.StateError {
		return nil, errors.Join(errors.New("DuckDB returns no configuration"), d.close())
	}
	defer mapping.DestroyConfig(&config)
	mapping.SetConfig(config, "threads", strconv.Itoa(threads))
	mapping.SetConfig(config, "autoinstall_known_extensions", "false")
	var message string
	if mapping.OpenExt(filepath.Join(dir, "all.db"), &d.handle, config, &message) == mapping.StateError {
		return nil, errors.Join(errors.New(message), d.close())
	}
	return d, nil
}

func (d *database) close() error {
	mapping.Close(&d.handle)
	return os.RemoveAll(d.dir)
}

// exec runs a statement and returns the number of rows that it wrote.
func (d *database) exec(ctx context.Context, text string) (rows int64, err error) {
	err = d.query(ctx, text, func(r *mapping.Result) { rows = int64(mapping.RowsChanged(r)) })
	return rows, err
}

// count is the number of rows of a table.
func (d *database) count(ctx context.Context, table string) (rows int64, err error) {
	err = d.query(ctx, "SELECT count(*)::BIGINT FROM "+table, func(r *mapping.Result) {
		chunk := mapping.FetchChunk(*r)
		defer mapping.DestroyDataChunk(&chunk)
		rows = *(*int64)(mapping.VectorGetData(mapping.DataChunkGetVector(chunk, 0)))
	})
	return rows, err
}

// query runs a statement on a new connection and passes its result to use.
func (d *database) query(ctx context.Context, text string, use func(r *mapping.Result)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var c mapping.Connection
	if mapping.Connect(d.handle, &c) == mapping.StateError {
		return errors.New("DuckDB returns no connection")
	}
	defer mapping.Disconnect(&c)
	finished, stopped := make(chan struct{}), make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		for { // DuckDB ignores an interrupt that comes before the statement
			mapping.Interrupt(c)
			select {
			case <-finished:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	var r mapping.Result
	state := mapping.Query(c, text, &r)
	defer mapping.DestroyResult(&r)
	close(finished)
	if !stop() {
		<-stopped
	}
	if state == mapping.StateError {
		if err := ctx.Err(); err != nil {
			return err
		}
		return fmt.Errorf("%.80s: %s", text, mapping.ResultError(&r))
	}
	use(&r)
	return nil
}
