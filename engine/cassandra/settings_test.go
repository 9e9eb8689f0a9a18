package cassandra

import (
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
)

func TestParameters(t *testing.T) {
	for text, want := range map[string]string{
		"cassandra:x": "host", "cassandra://h/Not-A-Name": "keyspace", "cassandra://h?consistency=some": "consistency",
		"cassandra://h?replication=0": "replication", "cassandra://h?inflight=x": "inflight", "cassandra://h?tls=perhaps": "tls", "cassandra://h?archive=A": "archive",
		"cassandra://h?prefix=0": "prefix", "cassandra://h?conditional=sometimes": "conditional",
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parse(u); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want one that names %s", text, err, want)
		}
	}
	u, err := url.Parse("cassandra://user:word@h:9999/k?hosts=i,j&consistency=local_quorum")
	if err != nil {
		t.Fatal(err)
	}
	s, err := parse(u)
	if err != nil || len(s.hosts) != 3 || s.port != 9999 || s.keyspace != "k" || s.password != "word" {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestWhatCounts: commits with numbers above the version, and those in bad, are not visible.
func TestWhatCounts(t *testing.T) {
	h := head{version: 5, bad: []int64{2, 4}}
	for number, want := range map[int64]bool{1: true, 2: false, 3: true, 4: false, 5: true, 6: false} {
		if h.counts(number) != want {
			t.Errorf("%d counts: %v", number, !want)
		}
	}
}

// TestStatements: the statements of a line type have a value for each column, and the table has the right key.
func TestStatements(t *testing.T) {
	lt, _ := record.TypeByName("SL1L2")
	for _, l := range layouts {
		create, insert, read := l.createTable(lt), l.insert(lt), l.all(lt).text()+l.where()
		t.Log(create, "\n", insert, "\n", read)
		if n := strings.Count(insert, "?"); n != len(l.partition)+len(l.order())+4+len(lt.Columns) {
			t.Errorf("%s: %d values are bound", l.design, n)
		}
		key := map[design.Name]string{
			design.Document: "PRIMARY KEY ((id), fcst_lead, entry, commit_number)) WITH CLUSTERING ORDER BY (fcst_lead ASC, entry ASC, commit_number DESC)",
			design.Wide:     "PRIMARY KEY ((series, year), fcst_valid_beg, fcst_lead, entry, commit_number)) WITH CLUSTERING ORDER BY (fcst_valid_beg ASC, fcst_lead ASC, entry ASC, commit_number DESC)",
		}[l.design]
		if !strings.HasSuffix(create, key) {
			t.Errorf("%s: the table is %s", l.design, create)
		}
	}
}

// TestShortLists: a question of 250 times is split into lists that ScyllaDB accepts.
func TestShortLists(t *testing.T) {
	lt, _ := record.TypeByName("PCT")
	one := enginetest.LongRecord(lt, 1, 1)
	c := design.NewCatalog("a")
	c.Add(one)
	const hour = 3600
	q := &question.Question{Subset: "a", Type: lt, Valid: question.Times{First: one.Valid[0], Last: one.Valid[0] + 249*6*hour, Step: 6 * hour}}
	for _, l := range layouts {
		p, f := &plan{selection: l.all(lt)}, flavour.Keys
		if l.bySeries {
			f = flavour.EpochList
			p.ranges(c, q, f, strings.Clone)
		} else {
			out := &archive.Query{Question: q, Flavour: f}
			p.keys(docengine.Derive(c, out), out, strings.Clone)
		}
		times := 0
		for _, r := range p.reads {
			n := reflect.ValueOf(r.args[len(r.args)-1]).Len()
			if n > atOnce {
				t.Errorf("%s: a list of %d", l.design, n)
			}
			times += n
		}
		if times != 250 {
			t.Errorf("%s: %d are asked for", l.design, times)
		}
	}
}
