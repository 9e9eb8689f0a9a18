package mongodb

import (
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var longList = regexp.MustCompile(`\[[^\[\]]{120,}\]`)

// TestGolden compares the queries of every case and flavour with testdata/<case>.js; -update rewrites the
// files. Long lists are shortened to their ends.
func TestGolden(t *testing.T) {
	cases, err := question.Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range cases {
		var b strings.Builder
		for _, f := range offered() {
			p := plan{collection: collectionName("a", q.Type), byKeys: f == flavour.Keys}
			if !p.byKeys {
				times, err := validTimes(&q.Valid, f)
				if errors.Is(err, flavour.ErrCannotExpress) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				p.filter = append(headerFilter(q), times...)
			}
			if len(q.Lead) == 1 {
				p.unwind = q.Lead
			}
			text, err := p.text(2)
			if err != nil {
				t.Fatal(err)
			}
			text = longList.ReplaceAllStringFunc(text, func(l string) string {
				items := strings.Split(l, ",")
				return fmt.Sprintf("%s,%s, /* %d in all */ %s", items[0], items[1], len(items), items[len(items)-1])
			})
			fmt.Fprintf(&b, "// %s\n%s\n\n", f, text)
		}
		golden(t, q.Name, b.String())
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".js")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run with -update", err)
	}
	if string(want) != got {
		t.Errorf("%s differs; run with -update and read the difference:\n%s", path, got)
	}
}

// The reply to buildInfo identifies the server.
func TestServersAreDistinguished(t *testing.T) {
	const hash = "0123456789abcdef0123456789abcdef01234567"
	for name, c := range map[string]struct {
		reply    bson.D
		product  string
		version  string // at the beginning of the reported one
		unranked bool
	}{
		"mongod":     {bson.D{{Key: "version", Value: "8.0.4"}, {Key: "gitVersion", Value: hash}, {Key: "openssl", Value: bson.D{}}}, "MongoDB", "8.0.4", false},
		"enterprise": {bson.D{{Key: "version", Value: "8.0.4"}, {Key: "gitVersion", Value: hash}, {Key: "modules", Value: bson.A{"enterprise"}}, {Key: "openssl", Value: bson.D{}}}, "MongoDB Enterprise", "8.0.4", false},
		"ferretdb 1": {bson.D{{Key: "version", Value: "7.0.42"}, {Key: "ferretdbVersion", Value: "v1.23.1"}}, "FerretDB", "1.23.1 ", true},
		"ferretdb 2": {bson.D{{Key: "version", Value: "7.0.77"}, {Key: "ferretdb", Value: bson.D{{Key: "version", Value: "v2.0.0"}}}}, "FerretDB", "2.0.0 ", true},
		"another":    {bson.D{{Key: "version", Value: "5.0.0"}}, "a server with MongoDB's protocol", "5.0.0", true},
	} {
		raw, err := bson.Marshal(c.reply)
		if err != nil {
			t.Fatal(err)
		}
		var b build
		if err := bson.Unmarshal(raw, &b); err != nil {
			t.Fatal(err)
		}
		product, version, why := b.name()
		if product != c.product || !strings.HasPrefix(version, c.version) || (why != "") != c.unranked {
			t.Errorf("%s is %s %s, unranked because %q", name, product, version, why)
		}
	}
}

// The form of a plan is that of MongoDB's manual, "Explain Results".
func TestPlans(t *testing.T) {
	stats := func(stages ...string) string {
		return `{"queryPlanner": {"winningPlan": {"stage": "COLLSCAN"}, "rejectedPlans": [{"stage": "COLLSCAN"}]}, "executionStats": {"executionStages": ` +
			strings.Join(stages, "") + `, "allPlansExecution": [{"executionStages": {"stage": "COLLSCAN"}}]}}`
	}
	for name, c := range map[string]struct {
		reply string
		want  []archive.Access
	}{
		"scan":  {stats(`{"stage": "COLLSCAN", "nReturned": 3, "docsExamined": 10}`), []archive.Access{{Object: "c", Method: archive.FullScan, Examined: 10, Kept: 3, Counted: true}}},
		"index": {stats(`{"stage": "FETCH", "inputStage": {"stage": "IXSCAN", "indexName": "i", "nReturned": 3, "keysExamined": 4}}`), []archive.Access{{Object: "c", Method: archive.IndexScan, Index: "i", Examined: 4, Kept: 3, Counted: true}}},
		"keys":  {stats(`{"stage": "FETCH", "inputStage": {"stage": "IXSCAN", "indexName": "_id_", "nReturned": 3, "keysExamined": 4}}`), []archive.Access{{Object: "c", Method: archive.KeyLookup, Index: "_id_", Examined: 4, Kept: 3, Counted: true}}},
		"shards": {stats(`{"stage": "SHARD_MERGE", "shards": [{"executionStages": {"stage": "IDHACK", "nReturned": 1, "keysExamined": 1}}, {"executionStages": {"stage": "IDHACK", "nReturned": 0, "keysExamined": 0}}]}`), []archive.Access{
			{Object: "c", Method: archive.KeyLookup, Examined: 1, Kept: 1, Counted: true}, {Object: "c", Method: archive.KeyLookup, Examined: 0, Kept: 0, Counted: true},
		}},
		"aggregation": {`{"stages": [{"$cursor": ` + stats(`{"stage": "COLLSCAN", "nReturned": 1, "docsExamined": 2}`) + `}, {"$unwind": {}}]}`, []archive.Access{{Object: "c", Method: archive.FullScan, Examined: 2, Kept: 1, Counted: true}}},
		"ferretdb":    {`{"queryPlanner": {"Plan": ["SCAN x"]}, "filterPushdown": false}`, []archive.Access{{Object: "c", Method: archive.FullScan, Examined: -1, Kept: -1}}},
	} {
		var reply bson.D
		if err := bson.UnmarshalExtJSON([]byte(c.reply), false, &reply); err != nil {
			t.Fatal(err)
		}
		if got := accesses("c", reply); !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

func TestParametersThatAreRefused(t *testing.T) {
	for _, raw := range []string{
		"mongodb://h/d?shard=evenly", "mongodb://h/d?srv=perhaps", "mongodb://h/d?leads_index=2", "mongodb://h/d?writers=0", "mongodb://h/d?lease=0.1", "mongodb://h/d?replace=never",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		_, err = parse(u)
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Cure == "" {
			t.Errorf("%s: %v; want an error with a cure", raw, err)
		}
	}
}

// The connection string has MongoDB's parameters without Barograph's, and defaults that make a commit durable.
func TestConnectionString(t *testing.T) {
	u, err := url.Parse("mongodb://u:p@a:1,b:2/archive?replicaSet=rs&lease=3&journal=false")
	if err != nil {
		t.Fatal(err)
	}
	s, err := parse(u)
	const want = "mongodb://u:p@a:1,b:2/?journal=false&replicaSet=rs&serverSelectionTimeoutMS=5000&w=majority"
	if err != nil || s.uri != want || s.database != "archive" {
		t.Errorf("%q, %v; want %q", s.uri, err, want)
	}
	if command := shardCommand("d", "c", "hashed"); fmt.Sprint(command) != `{"shardCollection":"d.c","key":{"_id":"hashed"}}` {
		t.Errorf("the command is %s", command)
	}
}

// A damaged document is an error, whatever is damaged.
func FuzzDocument(f *testing.F) {
	lt, _ := record.TypeByName("PCT")
	var b record.Batch
	b.Reset(lt, "")
	h := record.DefaultHeader()
	head := b.AddHeader(h)
	b.AppendTimes(head, 21600, 1546300800, 1)
	for k := range b.Num {
		b.Num[k] = append(b.Num[k], 1)
	}
	b.Group, b.GroupEnd = append(b.Group, 1, 2), append(b.GroupEnd, 2)
	f.Add(appendDoc(nil, "a", "DD::V01::PCT::a::NA::NA::NA::NA::NA::1546300800", &b))
	f.Add([]byte{5, 0, 0, 0, 0})
	f.Fuzz(func(_ *testing.T, doc []byte) {
		var into record.Batch
		into.Reset(lt, "")
		_ = newDecoder(&into, nil).document(doc) // it must return
	})
}
