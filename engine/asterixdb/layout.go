package asterixdb

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
	"github.com/zeebo/xxh3"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/record"
)

// Barograph's own members and datasets; see doc.go.
const (
	stateDataset = "barograph"        // catalogs, marks, locks, records of commits in flight
	commitMember = "barograph_commit" // in every document and row: the number of the commit that wrote it
)

// dataverse returns the quoted name of the archive's dataverse.
func (a *openArchive) dataverse() string { return ident(a.dataverseName) }

// dataset returns the quoted name of a dataset.
func (a *openArchive) dataset(name string) string {
	return a.dataverse() + "." + ident(name)
}

// target returns the name of the dataset with the records of a line type.
func (a *openArchive) target(t *record.LineType) string {
	return datasetOf(a.table(t), a.db.closed)
}

func (a *openArchive) table(t *record.LineType) string {
	if a.design == design.Normalized {
		return design.LineTable(t)
	}
	return design.DocTable(t)
}

// create returns the statements that create the dataverse and its initial datasets.
func (a *openArchive) create() string {
	out := []string{
		"CREATE DATAVERSE " + a.dataverse() + " IF NOT EXISTS",
		"USE " + a.dataverse(),
		"CREATE TYPE " + anyType + " IF NOT EXISTS AS {id: string}",
		"CREATE DATASET " + stateDataset + "(" + anyType + ") IF NOT EXISTS PRIMARY KEY id",
	}
	if a.design == design.Normalized {
		kind := anyType
		if a.db.closed {
			kind = "header_type"
			out = append(out, closedType(kind, headerMembers()))
		}
		out = append(out, "CREATE DATASET "+design.HeaderTable+"("+kind+") IF NOT EXISTS PRIMARY KEY id")
	}
	if !a.db.closed {
		out = append(out, a.createTarget(record.Types()[0])...)
	}
	return strings.Join(out, ";\n")
}

// anyType is the open type of documents of any form.
const anyType = "barograph_any"

// createTarget returns the statements that create the dataset of a line type, within the dataverse.
func (a *openArchive) createTarget(t *record.LineType) []string {
	name, kind := a.target(t), anyType
	var out []string
	if a.db.closed {
		kind = name + "_type"
		if a.design == design.Document {
			out = append(out, closedType(name+"_entry", entryMembers(t)))
			out = append(out, closedType(kind, append(docMembers(), "data: ["+name+"_entry]")))
		} else {
			out = append(out, closedType(kind, rowMembers(t)))
		}
	}
	out = append(out, "CREATE DATASET "+name+"("+kind+") IF NOT EXISTS PRIMARY KEY id")
	return append(out, a.createIndexes(name)...)
}

func (a *openArchive) createIndexes(dataset string) []string {
	text, number, lead := ":string?", ":bigint?", ":bigint"
	if a.db.closed {
		text, number, lead = "", "", ""
	}
	if a.design == design.Normalized {
		return []string{"CREATE INDEX by_header IF NOT EXISTS ON " + dataset + "(stat_header_id" + text + ", fcst_valid_beg" + number + ")"}
	}
	series := "subset" + text + ", line_type" + text + ", model" + text + ", fcst_var" + text
	var out []string
	for _, name := range a.db.indexes {
		switch name {
		case "epoch":
			out = append(out, "CREATE INDEX by_epoch IF NOT EXISTS ON "+dataset+"("+series+", fcst_valid_epoch"+number+")")
		case "iso":
			out = append(out, "CREATE INDEX by_iso IF NOT EXISTS ON "+dataset+"("+series+", fcst_valid_beg"+text+")")
		case "lead":
			out = append(out, "CREATE INDEX by_lead IF NOT EXISTS ON "+dataset+"(UNNEST data SELECT fcst_lead"+lead+") EXCLUDE UNKNOWN KEY")
		}
	}
	return out
}

func closedType(name string, members []string) string {
	return "CREATE TYPE " + name + " IF NOT EXISTS AS CLOSED {" + strings.Join(members, ", ") + "}"
}

// ownMembers are Barograph's own members.
func ownMembers() []string {
	return []string{"id: string", "subset: string", commitMember + ": bigint"}
}

func docMembers() []string {
	out := append(ownMembers(), "line_type: string")
	for f := range record.NumFields {
		out = append(out, ident(f.String())+": string")
	}
	return append(out, "fcst_valid_epoch: bigint", "fcst_valid_beg: string")
}

// entryMembers are the members of a document's entries; see design.AppendJSON.
func entryMembers(t *record.LineType) []string {
	out := []string{"fcst_lead: bigint", "fcst_valid_end: bigint?", "obs_lead: bigint?", "obs_valid_beg: bigint?", "obs_valid_end: bigint?"}
	for _, c := range t.Columns {
		kind := "double?"
		if c.Kind == record.Text {
			kind = "string"
		}
		out = append(out, ident(c.Name)+": "+kind)
	}
	if t.Group != nil {
		out = append(out, "repeats: [double?]")
	}
	return out
}

func headerMembers() []string {
	out := append(ownMembers(), "stat_header_id: string")
	for f := range record.CovThresh {
		out = append(out, ident(f.String())+": string")
	}
	return out
}

func rowMembers(t *record.LineType) []string {
	out := append(ownMembers(), "line_type: string")
	for _, c := range sqlengine.LineColumns(t) {
		kind := "bigint"
		switch {
		case c.From == sqlengine.HeaderID || c.From == sqlengine.FileID || c.Type == sqlengine.Text:
			kind = "string"
		case c.Type == sqlengine.Double || c.Type == sqlengine.Count:
			kind = "double?"
		case c.Type == sqlengine.Doubles:
			kind = "[double?]"
		}
		out = append(out, ident(c.Name)+": "+kind)
	}
	return out
}

// headerID returns the stat_header_id of a header in a subset. It is a digest: a record that is loaded
// again finds its header and itself.
func headerID(subset string, h *record.Header) string {
	k := sqlengine.HeaderKey(*h)
	var buf []byte
	for _, part := range append([]string{subset}, k[:]...) {
		buf = strconv.AppendInt(buf, int64(len(part)), 10)
		buf = append(append(buf, ':'), part...)
	}
	sum := xxh3.Hash128(buf).Bytes()
	return hex.EncodeToString(sum[:])
}

// rowID returns the primary key of a record in a subset, computed from its identity.
func rowID(subset string, k record.Key) string {
	b := k.Bytes()
	return strconv.FormatUint(xxh3.HashString(subset), 16) + "-" + hex.EncodeToString(b[:])
}

// appendOwn begins an object with Barograph's own members.
func appendOwn(dst []byte, id, subset string, commit int64) []byte {
	dst = append(append(dst, `{"id":`...), quote(id)...)
	dst = append(append(dst, `,"subset":`...), quote(subset)...)
	dst = append(append(dst, `,"`...), commitMember...)
	return strconv.AppendInt(append(dst, `":`...), commit, 10)
}

func appendMember(dst []byte, name string) []byte {
	return append(append(append(dst, `,"`...), name...), `":`...)
}

// appendHeader appends a header as a line of JSON.
func appendHeader(dst []byte, subset string, h *record.Header, commit int64) []byte {
	id := headerID(subset, h)
	dst = appendOwn(dst, id, subset, commit)
	dst = append(appendMember(dst, "stat_header_id"), quote(id)...)
	for f := range record.CovThresh {
		dst = append(appendMember(dst, f.String()), quote(h[f])...)
	}
	return append(dst, "}\n"...)
}

// appendRow appends row i of b as a line of JSON.
func appendRow(dst []byte, subset, header string, cols []sqlengine.Column, b *record.Batch, i int, id string, commit int64) []byte {
	dst = appendOwn(dst, id, subset, commit)
	dst = append(appendMember(dst, "line_type"), quote(b.Type.Name)...)
	h := b.Header(i)
	for k := range cols {
		c := &cols[k]
		n := len(dst)
		dst = appendMember(dst, c.Name)
		switch c.From {
		case sqlengine.HeaderID:
			dst = append(dst, quote(header)...)
		case sqlengine.FileID:
			dst = append(dst, quote(strconv.FormatUint(xxh3.HashString(b.File), 16))...)
		case sqlengine.LineNum:
			dst = strconv.AppendInt(dst, int64(b.Line[i]), 10)
		case sqlengine.Header:
			dst = append(dst, quote(h[c.Field])...)
		case sqlengine.Lead:
			dst = strconv.AppendInt(dst, design.LeadCode(h[record.Version], b.Lead[i]), 10)
		case sqlengine.ValidBeg:
			dst = strconv.AppendInt(dst, b.Valid[i], 10)
		case sqlengine.ValidEnd:
			dst = strconv.AppendInt(dst, b.ValidEnd[i], 10)
		case sqlengine.InitBeg:
			dst = strconv.AppendInt(dst, b.Init(i), 10)
		case sqlengine.ObsLead:
			dst = strconv.AppendInt(dst, design.LeadHMS(b.ObsLead[i]), 10)
		case sqlengine.ObsBeg:
			dst = strconv.AppendInt(dst, b.ObsBeg[i], 10)
		case sqlengine.ObsEnd:
			dst = strconv.AppendInt(dst, b.ObsEnd[i], 10)
		case sqlengine.Repeats:
			dst = design.AppendRepeats(dst, b.Repeats(i))
		default:
			if c.Data.Kind == record.Text {
				dst = append(dst, quote(b.Text[c.Data.Slot][i])...)
			} else if f := b.Num[c.Data.Slot][i]; math.IsNaN(f) {
				dst = dst[:n] // a missing value has no member
			} else {
				dst = strconv.AppendFloat(dst, f, 'g', -1, 64)
			}
		}
	}
	return append(dst, "}\n"...)
}

// rowWriter writes METviewer's tables.
type rowWriter struct {
	pending
	newHeaders map[string]record.Header // new headers by stat_header_id
}

func (w *rowWriter) find(ctx context.Context, stored *archive.CommitResult) error {
	if err := w.headers(ctx); err != nil {
		return err
	}
	w.newHeaders = map[string]record.Header{}
	var hash record.Hasher
	for _, t := range w.l.types {
		incoming := map[string]archive.Position{} // records that may replace a row, by the row's id
		var wanted []string
		for _, b := range w.l.batches[t] {
			stored.New += int64(b.Len())
			hash.SetBatch(b)
			groups := make([]*design.Group, len(b.Headers)) // groups that may contain records of the header
			for k := range b.Headers {
				groups[k] = w.state.catalog.GroupFor(t, &b.Headers[k])
				if id := headerID(w.l.subset, &b.Headers[k]); !w.l.headers[id] {
					w.newHeaders[id] = b.Headers[k]
				}
			}
			for i := range b.Len() {
				if g := groups[b.HeaderIndex[i]]; g.MayContain(b.Valid[i]) && g.HasLead(b.Lead[i]) {
					id := rowID(w.l.subset, hash.Key(i))
					incoming[id] = archive.Position{Batch: b, I: i}
					wanted = append(wanted, id)
				}
			}
		}
		cols := sqlengine.LineColumns(t)
		existingRow := newCollector(t, cols)
		name := w.l.a.target(t)
		if w.existing[name] == nil {
			w.existing[name] = map[string][]byte{}
		}
		err := w.l.a.readExisting(ctx, name, wanted, func(id string, row []byte) error {
			w.existing[name][id] = bytes.Clone(row)
			position := incoming[id]
			existingRow.Reset()
			existingRow.SetHeader(*position.Batch.Header(position.I))
			for k := range cols {
				if err := collect(existingRow, k, &cols[k], gjson.GetBytes(row, cols[k].Name)); err != nil {
					return err
				}
			}
			if err := existingRow.EndRow(); err != nil {
				return err
			}
			stored.Resolve(position.Batch.File, &existingRow.Batch, 0, position.Batch, position.I)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// headers reads which headers exist, unless the loader knows them from its own last commit.
func (w *rowWriter) headers(ctx context.Context) error {
	if w.l.headersVersion == w.state.version {
		return nil
	}
	existing := map[string]bool{}
	ids, err := w.l.a.db.client.texts(ctx,
		"SELECT VALUE h.id FROM "+w.l.a.dataset(design.HeaderTable)+" AS h WHERE h.subset = "+quote(w.l.subset))
	for _, id := range ids {
		existing[id] = true
	}
	if err == nil {
		w.l.headers, w.l.headersVersion = existing, w.state.version
	}
	return err
}

func (w *rowWriter) parts() []part {
	var out []part
	if len(w.newHeaders) > 0 {
		kind := anyType
		if w.l.a.db.closed {
			kind = "header_type"
		}
		out = append(out, part{dataset: design.HeaderTable, kind: kind, allNew: true, lines: w.headerLines})
	}
	return append(out, w.typeParts(w.lines)...)
}

func (w *rowWriter) headerLines(out io.Writer) error {
	var buf []byte
	for _, h := range w.newHeaders {
		buf = appendHeader(buf[:0], w.l.subset, &h, w.version)
		if _, err := out.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

func (w *rowWriter) lines(out io.Writer, types []*record.LineType) error {
	var hash record.Hasher
	var buf []byte
	for _, t := range types {
		cols := sqlengine.LineColumns(t)
		for _, b := range w.l.batches[t] {
			hash.SetBatch(b)
			ids := make([]string, len(b.Headers))
			for k := range b.Headers {
				ids[k] = headerID(w.l.subset, &b.Headers[k])
			}
			for i := range b.Len() {
				buf = appendRow(buf[:0], w.l.subset, ids[b.HeaderIndex[i]], cols, b, i, rowID(w.l.subset, hash.Key(i)), w.version)
				if _, err := out.Write(buf); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (w *rowWriter) committed(version int64) {
	for id := range w.newHeaders {
		w.l.headers[id] = true
	}
	w.l.headersVersion = version
}
