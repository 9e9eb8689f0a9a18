package asterixdb

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// loader collects batches and writes them at Commit, under the subset's lock.
type loader struct {
	a              *openArchive
	subset         string
	token          string
	commits        int // number of commits started by this loader
	feed           *feed
	batches        map[*record.LineType][]*record.Batch
	types          []*record.LineType // in the order of their first record
	hasUndoCopies  bool               // the archive may contain copies of documents that this loader replaced
	unfinished     int64              // number of a failed commit that was not rolled back; 0 = none
	headers        map[string]bool    // stat_header_id of the existing headers, as of commit headersVersion
	headersVersion int64
}

func (a *openArchive) Loader(ctx context.Context, subset string) (archive.Loader, error) {
	if a.db.readOnly {
		return nil, &fault.Error{Setting: a.db.displayURL, Err: engine.ErrReadOnly, Cure: "open it for writing"}
	}
	if !a.isCreated.Load() {
		if err := a.db.define(ctx, a.create()); err != nil {
			return nil, err
		}
		a.isCreated.Store(true)
	}
	return &loader{a: a, subset: subset, token: newToken(), batches: map[*record.LineType][]*record.Batch{}, headersVersion: -1}, nil
}

// defineTries is the number of attempts of statements that define datasets.
const defineTries = 10

// define runs statements that define missing datasets. Two concurrent loads that define the same one
// conflict, even with IF NOT EXISTS.
func (d *database) define(ctx context.Context, text string) error {
	for try := 1; ; try++ {
		_, err := d.client.run(ctx, request{text: text})
		if !hasCode(err, codeDuplicate) || try == defineTries {
			return err
		}
		if err := engine.Pause(ctx, pollInterval); err != nil {
			return err
		}
	}
}

// Add keeps a batch in memory until Commit.
func (l *loader) Add(ctx context.Context, b *record.Batch) error {
	if b.Len() == 0 {
		return ctx.Err()
	}
	if l.batches[b.Type] == nil {
		l.types = append(l.types, b.Type)
	}
	l.batches[b.Type] = append(l.batches[b.Type], b)
	return ctx.Err()
}

// closePatience is the time limit of Close for cleaning up.
const closePatience = 20 * time.Second

// Close removes what loads left on the server and nobody needs.
func (l *loader) Close() error {
	ctx, stop := context.WithTimeout(context.Background(), closePatience)
	defer stop()
	if l.hasUndoCopies { // of the copies of replaced documents, only those of an unfinished commit are still needed
		_, err := l.a.db.client.run(ctx, request{text: "DELETE FROM " + l.a.dataset(stateDataset) + " AS u " +
			"WHERE u.kind = \"undo\" AND u.loader = \"" + l.token + "\" AND u.`commit` <> " + strconv.FormatInt(l.unfinished, 10)})
		if err != nil {
			l.a.db.log.Debug("records of a load were not removed", "subset", l.subset, "error", err)
		}
		l.hasUndoCopies = false
	}
	l.dropFeed(ctx)
	return nil
}

// dropFeed closes the connection to the server's nodes. An external dataset that it cannot drop has no effect.
func (l *loader) dropFeed(ctx context.Context) {
	if l.feed == nil {
		return
	}
	if err := l.feed.close(ctx); err != nil {
		l.a.db.log.Debug("a feed was not removed", "error", err)
	}
	l.feed = nil
}

// undoPatience is the time limit for rolling back a failed commit. After it, the next client rolls back.
const undoPatience = 20 * time.Second

// Commit stores the batches that Add kept, under the lock of the subset. It rolls a failed commit back.
func (l *loader) Commit(ctx context.Context, c archive.Commit) (archive.CommitResult, error) {
	stored := archive.CommitResult{Replaced: map[string]int64{}}
	l.commits++
	var s state
	subsetLock, err := l.a.acquire(ctx, l.subset, l.token+"-"+strconv.Itoa(l.commits), &s)
	if err == nil {
		if err = l.commit(ctx, subsetLock, &s, c, &stored); err != nil {
			l.undo(context.WithoutCancel(ctx), subsetLock, s.version+1)
		}
	}
	clear(l.batches)
	l.types = l.types[:0]
	return stored, engine.CallError(ctx, err)
}

// commit runs the steps in doc.go.
func (l *loader) commit(ctx context.Context, subsetLock *lock, s *state, c archive.Commit, stored *archive.CommitResult) error {
	if err := l.a.recover(ctx, l.subset, s); err != nil {
		return err
	}
	if err := l.prepare(ctx); err != nil {
		return err
	}
	version := s.version + 1
	w := l.writer(s, version)
	if err := w.find(ctx, stored); err != nil {
		return err
	}
	if err := c.Check(stored, s.catalog); err != nil {
		return err
	}
	for i := range c.Complete {
		c.Complete[i].CountReplaced(*stored)
	}
	parts := w.parts()
	startText, err := l.startStatement(version, subsetLock.token, parts)
	if err != nil {
		return err
	}
	writeJournal := func(out io.Writer) error { return l.journal(out, version, w.replaced(), c.Complete) }
	journal := part{dataset: stateDataset, kind: anyType, lines: writeJournal}
	if err := l.feed.store(ctx, subsetLock.token, startText, journal); err != nil {
		return err
	}
	for _, p := range parts {
		if err := l.feed.store(ctx, subsetLock.token, "", p); err != nil {
			return err
		}
	}
	s.hasSupplementary = s.hasSupplementary || l.hasSupplementaryText()
	var marks []archive.Mark
	if len(c.Complete) > 0 && s.catalog.Files.Records > 0 {
		if marks, err = l.a.marks(ctx, l.subset, s.version); err != nil {
			return err
		}
	}
	c.UpdateCatalog(s.catalog, l.a.design, stored, c.Complete, archive.SameFiles(marks, c.Complete))
	s.catalog.Subset = l.subset
	last, err := l.a.catalogStatement(l.subset, version, s)
	if err != nil {
		return err
	}
	if err := subsetLock.release(ctx, last); err != nil {
		return err
	}
	l.unfinished = 0 // a commit that has its number is visible now
	w.committed(version)
	return nil
}

// hasSupplementaryText reports whether a text has a letter beyond U+FFFF, which the server sorts by its UTF-16 code units.
func (l *loader) hasSupplementaryText() bool {
	for _, t := range l.types {
		for _, b := range l.batches[t] {
			for i := range b.Headers {
				if slices.ContainsFunc(b.Headers[i][:], hasSupplementary) {
					return true
				}
			}
			for _, texts := range b.Text {
				if slices.ContainsFunc(texts, hasSupplementary) {
					return true
				}
			}
		}
	}
	return false
}

// firstSupplementary is the least first byte of a letter beyond U+FFFF in UTF-8.
const firstSupplementary = 0xf0

func hasSupplementary(text string) bool {
	for i := range len(text) {
		if text[i] >= firstSupplementary {
			return true
		}
	}
	return false
}

// prepare creates the datasets of new line types, and the feed.
func (l *loader) prepare(ctx context.Context) error {
	var text []string
	for _, t := range l.types {
		if _, ok := l.a.existing.Load(t); ok || !l.a.db.closed {
			continue
		}
		text = append(text, l.a.createTarget(t)...)
	}
	if len(text) > 0 {
		if err := l.a.db.define(ctx, "USE "+l.a.dataverse()+";\n"+strings.Join(text, ";\n")); err != nil {
			return err
		}
		for _, t := range l.types {
			l.a.existing.Store(t, true)
		}
	}
	if l.feed != nil {
		return nil
	}
	var err error
	l.feed, err = l.a.newFeed(ctx, l.token)
	return err
}

// part is the part of a commit for one dataset.
type part struct {
	dataset, kind string // kind is the type of the lines
	allNew        bool   // no existing document has one of the keys
	lines         func(w io.Writer) error
}

// writer arranges records in one design.
type writer interface {
	// find looks for the records that the commit will replace, and counts the new and the replaced ones.
	find(ctx context.Context, stored *archive.CommitResult) error
	parts() []part
	// replaced lists the existing documents with keys that will be written, by dataset, each as a JSON object.
	replaced() map[string][][]byte
	// committed records that the archive contains all of the commit.
	committed(version int64)
}

// writer returns the writer of the archive's design.
func (l *loader) writer(s *state, version int64) writer {
	p := pending{l: l, state: s, version: version, existing: map[string]map[string][]byte{}}
	if l.a.design == design.Normalized {
		return &rowWriter{pending: p}
	}
	return &docWriter{pending: p}
}

// pending is the state of a commit that the writers of both designs share.
type pending struct {
	l        *loader
	state    *state
	version  int64
	existing map[string]map[string][]byte // dataset → id → existing document, for the keys that will be written
}

func (p *pending) replaced() map[string][][]byte {
	out := map[string][][]byte{}
	for name, existing := range p.existing {
		out[name] = slices.Collect(maps.Values(existing))
	}
	return out
}

// typeParts returns the parts of the line types, one for each dataset.
func (p *pending) typeParts(lines func(out io.Writer, types []*record.LineType) error) (out []part) {
	typesOf := map[string][]*record.LineType{} // by dataset
	for _, t := range p.l.types {
		name, kind := p.l.a.target(t), anyType
		if typesOf[name] = append(typesOf[name], t); len(typesOf[name]) > 1 {
			continue
		}
		if p.l.a.db.closed {
			kind = name + "_type"
		}
		out = append(out, part{
			dataset: name, kind: kind, allNew: len(p.existing[name]) == 0,
			lines: func(out io.Writer) error { return lines(out, typesOf[name]) },
		})
	}
	return out
}

// startStatement returns the statement that records the start of a commit. It comes before all other writes
// of the commit, because only this record lets others find the rest.
func (l *loader) startStatement(version int64, token string, parts []part) (string, error) {
	writes := []string{}
	for _, p := range parts {
		writes = append(writes, p.dataset)
	}
	text, err := json.Marshal(map[string]any{
		"id": startedID(l.subset), "kind": "begun", "subset": l.subset, "commit": version, "token": token, "writes": writes,
	})
	return "UPSERT INTO " + l.a.dataset(stateDataset) + " (" + string(text) + ");\n", err
}

// journal writes the marks of a commit, and copies of the documents that it will replace.
func (l *loader) journal(w io.Writer, version int64, replaced map[string][][]byte, done []archive.Mark) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	for i, m := range done {
		if err := out.Encode(newMarkRecord(l.subset, version, i, m)); err != nil {
			return err
		}
	}
	for dataset, docs := range replaced {
		for _, doc := range docs {
			l.hasUndoCopies = true
			err := out.Encode(map[string]any{
				"id": "undo/" + dataset + "/" + gjson.GetBytes(doc, "id").String(), "kind": "undo", "subset": l.subset,
				"commit": version, "loader": l.token, "dataset": dataset, "doc": json.RawMessage(doc),
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// undo rolls back a failed commit, as far as the server can be reached; the next client does the rest. It needs the
// copies of the documents that the commit replaced.
func (l *loader) undo(ctx context.Context, subsetLock *lock, version int64) {
	l.headersVersion = -1
	ctx, stop := context.WithTimeout(ctx, undoPatience)
	defer stop()
	if l.feed != nil {
		_ = l.feed.l.Close() // it is not used any more
	}
	err := l.rollBack(ctx, subsetLock)
	if err != nil {
		l.unfinished = version
		l.a.recovered.Delete(l.subset) // so that this session, too, reads nothing before the rollback
		subsetLock.abandon()
		l.a.db.log.Warn("a failed commit was not rolled back; the next open of the subset does it", "subset", l.subset, "error", err)
	}
	l.dropFeed(ctx)
}

func (l *loader) rollBack(ctx context.Context, subsetLock *lock) error {
	if err := l.a.db.client.cancelAll(ctx, subsetLock.token); err != nil {
		return err
	}
	s := newState(l.subset)
	if _, err := l.a.db.client.run(ctx, request{text: l.a.stateQuery(l.subset), row: s.row}); err != nil {
		return err
	}
	if h, err := l.a.holder(ctx, l.subset); err != nil || h.token != subsetLock.token {
		if err == nil { // the last request of the commit was executed
			subsetLock.abandon()
		}
		return err
	}
	if err := l.a.recover(ctx, l.subset, &s); err != nil {
		return err
	}
	return subsetLock.release(ctx, "")
}

// keysPerQuery is the number of keys in one query.
const keysPerQuery = 500

// readExisting reads the existing documents with keys of a dataset.
func (a *openArchive) readExisting(ctx context.Context, dataset string, keys []string, row func(id string, doc []byte) error) error {
	for some := range slices.Chunk(keys, keysPerQuery) {
		_, err := a.db.client.run(ctx, request{
			text: "SELECT VALUE r FROM " + a.dataset(dataset) + " AS r WHERE r.id IN $keys", params: map[string]any{"keys": some},
			row: func(doc []byte) error {
				id := gjson.GetBytes(doc, "id").String()
				if id == "" {
					return fmt.Errorf("asterixdb: %s contains a document without id", dataset)
				}
				return row(id, doc)
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// docWriter writes documents.
type docWriter struct {
	pending
	groupers map[*record.LineType]*design.Grouper
}

type docRef struct {
	header record.Header
	valid  int64
}

func (w *docWriter) find(ctx context.Context, stored *archive.CommitResult) error {
	w.groupers = map[*record.LineType]*design.Grouper{}
	wanted := map[string][]string{}
	for _, t := range w.l.types {
		g := design.NewGrouper(t)
		seen := map[docRef]struct{}{}
		for _, b := range w.l.batches[t] {
			g.Add(b)
			stored.New += int64(b.Len())
			for i := range b.Len() {
				ref := docRef{*b.Header(i), b.Valid[i]}
				if _, ok := seen[ref]; ok || !w.state.catalog.GroupFor(t, &ref.header).MayContain(ref.valid) {
					continue
				}
				seen[ref] = struct{}{}
				name := w.l.a.target(t)
				wanted[name] = append(wanted[name], string(design.AppendKey(nil, t, w.l.subset, &ref.header, ref.valid)))
			}
		}
		w.groupers[t] = g
	}
	for name, ids := range wanted {
		existing := map[string][]byte{}
		w.existing[name] = existing
		err := w.l.a.readExisting(ctx, name, ids, func(id string, doc []byte) error { existing[id] = bytes.Clone(doc); return nil })
		if err != nil {
			return err
		}
	}
	return w.count(stored)
}

// count distinguishes new records from replaced ones.
func (w *docWriter) count(stored *archive.CommitResult) error {
	var existing, merged record.Batch
	for _, t := range w.l.types {
		for range w.groupers[t].HeadersAndTimes() {
			stored.Objects++
		}
		if len(w.existing[w.l.a.target(t)]) == 0 {
			continue
		}
		for doc := range w.groupers[t].Docs() {
			resolve := func(i, j int) { stored.Resolve(doc.Files[j], &existing, i, doc.Rows, j) }
			rows, err := w.merge(doc, &existing, &merged, resolve)
			if err != nil {
				return err
			}
			if rows == &merged {
				stored.Objects--
			}
		}
	}
	return nil
}

// merge merges a document with the existing one of its id, which it reads into existing, and returns merged. If none
// exists, it returns the document's own records. It calls resolve for each record that both documents contain.
func (w *docWriter) merge(doc *design.Doc, existing, merged *record.Batch, resolve func(i, j int)) (*record.Batch, error) {
	t := doc.Rows.Type
	key := design.AppendKey(nil, t, w.l.subset, doc.Header(), doc.Valid())
	old, ok := w.existing[w.l.a.target(t)][string(key)]
	if !ok {
		return doc.Rows, nil
	}
	existing.Reset(t, "")
	entries := []byte(gjson.GetBytes(old, "data").Raw)
	if err := design.ParseEntries(entries, existing, existing.AddHeader(*doc.Header()), doc.Valid()); err != nil {
		return nil, err
	}
	design.Merge(merged, existing, doc, resolve)
	return merged, nil
}

func (w *docWriter) parts() []part { return w.typeParts(w.lines) }

// lines writes the documents of line types.
func (w *docWriter) lines(out io.Writer, types []*record.LineType) error {
	var existing, merged record.Batch
	var buf []byte
	for _, t := range types {
		for doc := range w.groupers[t].Docs() {
			rows, err := w.merge(doc, &existing, &merged, func(int, int) {})
			if err != nil {
				return err
			}
			buf = design.AppendJSON(buf[:0], w.l.subset, rows)
			buf = strconv.AppendInt(appendMember(buf[:len(buf)-1], commitMember), w.version, 10)
			if _, err := out.Write(append(buf, "}\n"...)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *docWriter) committed(int64) {}
