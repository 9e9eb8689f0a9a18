package sqlengine

import (
	"context"
	"strings"
	"time"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/record"
)

// ReadHeaders gives the headers of stat_header, by number, to f.
func (a *Archive) ReadHeaders(ctx context.Context, q Querier, subset string, f func(h record.Header, id int64)) error {
	cols := HeaderColumns()
	var h record.Header
	var id int64
	into := []any{&id}
	for _, c := range cols[1:] {
		into = append(into, &h[c.Field])
	}
	return q.Rows(ctx, "SELECT "+Names("", cols)+" FROM "+a.Dialect.Table(subset, design.HeaderTable), nil, func(row []any) error {
		err := Scan(row, into...)
		f(h, id)
		return err
	})
}

// readHeaders learns the numbers of headers and files.
func (l *Loader) readHeaders(ctx context.Context, q Querier) error {
	l.headers, l.files = NewInterner[record.Header](), NewInterner[string]()
	if err := l.a.ReadHeaders(ctx, q, l.subset, l.headers.Have); err != nil {
		return err
	}
	return q.Rows(ctx, "SELECT data_file_id, path, filename FROM "+l.a.Dialect.Table(l.subset, FileTable), nil, func(row []any) error {
		var id int64
		var dir, name string
		err := Scan(row, &id, &dir, &name)
		l.files.Have(joinPath(dir, name), id)
		return err
	})
}

// writeHeaders writes the headers and files that came with this commit.
func (l *Loader) writeHeaders(ctx context.Context, q Querier) error {
	if l.headers == nil {
		return nil
	}
	if heads, first := l.headers.Fresh(); len(heads) > 0 {
		table, cols := l.a.Dialect.Table(l.subset, design.HeaderTable), HeaderColumns()
		l.touch(table)
		err := l.s.Insert(ctx, q, table, cols, rowsOf(heads, func(to Sink, i int, h record.Header) {
			to.Whole(0, first+int64(i))
			for k, c := range cols[1:] {
				to.Text(k+1, h[c.Field])
			}
		}))
		if err != nil {
			return err
		}
	}
	files, first := l.files.Fresh()
	if len(files) == 0 {
		return nil
	}
	now := time.Now().Unix()
	return l.s.Insert(ctx, q, l.a.Dialect.Table(l.subset, FileTable), FileColumns(), rowsOf(files, func(to Sink, i int, file string) {
		dir, name := splitPath(file)
		to.Whole(0, first+int64(i))
		to.Whole(1, FileKind(name))
		to.Text(2, name)
		to.Text(3, dir)
		to.Time(4, now)
		to.Null(5)
	}))
}

// splitPath cuts a path as METviewer keeps it; joinPath is the inverse.
func splitPath(file string) (dir, name string) {
	at := strings.LastIndexByte(file, '/')
	if at <= 0 { // no folder, or the root
		return file[:at+1], file[at+1:]
	}
	return file[:at], file[at+1:]
}

func joinPath(dir, name string) string {
	if dir == "" || strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}

// Interner numbers headers or files: 1, 2, 3 … in the order of first sight,
// after those that the archive holds already. Numbers given since the last
// Keep are forgotten by Drop, as a transaction that is rolled back forgets
// their rows.
type Interner[K comparable] struct {
	ids   map[K]int64
	last  int64
	fresh []K
}

// NewInterner returns an empty one.
func NewInterner[K comparable]() *Interner[K] { return &Interner[K]{ids: map[K]int64{}} }

// Have notes what the archive holds.
func (n *Interner[K]) Have(k K, id int64) {
	n.ids[k] = id
	n.last = max(n.last, id)
}

// ID returns the number of k; fresh reports that k has no row in the archive
// as of the last Keep.
func (n *Interner[K]) ID(k K) (id int64, fresh bool) {
	if id, ok := n.ids[k]; ok {
		return id, id > n.last-int64(len(n.fresh))
	}
	n.last++
	n.ids[k] = n.last
	n.fresh = append(n.fresh, k)
	return n.last, true
}

// Fresh lists what was numbered since the last Keep; the first has the number first.
func (n *Interner[K]) Fresh() (keys []K, first int64) {
	return n.fresh, n.last - int64(len(n.fresh)) + 1
}

// Keep says that the rows of Fresh are in the archive.
func (n *Interner[K]) Keep() { n.fresh = n.fresh[:0] }

// Drop forgets what was numbered since the last Keep.
func (n *Interner[K]) Drop() {
	for _, k := range n.fresh {
		delete(n.ids, k)
	}
	n.last -= int64(len(n.fresh))
	n.fresh = n.fresh[:0]
}

// HeaderKey is the part of h that stat_header holds: all but cov_thresh and
// alpha, which stand in the line tables.
func HeaderKey(h record.Header) record.Header {
	h[record.CovThresh], h[record.Alpha] = "", ""
	return h
}
