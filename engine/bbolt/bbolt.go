package bbolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/build"
	"github.com/barograph/barograph/internal/fault"
)

// Driver describes the engine: bbolt:file.
func Driver() engine.Driver {
	return engine.Driver{
		Scheme:  "bbolt",
		Licence: "MIT",
		Summary: "bbolt, etcd's embedded B+ tree; records under keys only",
		Example: "bbolt:records.bbolt",
		Offers:  []any{kv.Offer{Layouts: []kv.Layout{kv.Pairs}}},
		Place:   engine.Embedded,
		Open:    open,
	}
}

// tables is the bucket with each table's number of fields, as a uvarint.
const tables = "tables"

// store is an open file.
type store struct {
	db       *bbolt.DB
	readOnly bool
}

func open(_ context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
	d := Driver()
	if v := d.Values(u); v.Err != nil {
		return nil, v.Err
	}
	path := engine.Path(u)
	if path == "" {
		return nil, fault.Misuse("bbolt URL", "names no file", "write bbolt:records.bbolt")
	}
	db, err := opened(path, &bbolt.Options{ReadOnly: o.ReadOnly, Timeout: time.Second, FreelistType: bbolt.FreelistMapType})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, engine.LockedError(path, err)
	case errors.Is(err, bolterrors.ErrInvalid) || errors.Is(err, bolterrors.ErrChecksum) || errors.Is(err, bolterrors.ErrVersionMismatch):
		return nil, engine.DamagedError(path, err)
	case err != nil:
		return nil, engine.FileError(path, "cannot be opened", err, "name a readable and writable file, or a new one")
	}
	s := &store{db, o.ReadOnly}
	about := engine.About{
		Product: "bbolt", Version: build.Module("go.etcd.io/bbolt"), Acknowledged: "on disk: flushed, one commit at a time",
		Settings: map[string]string{"freelist": "map", "sync": "each commit"},
	}
	return &engine.Engine{Abilities: []any{s}, About: func(context.Context) (engine.About, error) { return about, nil }, Close: s.db.Close}, nil
}

// opened opens the file. bbolt panics if it reads an impossible page.
func opened(path string, o *bbolt.Options) (db *bbolt.DB, err error) {
	defer recovered(path, &err)
	return bbolt.Open(path, 0o600, o)
}

// recovered converts a panic of bbolt to the error of a damaged file.
func recovered(path string, err *error) {
	if p := recover(); p != nil {
		*err = engine.DamagedError(path, fmt.Errorf("%v", p))
	}
}

// update runs one durable transaction.
func (s *store) update(do func(*bbolt.Tx) error) (err error) {
	defer recovered(s.db.Path(), &err)
	err = s.db.Update(do)
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return engine.DiskFullError(s.db.Path(), err)
	case errors.Is(err, syscall.EIO) || errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrClosed):
		return engine.NotWritableError(s.db.Path(), err)
	}
	return err
}

// view reads the last commit.
func (s *store) view(do func(*bbolt.Tx) error) (err error) {
	defer recovered(s.db.Path(), &err)
	return s.db.View(do)
}

// Table opens or creates a table.
func (s *store) Table(_ context.Context, t kv.Table) (*kv.Records, error) {
	if err := t.Choose(Driver()); err != nil {
		return nil, err
	}
	tb := &table{store: s, bucket: []byte("table " + t.Name), fields: len(t.Fields)}
	want := binary.AppendUvarint(nil, uint64(tb.fields))
	var have []byte
	err := s.view(func(tx *bbolt.Tx) error {
		if all := tx.Bucket([]byte(tables)); all != nil {
			have = bytes.Clone(all.Get([]byte(t.Name)))
		}
		return nil
	})
	if err == nil && have == nil {
		if err := t.MissingError(s.readOnly); err != nil {
			return nil, err
		}
		have, err = want, s.update(func(tx *bbolt.Tx) error {
			all, err := tx.CreateBucketIfNotExists([]byte(tables))
			if err != nil {
				return err
			}
			_, err = tx.CreateBucketIfNotExists(tb.bucket)
			return errors.Join(err, all.Put([]byte(t.Name), want))
		})
	}
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(have, want) {
		n, _ := binary.Uvarint(have)
		return nil, &fault.Error{Setting: "fieldcount", Problem: fmt.Sprintf("the table has %d fields, not %d", n, tb.fields), Cure: "give the fieldcount with which it was loaded"}
	}
	r := kv.NewRecords(s.readOnly, tb.connect, tb.count)
	r.Clear = func(context.Context) error {
		return s.update(func(tx *bbolt.Tx) error {
			err := tx.DeleteBucket(tb.bucket)
			_, failed := tx.CreateBucket(tb.bucket)
			return errors.Join(err, failed)
		})
	}
	return r, nil
}

// table is an open table.
type table struct {
	*store
	bucket []byte
	fields int
}

func (tb *table) count(ctx context.Context) (n int64, err error) {
	return n, tb.view(func(tx *bbolt.Tx) error {
		c := tx.Bucket(tb.bucket).Cursor()
		for k, _ := c.First(); k != nil; k, _ = c.Next() {
			if n++; n%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
		}
		return nil
	})
}

// conn is a connection: a table and the memory of one worker.
type conn struct {
	*table
	row, old kv.Row
}

func (tb *table) connect() *kv.Conn {
	c := &conn{table: tb}
	return &kv.Conn{Read: c.read, Insert: c.insert, Update: c.update, Scan: c.scan, Delete: c.delete, InsertMany: c.insertMany}
}

func (c *conn) read(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.view(func(tx *bbolt.Tx) error {
		v := tx.Bucket(c.bucket).Get(key)
		if v == nil {
			return kv.ErrNotFound
		}
		return into.ParsePacked(v, c.fields, f)
	})
}

func (c *conn) insert(ctx context.Context, key []byte, r *kv.Row) error {
	return c.insertMany(ctx, []kv.KeyRow{{Key: key, Row: r}})
}

func (c *conn) insertMany(ctx context.Context, rows []kv.KeyRow) error {
	return c.change(ctx, func(b *bbolt.Bucket) error {
		for _, r := range rows {
			if b.Get(r.Key) != nil {
				return kv.ErrExists
			}
			if err := b.Put(r.Key, r.Row.AppendPacked(nil, c.fields, nil)); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *conn) update(ctx context.Context, key []byte, r *kv.Row) error {
	return c.change(ctx, func(b *bbolt.Bucket) error {
		v := b.Get(key)
		if v == nil {
			return kv.ErrNotFound
		}
		c.old.Reset()
		if err := c.old.ParsePacked(v, c.fields, nil); err != nil {
			return err
		}
		return b.Put(key, r.AppendPacked(nil, c.fields, &c.old))
	})
}

func (c *conn) delete(ctx context.Context, key []byte) error {
	return c.change(ctx, func(b *bbolt.Bucket) error {
		if b.Get(key) == nil {
			return kv.ErrNotFound
		}
		return b.Delete(key)
	})
}

// change runs one transaction on the table's bucket.
func (c *conn) change(ctx context.Context, do func(*bbolt.Bucket) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.store.update(func(tx *bbolt.Tx) error { return do(tx.Bucket(c.bucket)) })
}

func (c *conn) scan(ctx context.Context, from []byte, n int, f kv.Fields, each func(key []byte, r *kv.Row) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.view(func(tx *bbolt.Tx) error {
		cursor := tx.Bucket(c.bucket).Cursor()
		for k, v := cursor.Seek(from); k != nil && n > 0; k, v = cursor.Next() {
			c.row.Reset()
			if err := c.row.ParsePacked(v, c.fields, f); err != nil {
				return err
			}
			if err := each(k, &c.row); err != nil {
				return err
			}
			n--
		}
		return nil
	})
}
