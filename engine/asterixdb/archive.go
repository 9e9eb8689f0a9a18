package asterixdb

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/flavour"
	"github.com/barograph/barograph/question"
	"github.com/barograph/barograph/record"
)

// archive is the server under one design.
type archive struct {
	db      *database
	design  design.Name
	space   string // the dataverse
	dialect *flavour.Dialect
	seen    sync.Map // subsets in which nothing is left of a load that died
	made    sync.Map // true: the dataverse is there; line types whose datasets are
}

// Open opens the archive under a design.
func (d *database) Open(_ context.Context, n design.Name) (engine.Archive, error) {
	if _, ok := Driver().Offers[n]; !ok {
		return nil, fmt.Errorf("asterixdb: %s: %w", n, engine.ErrNoDesign)
	}
	space := d.name + "_" + string(n)
	return &archive{db: d, design: n, space: space, dialect: dialectIn(space, d.closed)}, nil
}

func (a *archive) Close() error { return nil }

func (a *archive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*engine.Query, error) {
	if err := Driver().Express(a.design, f, q); err != nil {
		return nil, err
	}
	state, err := a.state(ctx, q.Subset)
	if err != nil {
		return nil, err
	}
	dialect := a.dialect
	if state.astral {
		d := *dialect
		d.Sorted = codepoints
		dialect = &d
	}
	return sqlengine.Phrase(dialect, a.design, f, q, state.catalog)
}

func (a *archive) Ask(ctx context.Context, q *engine.Query, into *answer.Builder) error {
	d := sqlengine.NewDecoder(a.design, q, into)
	cols := q.Question.Columns
	out, err := a.db.client.run(ctx, request{text: q.Text, params: params(q), row: func(row []byte) error {
		k, err := 0, error(nil)
		gjson.ParseBytes(row).ForEach(func(_, cell gjson.Result) bool {
			if k == len(cols) {
				err = errors.New("asterixdb: a row has too many columns")
				return false
			}
			err = d.Value(k, cellOf(cell, cols[k].Kind != question.Time && cols[k].Kind != question.Span))
			k++
			return err == nil
		})
		if err == nil && k < len(cols) {
			err = fmt.Errorf("asterixdb: a row has %d columns, not %d: %s", k, len(cols), row)
		}
		d.Row()
		return err
	}})
	q.Server = out.server
	if absent(err) {
		return nil
	}
	return err
}

// params are the statement parameters of a query.
func params(q *engine.Query) map[string]any {
	if len(q.Args) == 0 {
		return nil
	}
	return map[string]any{keysParameter: q.Args[0]}
}

// cellOf is a cell as sqlengine takes it. A number that may have a fraction
// stays text, so that it is parsed once, and to the bit.
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

// targets are the datasets that may hold records of a subset, with the line
// types that each of them holds.
func (a *archive) targets(c *design.Catalog) (order []string, types map[string][]*record.LineType) {
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

func (a *archive) Contents(ctx context.Context, subset string) (engine.Contents, error) {
	c := engine.Contents{Records: map[string]int64{}, Object: "rows"}
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
			text: "SELECT VALUE [lt, COUNT(*), " + count + "] FROM " + a.dataset(name) + " AS r WHERE r.subset = " + quote(subset) + " GROUP BY r.line_type AS lt",
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

// Size is what the files of the dataverse hold, after the server wrote what is
// in its memory. AsterixDB tells nobody that does not share its disk.
func (a *archive) Size(ctx context.Context) (int64, error) {
	var sets []string
	_, err := a.db.client.run(ctx, request{
		text: "SELECT VALUE d.DatasetName FROM Metadata.`Dataset` AS d WHERE d.DatasetType = \"INTERNAL\" AND d.DataverseName = " + quote(a.space),
		row:  func(row []byte) error { sets = append(sets, gjson.ParseBytes(row).String()); return nil },
	})
	if err != nil || len(sets) == 0 {
		return 0, err
	}
	for _, name := range sets { // the connector's page flushes the dataset
		if _, err := a.db.client.get(ctx, "/connector?dataverseName="+a.space+"&datasetName="+name); err != nil {
			return 0, err
		}
	}
	devices, err := a.db.devices(ctx)
	if err != nil {
		return 0, err
	}
	var total int64
	for _, d := range devices {
		n, err := sizeOf(d.folder, a.space)
		if err != nil {
			return 0, &fault.Error{Setting: a.db.shown, Problem: "the server's files cannot be measured from here", Err: err, Cure: "measure on the machine that runs the server, as its user"}
		}
		total += n
	}
	return total, nil
}

// device is a folder of a node, which holds one part of every dataset.
type device struct{ node, folder string }

// devices are the folders in which the nodes keep their data, node by node.
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
			for _, dir := range devices.Array() { // one that is not in a list is a list of one
				for folder := range strings.SplitSeq(dir.String(), ",") {
					out = append(out, device{node, folder})
				}
			}
		}
	}
	return out, nil
}

// sizeOf sums the files of a dataverse below a folder: storage/partition_n/dataverse/….
func sizeOf(dir, space string) (int64, error) {
	var total int64
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name != dir {
			return nil // merged away meanwhile
		}
		if err != nil || e.IsDir() || !slices.Contains(strings.Split(filepath.Dir(name), string(filepath.Separator)), space) {
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
