package pebble

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/sstable/blob"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/sstable/colblk"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// The ids of entries other than documents. A subset's name is escaped, because other parts of an id may
// follow it.
const (
	catalogPrefix = "BG::catalog::"
	markPrefix    = "BG::mark::"
	nextPrefix    = "BG:next:" // number of the next mark
)

func catalogKey(subset string) []byte { return []byte(catalogPrefix + url.QueryEscape(subset)) }

func markKey(subset, digest string) []byte {
	return []byte(markPrefix + url.QueryEscape(subset) + "::" + digest)
}

func nextKey(subset string) []byte { return []byte(nextPrefix + url.QueryEscape(subset)) }

// prefixEnd returns the least key above all keys with a prefix.
func prefixEnd(prefix []byte) []byte {
	end := slices.Clone(prefix)
	end[len(end)-1]++ // no prefix here ends with 0xff
	return end
}

// openArchive is the keyvalue archive of a store.
type openArchive struct {
	*docengine.Archive
	*store
}

// scanPrefix calls each for every pair whose key has a prefix; see scanRange.
func (s *store) scanPrefix(ctx context.Context, prefix []byte, each func(key, value []byte) error) error {
	return s.scanRange(ctx, prefix, prefixEnd(prefix), each)
}

// scanRange calls each for every pair whose key is at least from and less than to. Key and value are valid
// until each returns.
func (s *store) scanRange(ctx context.Context, from, to []byte, each func(key, value []byte) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	it, err := s.db.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: from, UpperBound: to})
	if err != nil {
		return err
	}
	defer joinClose(&err, it)
	for valid := it.First(); valid; valid = it.Next() {
		if err := ctx.Err(); err != nil {
			return err
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		if err := each(it.Key(), value); err != nil {
			return err
		}
	}
	return it.Error()
}

// walk calls each for the documents of a subset, in the order of their keys.
func (a *openArchive) walk(ctx context.Context, subset string) docengine.Walk {
	return func(t *record.LineType, each func(id string, doc []byte) error) error {
		prefixes, err := a.Prefixes(ctx, subset, t)
		for _, prefix := range prefixes {
			if err == nil {
				err = a.scanPrefix(ctx, []byte(prefix), func(key, value []byte) error { return each(string(key), value) })
			}
		}
		return err
	}
}

// Contents counts pairs, and their records by the count in each pair.
func (a *openArchive) Contents(ctx context.Context, subset string) (archive.Contents, error) {
	return a.CountPayloads(ctx, subset, a.walk(ctx, subset))
}

// Dump yields the records of all pairs of the subset.
func (a *openArchive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return a.Archive.Dump(ctx, subset, a.walk(ctx, subset))
}

// Size returns the size of the folder, after it has written the records in memory to the folder.
func (a *openArchive) Size(ctx context.Context) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if !a.readOnly {
		if err := a.write(a.db.Flush); err != nil {
			return 0, err
		}
	}
	var total int64
	err := filepath.WalkDir(a.dir+string(filepath.Separator), func(_ string, e fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil && !e.IsDir() {
			if info, err = e.Info(); err == nil {
				total += info.Size()
			}
		}
		if errors.Is(err, fs.ErrNotExist) { // Pebble has removed the file meanwhile
			return nil
		}
		return err
	})
	return total, err
}

// Check compares the checksum of every block of every table and of every file of values; reading the pairs would
// check only data blocks. It ignores files that the manifest does not name. A flush that was interrupted leaves such
// files, and the next open for writing removes them.
func (a *openArchive) Check(ctx context.Context, _ string) (problems []string, err error) {
	for _, files := range []struct {
		pattern string
		check   func(context.Context, string) error
	}{{"*.sst", checkTable}, {"*.blob", checkValues}} {
		for _, name := range lists.Files(a.dir, files.pattern) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if err := files.check(ctx, name); err != nil && a.uses(filepath.Base(name)) {
				problems = append(problems, filepath.Base(name)+": "+err.Error())
			}
		}
	}
	return problems, nil
}

// uses reports whether the archive's manifest names a file. Pebble has no other list of its files of values.
func (s *store) uses(file string) bool {
	version := s.db.DebugCurrentVersion()
	for f := range version.BlobFiles.All() {
		if file == f.Physical.FileNum.String()+".blob" {
			return true
		}
	}
	for _, level := range version.Levels {
		for f := range level.All() {
			if file == f.TableBacking.DiskFileNum.String()+".sst" {
				return true
			}
		}
	}
	return false
}

// checkValues reads the blocks of a file of values. Its index lists their offsets and the end of the last one
// (package sstable/blob, doc.go).
func checkValues(ctx context.Context, name string) (err error) {
	in, err := openReadable(name)
	if err != nil {
		return err
	}
	r, err := blob.NewFileReader(ctx, in, blob.FileReaderOptions{})
	if err != nil {
		return errors.Join(err, in.Close())
	}
	defer joinClose(&err, r)
	index, err := r.ReadIndexBlock(ctx, block.NoReadEnv, nil)
	if err != nil {
		return err
	}
	defer index.Release()
	const headerBytes, offsetColumn = 4, 1 // bytes of the index's header; number of the column
	var d colblk.BlockDecoder
	d.Init(index.BlockData(), headerBytes)
	blockOffsets := colblk.DecodeColumn(&d, offsetColumn, d.Rows()+1, colblk.DataTypeUint, colblk.DecodeUnsafeUints)
	for i := range d.Rows() {
		from := blockOffsets.At(i)
		b, err := r.ReadValueBlock(ctx, block.NoReadEnv, nil, block.Handle{Offset: from, Length: blockOffsets.At(i+1) - from - block.TrailerLen})
		if err != nil {
			return err
		}
		b.Release()
	}
	return err
}

func openReadable(name string) (objstorage.Readable, error) {
	f, err := vfs.Default.Open(name)
	if err != nil {
		return nil, err
	}
	return sstable.NewSimpleReadable(f)
}

func checkTable(ctx context.Context, name string) error {
	in, err := openReadable(name)
	if err != nil {
		return err
	}
	r, err := sstable.NewReader(ctx, in, sstable.ReaderOptions{})
	if err != nil {
		return err
	}
	return errors.Join(r.ValidateBlockChecksums(), r.Close())
}

// plan is a question in Pebble's terms: the keys to read, by series.
type plan struct {
	*docengine.Lookup
	series []docengine.Series // epoch-range: the series to scan
}

// Phrase computes from the catalog what to read.
func (a *openArchive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*archive.Query, error) {
	out, c, err := a.NewQuery(ctx, Driver(), design.KeyValue, q, f)
	if err != nil {
		return nil, err
	}
	p := &plan{Lookup: &docengine.Lookup{}}
	out.Args = []any{p}
	if f == flavour.KeysNative {
		p.Lookup = docengine.Derive(c, out)
		out.Text = fmt.Sprintf("get %d derived ids of %d series", len(out.Keys), len(p.Headers))
	} else {
		if _, _, _, ok := q.Valid.Grid(); !ok && !q.Valid.IsAll() {
			return nil, fmt.Errorf("pebble: %s needs a list of times with a constant step: %w", f, flavour.ErrCannotExpress)
		}
		start := time.Now()
		p.series = docengine.SeriesOf(c, q)
		p.Headers = lists.Map(p.series, func(s docengine.Series) record.Header { return s.Header })
		out.DeriveTime = time.Since(start)
		out.Text = fmt.Sprintf("scan %d series %s", len(p.series), describeBounds(&q.Valid))
	}
	if len(q.Lead) > 0 {
		out.Text += fmt.Sprintf(", keep %d leads", len(q.Lead))
	}
	return out, nil
}

func describeBounds(t *question.Times) string {
	first, last, ok := t.Bounds()
	if !ok {
		return "from end to end"
	}
	return fmt.Sprintf("from %d to %d", first, last)
}

// Ask reads the pairs in one snapshot of the store, decodes them and restores the order.
func (a *openArchive) Ask(ctx context.Context, q *archive.Query, into *answer.Builder) error {
	_, err := a.read(ctx, q, into)
	return err
}

// reader reads with one iterator, which moves forward.
type reader struct {
	question *question.Question
	it       *pebble.Iterator
	rows     *record.Batch
	decoder  design.PayloadDecoder

	examined, kept int64 // pairs that were looked up or scanned; of them, the decoded ones
}

func (a *openArchive) read(ctx context.Context, q *archive.Query, into *answer.Builder) (r reader, err error) {
	p, err := docengine.Plan[*plan](q)
	if err != nil {
		return r, err
	}
	err = a.Answer(q.Question, p.Headers, into, func(rows *record.Batch) (err error) {
		r.question, r.rows = q.Question, rows
		if r.it, err = a.db.NewIterWithContext(ctx, nil); err != nil {
			return err
		}
		defer joinClose(&err, r.it)
		if q.Flavour == flavour.KeysNative {
			return r.multiGet(ctx, q.Keys, p)
		}
		return r.scanSeries(ctx, p)
	})
	return r, err
}

// multiGet reads the derived ids. It ignores ids that do not exist.
func (r *reader) multiGet(ctx context.Context, ids []string, p *plan) error {
	var key []byte
	for i, id := range ids {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.examined++
		key = append(key[:0], id...)
		if r.it.SeekGE(key) && bytes.Equal(r.it.Key(), key) {
			if err := r.decode(p.Places[i].Head, p.Places[i].Valid); err != nil {
				return err
			}
		} else if err := r.it.Error(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// decode decodes the pair at the iterator.
func (r *reader) decode(head uint32, valid int64) error {
	r.kept++
	value, err := r.it.ValueAndErr()
	if err != nil {
		return err
	}
	if err := r.decoder.Decode(value, r.rows, head, valid, r.question.Lead); err != nil {
		return docengine.DocumentError(string(r.it.Key()), err)
	}
	return nil
}

// scanSeries scans each series between the bounds of the valid times.
func (r *reader) scanSeries(ctx context.Context, p *plan) error {
	for i := range p.series {
		s := &p.series[i]
		r.it.SetBounds(keyRange(s, &r.question.Valid))
		for ok := r.it.First(); ok; ok = r.it.Next() {
			if err := ctx.Err(); err != nil {
				return err
			}
			r.examined++
			valid, err := strconv.ParseInt(string(r.it.Key()[len(s.Prefix):]), 10, 64)
			if err != nil {
				return docengine.DocumentError(string(r.it.Key()), err)
			}
			if !r.question.Valid.Contains(valid) || !r.question.TimeFilter.AcceptsValid(valid) {
				continue
			}
			if err := r.decode(uint32(i), valid); err != nil {
				return err
			}
		}
		if err := r.it.Error(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// keyRange returns the first key to read and the first key after the range. Epochs with the same number of digits
// sort as numbers do. If the bounds differ in length or are negative, keyRange returns the complete series, and
// scanSeries skips other times. No other key is between '-' and ':', because further parts begin with a letter.
func keyRange(s *docengine.Series, times *question.Times) (from, to []byte) {
	first, last, ok := times.Bounds()
	if !ok {
		first, last = math.MinInt64, math.MaxInt64
	}
	x, y := strconv.FormatInt(first, 10), strconv.FormatInt(last, 10)
	if first < 0 || len(x) != len(y) {
		return []byte(s.Prefix + "-"), []byte(s.Prefix + ":")
	}
	return []byte(s.Prefix + x), []byte(s.Prefix + y + "\x00")
}

// Explain describes what Ask does with the query. It runs the query once and counts what it reads, because
// Pebble itself has no plans.
func (a *openArchive) Explain(ctx context.Context, q *archive.Query) (archive.Plan, error) {
	var into answer.Builder
	into.Reset(q.Question.Columns)
	r, err := a.read(ctx, q, &into)
	if err != nil {
		return archive.Plan{}, err
	}
	p, _ := q.Args[0].(*plan) // read has checked the type
	out := archive.Plan{Text: a.describe(q, p)}
	if len(q.Keys)+len(p.series) > 0 {
		access := archive.Access{
			Object: q.Question.Type.Name + " pairs", Method: archive.KeyLookup, Index: "key",
			Examined: r.examined, Kept: r.kept, Counted: true,
		}
		if q.Flavour != flavour.KeysNative {
			access.Method = archive.IndexScan
		}
		out.Access = []archive.Access{access}
	}
	return out, nil
}

// describe returns the plan as text: the first ids or series, and the store's metrics.
func (a *openArchive) describe(q *archive.Query, p *plan) string {
	const shown = 20
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s, with one iterator; decode the payloads; sort the rows\n", q.Text)
	for _, id := range q.Keys[:min(len(q.Keys), shown)] {
		fmt.Fprintf(&b, "seek %s\n", id)
	}
	for i := range p.series[:min(len(p.series), shown)] {
		from, to := keyRange(&p.series[i], &q.Question.Valid)
		fmt.Fprintf(&b, "scan %q … %q\n", from, to)
	}
	if n := max(len(q.Keys), len(p.series)) - shown; n > 0 {
		fmt.Fprintf(&b, "and %d more\n", n)
	}
	fmt.Fprintf(&b, "\n%s", a.db.Metrics())
	return b.String()
}
