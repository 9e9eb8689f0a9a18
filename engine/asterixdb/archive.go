package asterixdb

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

// openArchive is the archive of one design.
type openArchive struct {
	db            *database
	design        design.Name
	dataverseName string // not quoted
	dialect       *flavour.Dialect
	recovered     sync.Map    // subsets without the remains of a crashed load
	isCreated     atomic.Bool // the dataverse exists
	existing      sync.Map    // line types whose dataset exists
}

// Open opens the archive of a design.
func (d *database) Open(_ context.Context, n design.Name) (archive.Archive, error) {
	if driver := Driver(); archive.Flavours(&driver, n) == nil {
		return nil, fmt.Errorf("asterixdb: %s: %w", n, engine.ErrNoDesign)
	}
	dataverseName := d.name + "_" + string(n)
	return &openArchive{db: d, design: n, dataverseName: dataverseName, dialect: dialectIn(dataverseName, d.closed)}, nil
}

func (a *openArchive) Close() error { return nil }

// OneOfEach returns why METviewer's tables store only one record of an identity.
func (a *openArchive) OneOfEach() string {
	if a.design == design.Normalized {
		return "a row's primary key is its record's identity"
	}
	return ""
}

func (a *openArchive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*archive.Query, error) {
	driver := Driver()
	if err := archive.CanExpress(&driver, a.design, f, q); err != nil {
		return nil, err
	}
	state, err := a.state(ctx, q.Subset)
	if err != nil {
		return nil, err
	}
	dialect := a.dialect
	if state.hasSupplementary {
		d := *dialect
		d.SortKey = codepoints
		dialect = &d
	}
	return sqlengine.Phrase(dialect, a.design, f, q, state.catalog)
}

func (a *openArchive) Ask(ctx context.Context, q *archive.Query, into *answer.Builder) error {
	d := sqlengine.NewResultDecoder(a.design, q, into)
	cols := q.Question.Columns
	out, err := a.db.client.run(ctx, request{text: q.Text, params: params(q), row: func(row []byte) error {
		k, err := 0, error(nil)
		gjson.ParseBytes(row).ForEach(func(_, cell gjson.Result) bool {
			if k == len(cols) {
				err = errors.New("asterixdb: a row has too many columns")
				return false
			}
			err = d.AddValue(k, cellOf(cell, cols[k].Kind != question.Time && cols[k].Kind != question.Duration))
			k++
			return err == nil
		})
		if err == nil && k < len(cols) {
			err = fmt.Errorf("asterixdb: a row has %d columns, not %d: %s", k, len(cols), row)
		}
		d.EndRow()
		return err
	}})
	q.ServerTime = out.server
	if isAbsent(err) {
		catalog, stateErr := a.Catalog(ctx, q.Question.Subset)
		if stateErr != nil || !hasRecords(catalog, q.Question.Type) {
			return stateErr
		}
		return &fault.Error{
			Setting: a.db.displayURL, Problem: "has no dataset of " + q.Question.Type.Name + ", but the catalog counts its records", Err: err,
			Cure: "open the archive with the URL that loaded it: with ?types=closed, or without",
		}
	}
	return err
}

// hasRecords reports whether a catalog counts records of a line type.
func hasRecords(c *design.Catalog, t *record.LineType) bool {
	return slices.ContainsFunc(c.Groups, func(g *design.Group) bool { return g.LineType == t.Name })
}

// params returns the statement parameters of a query.
func params(q *archive.Query) map[string]any {
	if len(q.Args) == 0 {
		return nil
	}
	return map[string]any{keysParameter: q.Args[0]}
}

// cellOf converts a cell for sqlengine. A number that may have a fraction stays text, and is parsed once without loss.
func cellOf(cell gjson.Result, asIs bool) any {
	switch {
	case cell.Type == gjson.Null:
		return nil
	case cell.Type == gjson.String:
		return cell.Str
	case asIs:
		return cell.Raw
	}
	if v, err := strconv.ParseInt(cell.Raw, 10, 64); err == nil {
		return v
	}
	return cell.Num
}

// targets lists the datasets that may contain records of a subset, with their line types.
func (a *openArchive) targets(c *design.Catalog) (order []string, types map[string][]*record.LineType) {
	types = map[string][]*record.LineType{}
	for _, t := range record.Types() {
		if !slices.ContainsFunc(c.Groups, func(g *design.Group) bool { return g.LineType == t.Name }) {
			continue
		}
		name := a.target(t)
		if types[name] == nil {
			order = append(order, name)
		}
		types[name] = append(types[name], t)
	}
	return order, types
}

func (a *openArchive) Contents(ctx context.Context, subset string) (archive.Contents, error) {
	c := archive.Contents{Records: map[string]int64{}, Object: "rows"}
	count := "COUNT(*)"
	if a.design == design.Document {
		c.Object, count = "documents", "SUM(ARRAY_COUNT(r.data))"
	}
	catalog, err := a.Catalog(ctx, subset)
	if err != nil {
		return c, err
	}
	names, _ := a.targets(catalog)
	for _, name := range names {
		_, err := a.db.client.run(ctx, request{
			text: "SELECT VALUE [lt, COUNT(*), " + count + "] FROM " + a.dataset(name) + " AS r " +
				"WHERE r.subset = " + quote(subset) + " GROUP BY r.line_type AS lt",
			row: func(row []byte) error {
				cells := gjson.ParseBytes(row).Array()
				c.Objects += cells[1].Int()
				c.Records[cells[0].String()] = cells[2].Int()
				return nil
			},
		})
		if err != nil {
			return c, err
		}
	}
	return c, nil
}

// Size returns the size of the dataverse's files, after the server has flushed its memory. AsterixDB does
// not report it to clients on other machines.
func (a *openArchive) Size(ctx context.Context) (int64, error) {
	datasets, err := a.db.client.texts(ctx, "SELECT VALUE d.DatasetName FROM Metadata.`Dataset` AS d "+
		"WHERE d.DatasetType = \"INTERNAL\" AND d.DataverseName = "+quote(a.dataverseName))
	if err != nil || len(datasets) == 0 {
		return 0, err
	}
	for _, name := range datasets { // the server flushes a dataset when a client reads its page of the connector
		if _, err := a.db.client.get(ctx, "/connector?dataverseName="+a.dataverseName+"&datasetName="+name); err != nil {
			return 0, err
		}
	}
	devices, err := a.db.devices(ctx)
	if err != nil {
		return 0, err
	}
	var total int64
	for _, d := range devices {
		n, err := sizeOf(d.folder, a.dataverseName)
		if err != nil {
			return 0, &fault.Error{
				Setting: a.db.displayURL,
				Problem: "the server's files cannot be measured from this machine",
				Err:     err,
				Cure:    "measure on the machine that runs the server, as its user",
			}
		}
		total += n
	}
	return total, nil
}

// device is a folder of a node, which contains one partition of every dataset.
type device struct{ node, folder string }

// devices lists the data folders of the nodes, node by node.
func (d *database) devices(ctx context.Context) ([]device, error) {
	cluster, err := d.client.get(ctx, "/admin/cluster")
	if err != nil {
		return nil, err
	}
	var out []device
	for _, nc := range gjson.GetBytes(cluster, "ncs").Array() {
		node := nc.Get("node_id").String()
		config, err := d.client.get(ctx, "/admin/cluster/node/"+node+"/config")
		if err != nil {
			return nil, err
		}
		for _, section := range gjson.GetBytes(config, "config").Array() {
			devices := section.Get("properties.iodevices")
			for _, dir := range devices.Array() { // a single value counts as a list of one
				for folder := range strings.SplitSeq(dir.String(), ",") {
					out = append(out, device{node, folder})
				}
			}
		}
	}
	return out, nil
}

// sizeOf adds up the files of a dataverse below a folder: storage/partition_n/dataverse/….
func sizeOf(dir, dataverseName string) (int64, error) {
	var total int64
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name != dir {
			return nil // a merge has removed it meanwhile
		}
		below := strings.TrimPrefix(name, filepath.Clean(dir)) // the device's own folder may have the dataverse's name
		if err != nil || e.IsDir() || !slices.Contains(strings.Split(filepath.Dir(below), string(filepath.Separator)), dataverseName) {
			return err
		}
		info, err := e.Info()
		if err == nil {
			total += info.Size()
		}
		return nil
	})
	return total, err
}

// Dump reads one line type after the other.
func (a *openArchive) Dump(ctx context.Context, subset string) iter.Seq2[*record.Batch, error] {
	return archive.Dump(func(to *archive.Dumper) error {
		catalog, err := a.Catalog(ctx, subset)
		if err != nil {
			return err
		}
		names, types := a.targets(catalog)
		for _, name := range names {
			for _, t := range types[name] {
				dump := a.dumpRows
				if a.design == design.Document {
					dump = a.dumpDocs
				}
				if err := dump(ctx, subset, t, to); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func (a *openArchive) dumpDocs(ctx context.Context, subset string, t *record.LineType, to *archive.Dumper) error {
	var b record.Batch
	b.Reset(t, "")
	_, err := a.db.client.run(ctx, request{
		text: "SELECT VALUE r FROM " + a.dataset(a.target(t)) + " AS r WHERE r.subset = " + quote(subset) + " AND r.line_type = " + quote(t.Name),
		row: func(doc []byte) error {
			if _, err := design.ParseJSON(doc, &b); err != nil {
				return err
			}
			_, err := to.YieldFull(&b)
			return err
		},
	})
	if err != nil {
		return err
	}
	return to.Yield(&b)
}

// dumpRows joins rows with their headers with a hash join, because all rows are needed.
func (a *openArchive) dumpRows(ctx context.Context, subset string, t *record.LineType, to *archive.Dumper) error {
	var cols []sqlengine.Column
	var exprs []string
	for _, c := range sqlengine.HeaderColumns()[1:] {
		cols, exprs = append(cols, c), append(exprs, "h."+ident(c.Name))
	}
	for _, c := range sqlengine.LineColumns(t) {
		if c.From == sqlengine.HeaderID || c.From == sqlengine.FileID {
			continue
		}
		cols, exprs = append(cols, c), append(exprs, "ld."+ident(c.Name))
	}
	c := newCollector(t, cols)
	name := quote(subset)
	_, err := a.db.client.run(ctx, request{
		text: "SELECT VALUE [" + strings.Join(exprs, ", ") + "] " +
			"FROM " + a.dataset(design.HeaderTable) + " AS h, " + a.dataset(a.target(t)) + " AS ld " +
			"WHERE h.subset = " + name + " AND ld.subset = " + name + " AND ld.line_type = " + quote(t.Name) +
			" AND h.stat_header_id = ld.stat_header_id",
		row: func(row []byte) (err error) {
			k := 0
			gjson.ParseBytes(row).ForEach(func(_, cell gjson.Result) bool {
				err = collect(c, k, &cols[k], cell)
				k++
				return err == nil
			})
			if err != nil {
				return err
			}
			return c.EndRowAndYield(to)
		},
	})
	if err != nil {
		return err
	}
	return to.Yield(&c.Batch)
}

// newCollector returns a collector that converts rows of a line type to records.
func newCollector(t *record.LineType, cols []sqlengine.Column) *sqlengine.RecordDecoder {
	return sqlengine.NewRecordDecoder(design.Normalized, t, cols, func(src any, into []float64) ([]float64, error) {
		return design.ParseRepeats([]byte(src.(string)), into)
	})
}

// collect passes column k of the current row to the collector.
func collect(c *sqlengine.RecordDecoder, k int, col *sqlengine.Column, cell gjson.Result) error {
	if col.Type == sqlengine.Doubles {
		return c.SetValue(k, cell.Raw)
	}
	return c.SetValue(k, cellOf(cell, col.From == sqlengine.Data))
}

// Explain returns the optimizer's plan, as JSON. It runs the query, because a plan that is only compiled
// has no statement parameters. AsterixDB reports no counts.
func (a *openArchive) Explain(ctx context.Context, q *archive.Query) (archive.Plan, error) {
	catalog, err := a.Catalog(ctx, q.Question.Subset)
	if err != nil {
		return archive.Plan{}, err
	}
	if !hasRecords(catalog, q.Question.Type) {
		return archive.Plan{Text: "the subset has no records of this line type\n"}, nil // the datasets exist: other subsets share them
	}
	out, err := a.db.client.run(ctx, request{text: q.Text, params: params(q), plan: true})
	if err != nil {
		return archive.Plan{}, err
	}
	var text bytes.Buffer
	if err := json.Indent(&text, out.plan, "", "  "); err != nil {
		return archive.Plan{}, err
	}
	table, _, _ := sqlengine.DesignTable(a.design, q.Question.Type)
	return archive.Plan{Text: text.String(), Access: accesses(out.plan, table)}, nil
}

// accesses returns the steps that reach datasets. The search of a secondary index and the following search
// of the primary index are one step. With open types one dataset contains all line types; a step names the
// design's table.
func accesses(plan []byte, table string) []archive.Access {
	var out []archive.Access
	add := func(dataset string, m archive.Method, index string) {
		if dataset != design.HeaderTable {
			dataset = table
		}
		out = append(out, archive.Access{Object: dataset, Method: m, Index: index, Examined: -1, Kept: -1})
	}
	var walk func(op gjson.Result)
	walk = func(op gjson.Result) {
		if name := op.Get("data-source").String(); name != "" {
			_, object, _ := strings.Cut(name, ".")
			add(object, archive.FullScan, "")
		}
		s, ok := parseSearch(op)
		switch {
		case !ok:
		case s.index != s.dataset:
			add(s.dataset, archive.IndexScan, s.index)
		case fetches(op): // it fetches the results of the search below it
		case s.single:
			add(s.dataset, archive.KeyLookup, s.index)
		default:
			add(s.dataset, archive.IndexScan, s.index)
		}
		for _, in := range op.Get("inputs").Array() {
			walk(in)
		}
	}
	walk(gjson.ParseBytes(plan))
	slices.Reverse(out) // a plan begins with its last step
	return out
}

// search is a search of an index; the primary index has the dataset's name.
type search struct {
	index, dataset string
	single         bool // for single keys: both bounds are equal
}

// parseSearch parses a search operator:
// index-search("index", 0, "dataverse", "dataset", retain, broadcast, n, low…, n, high…, …).
func parseSearch(op gjson.Result) (search, bool) {
	args, ok := strings.CutPrefix(op.Get("expressions.0").String(), "index-search(")
	parts := strings.Split(strings.TrimSuffix(args, ")"), ", ")
	if !ok || len(parts) < 10 {
		return search{}, false
	}
	return search{strings.Trim(parts[0], `"`), strings.Trim(parts[3], `"`), parts[6] == "1" && parts[7] == parts[9]}, true
}

// fetches reports whether the keys of a search come from the search of a secondary index.
func fetches(op gjson.Result) bool {
	return slices.ContainsFunc(op.Get("inputs").Array(), func(in gjson.Result) bool {
		if s, ok := parseSearch(in); ok {
			return s.index != s.dataset
		}
		return fetches(in)
	})
}
