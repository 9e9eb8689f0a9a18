package asterixdb

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/engine/tables"
	"github.com/barograph/barograph/internal/fault"
)

// scans opens the tables of the study scan as in the experiment with Couchbase Analytics: one collection of
// documents, each with its table's name, joined with itself. The server distributes it over its iodevices
// by the documents' keys, and only its configuration determines the place of an iodevice. Therefore the
// placement must be the one with which the server was started.
type scans struct{ *database }

// These are the names in the dataverse.
const (
	starDataset      = "star"
	placementDataset = "placement" // one record, written last: the placement at which the documents were loaded
)

// star is the collection at a placement.
type star struct {
	db      *database
	place   tables.Placement
	devices []device
}

// Open opens the collection.
func (s scans) Open(ctx context.Context, p tables.Placement) (*tables.Star, error) {
	if err := p.Check(); err != nil {
		return nil, err
	}
	st := &star{db: s.database, place: p}
	var err error
	if st.devices, err = s.devices(ctx); err != nil {
		return nil, err
	}
	if err := st.checkPlacement(); err != nil {
		return nil, err
	}
	e := &sqlengine.StarEngine{
		Location: "dataverse " + st.dataverseName(), ReadOnly: s.readOnly,
		Text: st.text, ReadNote: st.note, Load: st.load, Rows: st.rows, Plan: st.plan,
	}
	if !slices.ContainsFunc(st.devices, func(d device) bool { _, err := os.Stat(d.folder); return err != nil }) {
		e.Size = st.size // only if the server runs on this machine
	}
	return sqlengine.OpenStar(ctx, e, p)
}

// checkPlacement compares the placement with the server's configuration.
func (s *star) checkPlacement() error {
	disagree := func(problem string) error {
		disks := ""
		if len(s.place.Paths) > 0 {
			disks = " --disk " + strings.Join(s.place.Paths, " --disk ")
		}
		return &fault.Error{
			Setting: s.db.displayURL, Problem: problem, Err: tables.ErrPlacement,
			Cure: fmt.Sprintf("start the server with these disks: `barograph lab up asterixdb%s --partitions %d`, "+
				"or name those that it was started with", disks, s.place.Partitions),
		}
	}
	if len(s.devices) != s.place.Partitions {
		return disagree(fmt.Sprintf("has %d partitions (iodevices), not %d", len(s.devices), s.place.Partitions))
	}
	if len(s.place.Paths) == 0 {
		return nil
	}
	want, got := map[string]int{}, map[string]int{}
	for i := range s.place.Partitions {
		want[s.place.Path(i)]++
	}
	for _, d := range s.devices {
		path := s.pathOf(d)
		if path == "" {
			return disagree("has a partition in " + d.folder + ", which is on no path of the placement")
		}
		got[path]++
	}
	for path, n := range want {
		if got[path] != n {
			return disagree(fmt.Sprintf("has %d partitions on %s, not %d", got[path], path, n))
		}
	}
	return nil
}

// pathOf returns the path of the placement that contains an iodevice. If one path is below another, it
// returns the inner one.
func (s *star) pathOf(d device) (longest string) {
	for _, path := range s.place.Paths {
		if len(path) > len(longest) && (d.folder == path || strings.HasPrefix(d.folder, strings.TrimSuffix(path, "/")+"/")) {
			longest = path
		}
	}
	return longest
}

// dataverseName returns the name of the dataverse.
func (s *star) dataverseName() string { return s.db.name + "_star" }

func (s *star) dataset(name string) string {
	return ident(s.dataverseName()) + "." + ident(name)
}

// note reads the placement of the existing documents; "" = there are none.
func (s *star) note(ctx context.Context) (note string, err error) {
	notes, err := s.db.client.texts(ctx, "SELECT VALUE p.placement FROM "+s.dataset(placementDataset)+" AS p")
	if isAbsent(err) {
		err = nil
	}
	return strings.Join(notes, ""), err
}

// text returns the SQL++ of a question. The facts come first, because the server builds hash tables from
// later tables. A query has as many workers as the server has partitions unless the placement names another
// number. Reading the documents has one worker per partition in any case.
func (s *star) text(q tables.StarQuery) string {
	workers := ""
	if n := s.place.Parallel(); n != s.place.Partitions {
		workers = fmt.Sprintf("SET `compiler.parallelism` \"%d\";\n", n)
	}
	star := func(year, where string) string {
		group, order := "i.i_brand AS brand, i.i_brand_id AS brand_id", "ext_price DESC, brand_id"
		if year != "" {
			group, order = "d.d_year AS d_year, "+group, "d_year, "+order
		}
		from := s.dataset(starDataset)
		return workers + "SELECT " + year + "brand_id, brand, SUM(s.ss_ext_sales_price) AS ext_price\n" +
			"FROM " + from + " AS s, " + from + " AS d, " + from + " AS i\n" +
			"WHERE s.table_name = \"store_sales\" AND d.table_name = \"date_dim\" AND i.table_name = \"item\"\n" +
			"  AND s.ss_sold_date_sk = d.d_date_sk AND s.ss_item_sk = i.i_item_sk AND " + where + "\n" +
			"GROUP BY " + group + "\nORDER BY " + order + "\nLIMIT 100"
	}
	switch q {
	case tables.Q3:
		return star("d_year, ", "i.i_manufact_id = 128 AND d.d_moy = 11")
	case tables.Q52:
		return star("d_year, ", "i.i_manager_id = 1 AND d.d_moy = 11 AND d.d_year = 2000")
	case tables.Q55:
		return star("", "i.i_manager_id = 28 AND d.d_moy = 11 AND d.d_year = 1999")
	case tables.ScanAll:
		return workers + "SELECT SUM(s.ss_ext_sales_price) AS ext_price FROM " + s.dataset(starDataset) + " AS s " +
			"WHERE s.table_name = \"store_sales\""
	}
	return ""
}

// rows runs a question. Numbers of JSON are doubles, so it rounds sums to hundredths, which are exact up to about
// 10^13.
func (s *star) rows(ctx context.Context, q tables.StarQuery, f func(row []any) error) error {
	names := []string{"d_year", "brand_id", "brand", "ext_price"}
	names = names[len(names)-q.Columns():]
	_, err := s.db.client.run(ctx, request{text: s.text(q), row: func(row []byte) error {
		values := make([]any, len(names))
		for i, v := range gjson.GetManyBytes(row, names...) {
			switch {
			case v.Type == gjson.Null:
			case i == len(names)-1:
				values[i] = strconv.FormatFloat(v.Float(), 'f', 2, 64)
			default:
				values[i] = v.String()
			}
		}
		return f(values)
	}})
	return err
}

// plan returns the optimizer's plan; it runs the question.
func (s *star) plan(ctx context.Context, q tables.StarQuery) (string, error) {
	reply, err := s.db.client.run(ctx, request{text: s.text(q), plan: true})
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	err = json.Indent(&text, reply.plan, "", "  ")
	return text.String() + "\n", err
}

// size adds up the files of the collection, with all three tables, by path.
func (s *star) size(context.Context) ([]int64, error) {
	out := make([]int64, max(len(s.place.Paths), 1))
	for _, d := range s.devices {
		n, err := sizeOf(d.folder, s.dataverseName())
		if err != nil {
			return nil, err
		}
		out[max(slices.Index(s.place.Paths, s.pathOf(d)), 0)] += n
	}
	return out, nil
}

// load replaces the collection. The node of a device reads its share of the files at the same paths as here; the
// simplest is a folder that all nodes share.
func (s *star) load(ctx context.Context, files tables.StarFiles, note string) (out tables.StarLoadResult, err error) {
	if len(files.Documents) == 0 {
		return out, &fault.Error{Setting: "documents", Err: tables.ErrStarFiles, Cure: "make them with `barograph synth tpcds --documents`"}
	}
	var paths []string
	for i, path := range files.Documents {
		if strings.ContainsAny(path, ", ") {
			return out, &fault.Error{
				File:    path,
				Problem: "has a comma or a blank in its name, which the server takes for the end of it",
				Cure:    "name another folder",
			}
		}
		paths = append(paths, s.devices[i%len(s.devices)].node+"://"+path)
	}
	record, err := json.Marshal(map[string]string{"id": placementDataset, "placement": note})
	if err != nil {
		return out, err
	}
	dataverseName := ident(s.dataverseName())
	for _, text := range []string{
		"DROP DATAVERSE " + dataverseName + " IF EXISTS;\nCREATE DATAVERSE " + dataverseName + ";\nUSE " + dataverseName + ";\n" +
			"CREATE TYPE " + anyType + " AS {id: string};\nCREATE TYPE star_document AS {id: uuid};\n" +
			"CREATE DATASET " + placementDataset + "(" + anyType + ") PRIMARY KEY id;\n" +
			"CREATE DATASET " + starDataset + "(star_document) PRIMARY KEY id AUTOGENERATED",
		"USE " + dataverseName + ";\nLOAD DATASET " + starDataset + " USING localfs " +
			"((\"path\"=" + quote(strings.Join(paths, ",")) + "), (\"format\"=\"json\"))",
	} {
		if _, err := s.db.client.run(ctx, request{text: text}); err != nil {
			return out, err
		}
	}
	if out, err = s.count(ctx); err != nil {
		return out, err
	}
	_, err = s.db.client.run(ctx, request{text: "UPSERT INTO " + s.dataset(placementDataset) + " (" + string(record) + ")"})
	return out, err
}

// count counts the documents by their table.
func (s *star) count(ctx context.Context) (tables.StarLoadResult, error) {
	out := tables.StarLoadResult{Rows: map[tables.StarTable]int64{}}
	_, err := s.db.client.run(ctx, request{
		text: "SELECT t AS name, COUNT(*) AS documents FROM " + s.dataset(starDataset) + " AS s GROUP BY s.table_name AS t",
		row: func(row []byte) error {
			r := gjson.ParseBytes(row)
			out.Rows[tables.StarTable(r.Get("name").String())] = r.Get("documents").Int()
			return nil
		},
	})
	return out, err
}
