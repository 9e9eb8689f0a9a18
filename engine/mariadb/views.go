package mariadb

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// objectView is METviewer's table for the lines of a type of objects or cyclones. Its headers include
// times, leads and radii, and are not in stat_header. Barograph stores and queries the records in its
// own tables, as all others. It also writes METviewer's tables, with barograph_row as the number of the
// record's row.
type objectView struct {
	table, header string
	typeID        int    // line_type_lu_id of the headers
	set           string // assignments of columns that the record does not have
	child         string // table of repeating columns; "" = none
}

func objectViews() map[string]objectView {
	return map[string]objectView{
		"MODE_CTS":          {"mode_cts", "mode_header", 19, "", ""},
		"MODE_OBJ_SINGLE":   {"mode_obj_single", "mode_header", 17, "mode_obj_id = " + rowColumn, ""},
		"MODE_OBJ_PAIR":     {"mode_obj_pair", "mode_header", 18, "mode_obj_obs_id = 0, mode_obj_fcst_id = 0", ""},
		"MTD_2D_OBJ":        {"mtd_2d_obj", "mtd_header", 19, "", ""},
		"MTD_3D_OBJ_SINGLE": {"mtd_3d_obj_single", "mtd_header", 17, "", ""},
		"MTD_3D_OBJ_PAIR":   {"mtd_3d_obj_pair", "mtd_header", 18, "", ""},
		"TCMPR":             {"line_data_tcmpr", "tcst_header", 0, "", ""},
		"TCDIAG":            {"line_data_tcdiag", "tcst_header", 0, idOfLines + " = " + rowColumn, "line_data_tcdiag_diag"},
		"PROBRIRW":          {"line_data_probrirw", "tcst_header", 0, idOfLines + " = " + rowColumn, "line_data_probrirw_thresh"},
	}
}

// id returns the column that numbers the view's rows.
func (v objectView) id() string {
	name, _, _ := strings.Cut(v.set, " = "+rowColumn)
	if name == v.set { // no column of METviewer has the number of the row
		return rowColumn
	}
	return name
}

// family returns the tables that are written together with a view: METviewer's tables of MODE, of MTD
// or of cyclones.
func (v objectView) family() []string {
	tables := []string{v.header}
	for _, other := range objectViews() {
		if other.header == v.header {
			tables = append(tables, other.table)
			if child := other.child; child != "" {
				tables = append(tables, child)
			}
		}
	}
	slices.Sort(tables)
	return tables
}

// recordNames are the names in a record of METviewer's columns that have other names there.
var recordNames = map[string]string{ //nolint:gochecknoglobals // a constant table
	"fcst_thr": "fcst_thresh", "obs_thr": "obs_thresh", "fcst_rad": "interp_pnts", "amodel": "model", "bmodel": "obtype", "basin": "vx_mask",
	"axis_avg": "axis_ang", "fcst_valid": "fcst_valid_beg", "fcst_init": "fcst_init_beg", "obs_valid": "obs_valid_beg",
	"linenumber": "line_num", "line_number": "line_num", "level": "storm_level",
}

// viewColumns returns the columns of one of METviewer's tables that a record fills.
func viewColumns(t *record.LineType, table string) (out []column) {
	known := map[string]sqlengine.Column{}
	for _, c := range append(sqlengine.HeaderColumns(), sqlengine.LineColumns(t)...) {
		known[c.Name] = c
	}
	for _, m := range objectColumns(table) {
		if c, ok := known[cmp.Or(recordNames[m.name], m.name)]; ok {
			out = append(out, column{Column: c, met: m})
		}
	}
	return out
}

func objectColumns(table string) []metCol {
	for _, t := range metviewerObjects {
		if t.name == table {
			return parseColumns(t.columns, "")
		}
	}
	return nil
}

// isView reports whether a table is one of objectViews.
func isView(table string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(objectViews())), func(v objectView) bool { return v.table == table })
}

// typesWithView returns the line types of the commit that have a view.
func (w *lineWriter) typesWithView() []*record.LineType {
	return lists.Filter(w.l.types, func(t *record.LineType) bool { _, ok := objectViews()[t.Name]; return ok })
}

// viewTables returns the tables that a commit writes for METviewer.
func (w *lineWriter) viewTables() (tables []string) {
	for _, t := range w.typesWithView() {
		tables = append(tables, objectViews()[t.Name].family()...)
	}
	slices.Sort(tables)
	return slices.Compact(tables)
}

// pendingViews returns what recordPending records of views.
func (w *lineWriter) pendingViews() (pending []string) {
	for _, t := range w.typesWithView() {
		v := objectViews()[t.Name]
		pending = append(pending, pendingRow(v.table, rowColumn, w.first))
		if child := v.child; child != "" {
			pending = append(pending, pendingRow(child, idOfLines, w.first))
		}
	}
	for header, known := range w.viewHeaders {
		_, first := known.Uncommitted()
		pending = append(pending, pendingRow(header, header+"_id", first))
	}
	return pending
}

// readViews reads the headers in METviewer's tables of objects.
func (w *lineWriter) readViews(ctx context.Context) error {
	for _, t := range w.typesWithView() {
		v := objectViews()[t.Name]
		if w.viewHeaders[v.header] != nil {
			continue
		}
		known := sqlengine.NewInterner[string]()
		cols := viewHeaderColumns(t, v)
		exprs := make([]string, len(cols), len(cols)+2)
		for k, c := range cols {
			if exprs[k] = "CAST(" + c.met.name + " AS CHAR)"; c.met.kind == datetime {
				exprs[k] = "DATE_FORMAT(" + c.met.name + ", '%Y%m%d%H%i%S')"
			}
		}
		if v.header == "mtd_header" {
			exprs = append(exprs, "COALESCE(revision_id, -1)", "COALESCE(IF(revision_id IS NULL, '', (SELECT MAX(object_id) FROM "+
				w.l.table("mtd_2d_obj")+" o WHERE o.mtd_header_id = mtd_header.mtd_header_id)), '')")
		}
		err := w.l.rows(ctx, "SELECT "+v.header+"_id, "+strings.Join(exprs, ", ")+" FROM "+w.l.table(v.header), func(cells []any) error {
			var id int64
			if err := sqlengine.Scan(cells, &id); err != nil {
				return err
			}
			var key []byte
			for k := range cols {
				var text string
				if cells[k+1] == nil {
					key = append(key, null...)
				} else if err := sqlengine.Scan(cells[k+1:], &text); err != nil {
					return err
				}
				key = append(appendText(key, text), '\t')
			}
			var revision int64
			var object string
			if len(exprs) > len(cols) {
				if err := sqlengine.Scan(cells[1+len(cols):], &revision, &object); err != nil {
					return err
				}
			}
			if object != "" {
				w.revisions[revisionKey(key, cols, object)] = revision
			}
			known.Add(string(key)+object, id)
			return nil
		})
		if err != nil {
			return err
		}
		w.viewHeaders[v.header] = known
	}
	return nil
}

// revisedObject returns the object to which a record of MTD's revisions belongs; "" = not a revision.
// METviewer finds the revisions of one object by the revision_id of their headers. Therefore each
// object has its own headers.
func revisedObject(b *record.Batch, i int) string {
	if c, ok := b.Type.Column("object_id"); ok && b.Type.Name == "MTD_2D_OBJ" && strings.HasPrefix(b.Header(i)[record.FcstVar], "REV_") {
		return b.Text[c.Slot][i]
	}
	return ""
}

// revisionKey is the common part of the headers of an object's revisions: all but lead and init. key
// contains the columns in the text of LOAD DATA.
func revisionKey(key []byte, cols []column, object string) string {
	fields := strings.Split(string(key), "\t")
	for k := range cols {
		if name := cols[k].met.name; name == "fcst_lead" || name == "fcst_init" {
			fields[k] = ""
		}
	}
	return strings.Join(fields, "\t") + object
}

// viewHeaderColumns returns the columns by which METviewer's headers of a type differ.
func viewHeaderColumns(t *record.LineType, v objectView) []column {
	return lists.Filter(viewColumns(t, v.header), func(c column) bool { return c.From != sqlengine.FileID && c.From != sqlengine.LineNum })
}

// writeView writes the rows of a type in METviewer's tables, numbered from first, and their new headers.
func (w *lineWriter) writeView(ctx context.Context, lt *lineTable, first int64) error {
	v, ok := objectViews()[lt.t.Name]
	if !ok {
		return nil
	}
	headerIDs, err := w.writeViewHeaders(ctx, lt, v)
	if err != nil {
		return err
	}
	cols := viewColumns(lt.t, v.table)
	f := infile{table: w.l.table(v.table), columns: append([]string{rowColumn, v.header + "_id"}, metNames(cols)...), set: v.set}
	err = w.load(ctx, f, lt, first, func(out *rowWriter, id int64, batch int, b *record.Batch, i int) error {
		dst := strconv.AppendInt(append(strconv.AppendInt(out.row(), id, 10), '\t'), headerIDs[id-first], 10)
		for k := range cols {
			dst = w.appendView(append(dst, '\t'), lt, &cols[k], batch, b, i)
		}
		return out.end(dst)
	})
	if err != nil {
		return err
	}
	if child := v.child; child != "" {
		return w.writeChildren(ctx, lt, child, objectColumns(child)[2:], true)
	}
	if v.header == "mode_header" && lt.t.Name != "MODE_CTS" {
		return w.linkPairs(ctx, headerIDs)
	}
	return nil
}

// appendView is append, except that it writes a missing text in a column of one letter as X, as METdbLoad
// does.
func (w *lineWriter) appendView(dst []byte, lt *lineTable, c *column, batch int, b *record.Batch, i int) []byte {
	if c.met.kind == varchar && c.met.width == 1 && b.Text[c.Data.Slot][i] == record.NA {
		return append(dst, 'X')
	}
	return w.append(dst, lt, c, batch, b, i)
}

func metNames(cols []column) []string {
	return lists.Map(cols, func(c column) string { return c.met.name })
}

// writeViewHeaders numbers the headers of the rows of a type and writes the new ones.
func (w *lineWriter) writeViewHeaders(ctx context.Context, lt *lineTable, v objectView) (headerIDs []int64, err error) {
	known, cols := w.viewHeaders[v.header], viewHeaderColumns(lt.t, v)
	written, _ := known.Uncommitted()
	var suffixes []string // the last columns of each new header: type, file, line and revision
	var key []byte
	for batch, b := range lt.batches {
		for i := range b.Len() {
			key = key[:0]
			for k := range cols {
				key = append(w.append(key, lt, &cols[k], batch, b, i), '\t')
			}
			before, _ := known.Uncommitted()
			object := revisedObject(b, i)
			id, _ := known.ID(string(key) + object)
			if now, _ := known.Uncommitted(); len(now) > len(before) {
				suffixes = append(suffixes, fmt.Sprintf("%d\t%d\t%d", v.typeID, lt.files[batch], b.Line[i]))
				if v.header == "mtd_header" {
					suffixes[len(suffixes)-1] += "\t" + w.revision(key, cols, object, id)
				}
			}
			headerIDs = append(headerIDs, id)
		}
	}
	all, first := known.Uncommitted()
	fresh := all[len(written):]
	if len(fresh) == 0 {
		return headerIDs, nil
	}
	names := append([]string{v.header + "_id"}, metNames(cols)...)
	if v.typeID > 0 {
		names = append(names, "line_type_lu_id", "data_file_id", "linenumber")
	}
	if v.header == "mtd_header" {
		names = append(names, "revision_id")
	}
	f := infile{table: w.l.table(v.header), columns: names, charset: "binary"}
	f.rows = func(out *rowWriter) error {
		for n, text := range fresh {
			dst := append(strconv.AppendInt(out.row(), first+int64(len(written)+n), 10), '\t')
			text = text[:strings.LastIndexByte(text, '\t')+1] // the object of a revision follows it
			if dst = append(dst, text...); v.typeID > 0 {
				dst = append(dst, suffixes[n]...)
			} else {
				dst = dst[:len(dst)-1]
			}
			if err := out.end(dst); err != nil {
				return err
			}
		}
		return nil
	}
	_, err = f.load(ctx, w.l.conn)
	return headerIDs, err
}

// revision returns the revision_id of a new header: the number of the first header of its object, which
// is greater than all that METdbLoad has used.
func (w *lineWriter) revision(key []byte, cols []column, object string, id int64) string {
	if object == "" {
		return null
	}
	k := revisionKey(key, cols, object)
	if _, ok := w.revisions[k]; !ok {
		w.revisions[k] = id
	}
	return strconv.FormatInt(w.revisions[k], 10)
}

// appendNamed appends values with their names.
func appendNamed(out *rowWriter, id int64, columns []metCol, names []string, values []float64) error {
	for n, v := range values {
		name := record.NA
		if n < len(names) {
			name = names[n]
		}
		dst := append(strconv.AppendInt(out.row(), id, 10), '\t')
		dst = append(strconv.AppendInt(dst, int64(n+1), 10), '\t')
		dst, _ = appendLatin(dst, name, columns[0].width)
		if err := out.end(appendChild(append(dst, '\t'), &columns[1], v)); err != nil {
			return err
		}
	}
	return nil
}

// linkPairs sets the numbers of the objects in the pairs of some headers.
func (w *lineWriter) linkPairs(ctx context.Context, headerIDs []int64) error {
	headerIDs = slices.Clone(headerIDs)
	slices.Sort(headerIDs)
	pairs, singles := w.l.table("mode_obj_pair"), w.l.table("mode_obj_single")
	for some := range slices.Chunk(slices.Compact(headerIDs), probeHeaders) {
		for column, part := range map[string]string{"mode_obj_fcst_id": "1", "mode_obj_obs_id": "-1"} {
			err := w.l.exec(ctx, "UPDATE "+pairs+" SET "+column+" = COALESCE((SELECT MAX(mode_obj_id) FROM "+singles+
				" WHERE mode_obj_single.mode_header_id = mode_obj_pair.mode_header_id AND mode_obj_single.object_id = "+
				"SUBSTRING_INDEX(mode_obj_pair.object_id, '_', "+part+")), 0) WHERE "+rowColumn+
				" IS NOT NULL AND mode_header_id IN "+flavour.List(some, decimal))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// removeView returns, for remove, the rows of a type's view as the end of DELETE statements.
func (a *openArchive) removeView(t *record.LineType, subset, in string) (texts []string) {
	v, ok := objectViews()[t.Name]
	if !ok {
		return nil
	}
	if child := v.child; child != "" {
		texts = append(texts, a.table(subset, child)+" WHERE "+idOfLines+in)
	}
	return append(texts, a.table(subset, v.table)+" WHERE "+rowColumn+in)
}
