package ycsb

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
)

// TestKeysAreYCSBs: the keys are those that YCSB itself printed.
func TestKeysAreYCSBs(t *testing.T) {
	for _, x := range []struct {
		assignment string
		number     int64
		want       string
	}{
		{"zeropadding=1", 0, "user6284781860667377211"},
		{"zeropadding=1", 1, "user8517097267634966620"},
		{"zeropadding=1", 2, "user1820151046732198393"},
		{"zeropadding=1", 3, "user4052466453699787802"},
		{"zeropadding=1", 10, "user2408371864701034737"},
		{"zeropadding=1", 999, "user2071219101098386137"},
		{"zeropadding=1", 123456789, "user2350796791908741607"},
		{"zeropadding=30", 1, "user000000000008517097267634966620"},
		{"insertorder=ordered", 42, "user42"},
		{"insertorder=whatever", 1 << 40, "user1099511627776"},
	} {
		if got := config(t, x.assignment).appendKey(nil, x.number); string(got) != x.want {
			t.Errorf("%s, key %d: %s, want %s", x.assignment, x.number, got, x.want)
		}
	}
}

// javaHash is java.lang.String.hashCode, in its simplest form.
func javaHash(s string) int32 {
	h := int32(0)
	for _, c := range []byte(s) {
		h = h*31 + int32(c)
	}
	return h
}

func TestDerivedValues(t *testing.T) {
	// "hello".hashCode() and "Aa".hashCode() in Java.
	if javaHash("hello") != 99162322 || javaHash("Aa") != 2112 {
		t.Fatal("the test's own hash is not Java's")
	}
	for _, n := range []int64{0, 3, 20, 30, 100, 1000} {
		want := "user1:field0"
		for int64(len(want)) < n {
			want += ":"
			h := int64(javaHash(want))
			sign := ""
			if h < 0 {
				sign, h = "-", -h
			}
			digits := ""
			for ; h > 0 || digits == ""; h /= 10 {
				digits = string(rune('0'+h%10)) + digits
			}
			want += sign + digits
		}
		want = want[:n]
		if got := appendDerived([]byte("x"), []byte("user1"), "field0", n); string(got) != "x"+want {
			t.Errorf("%d bytes: %q, want %q", n, got, want)
		}
	}
}

// TestOrdinalsAreInTheOrderOfKeys: ordinals sort like the bytes of the keys.
func TestOrdinalsAreInTheOrderOfKeys(t *testing.T) {
	for _, a := range []string{"zeropadding=1", "zeropadding=19", "zeropadding=30", "insertorder=ordered", "insertorder=ordered zeropadding=5", "insertorder=ordered zeropadding=25"} {
		c := config(t, strings.Fields(a)...)
		numbers := []int64{0, 1, 2, 9, 10, 11, 12, 19, 20, 99, 100, 101, 999, 1000, 12345, 123456, 99999, 100000}
		for n := int64(1); n < 60; n++ {
			numbers = append(numbers, n*n*n+1_000_003)
		}
		for _, x := range numbers {
			kx := c.appendKey(nil, x)
			if o, ok := c.ordinalKey(kx); !ok || o != c.ordinalOf(x) {
				t.Fatalf("%s: %s has the ordinal %d, its number %d", a, kx, o, c.ordinalOf(x))
			}
			for _, y := range numbers {
				ky := c.appendKey(nil, y)
				if (string(kx) < string(ky)) != (c.ordinalOf(x) < c.ordinalOf(y)) {
					t.Fatalf("%s: %s and %s have the ordinals %d and %d", a, kx, ky, c.ordinalOf(x), c.ordinalOf(y))
				}
			}
		}
		for _, bad := range []string{"", "user", "user12x", "usr12", "user99999999999999999999999999"} {
			if _, ok := c.ordinalKey([]byte(bad)); ok && c.ZeroPadding < 19 {
				t.Errorf("%s: %q has an ordinal", a, bad)
			}
		}
	}
}

// TestExistingOfManyRecords: of very many records, those with the greatest keys are known.
func TestExistingOfManyRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("two million keys")
	}
	for _, order := range []string{"insertorder=hashed", "insertorder=ordered"} {
		c := config(t, "recordcount=2500000", order)
		e := newExisting(c)
		if e.from == 0 || len(e.sorted) < mostPlaces/2 || len(e.sorted) > 2*mostPlaces {
			t.Errorf("%s: %d of %d are known, from %d", order, len(e.sorted), c.Records, e.from)
		}
	}
}

func TestWorkloadFilesAreYCSBs(t *testing.T) {
	for name, want := range map[string]Config{
		"workloada":            {Mix: [ops]float64{opRead: 0.5, opUpdate: 0.5}, Requests: "zipfian", MaxScan: 1000},
		"workloads/workloadb":  {Mix: [ops]float64{opRead: 0.95, opUpdate: 0.05}, Requests: "zipfian", MaxScan: 1000},
		"workloadc":            {Mix: [ops]float64{opRead: 1}, Requests: "zipfian", MaxScan: 1000},
		"workloadd":            {Mix: [ops]float64{opRead: 0.95, opInsert: 0.05}, Requests: "latest", MaxScan: 1000},
		"workloade":            {Mix: [ops]float64{opScan: 0.95, opInsert: 0.05}, Requests: "zipfian", MaxScan: 100},
		"any/folder/workloadf": {Mix: [ops]float64{opRead: 0.5, opModify: 0.5}, Requests: "zipfian", MaxScan: 1000},
	} {
		p, err := ReadWorkload(name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := NewConfig(p)
		if err != nil {
			t.Fatal(err)
		}
		if c.Mix != want.Mix || c.Requests != want.Requests || c.MaxScan != want.MaxScan || c.Records != 1000 || c.Operations != 1000 || !c.ReadAll || c.FieldCount != 10 || c.FieldLength != 100 {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if len(Workloads()) != 6 {
		t.Errorf("shipped are %v", Workloads())
	}
	if _, err := ReadWorkload("workloadz"); err == nil {
		t.Error("a workload that is not there is read")
	}
	dir := t.TempDir()
	unreadable, folder := filepath.Join(dir, "file", "workloada"), filepath.Join(dir, "workloada")
	if err := errors.Join(os.WriteFile(filepath.Join(dir, "file"), nil, 0o600), os.Mkdir(folder, 0o700)); err != nil {
		t.Fatal(err)
	}
	if p, err := ReadWorkload(folder); err != nil || p["readproportion"] != "0.5" {
		t.Errorf("instead of a folder: %v, %v", p, err)
	}
	if _, err := ReadWorkload(unreadable); err == nil || !strings.Contains(err.Error(), unreadable) {
		t.Errorf("instead of a file that cannot be read: %v", err)
	}
}

// TestDefaults: the defaults are those of YCSB's code, which differ from those of its template.
func TestDefaults(t *testing.T) {
	c, err := NewConfig(Properties{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Records != 2147483647 || c.InsertCount != c.Records || c.Requests != "uniform" || c.Mix != [ops]float64{opRead: 0.95, opUpdate: 0.05} ||
		c.ZeroPadding != 1 || c.Ordered || c.MaxScan != 1000 || c.HotData != 0.2 || c.HotOps != 0.8 || c.ExpPercentile != 95 || c.ExpFraction != 0.8571428571 ||
		c.RetryInterval != 3 || c.Times != "op" || strings.Join(c.Percentiles, " ") != "50 95 99" || c.Table != "usertable" || c.Batch != 1 {
		t.Errorf("%+v", c)
	}
	if c := config(t, "target=100"); c.Times != "both" {
		t.Errorf("with a target, %s is printed", c.Times)
	}
	if c := config(t, "db.batchsize=5", "histogram.buckets=10"); c.Batch != 5 || len(c.Ignored) != 1 {
		t.Errorf("%+v", c)
	}
}

func TestPropertiesThatAreRefused(t *testing.T) {
	for assignment, want := range map[string]string{
		"readproportoin=0.5":              "did you mean readproportion?",
		"recordCount=5":                   "did you mean recordcount?",
		"redi.host=localhost":             "barograph ycsb properties",
		"recordcount=abc":                 "whole number",
		"recordcount=-1":                  "whole number",
		"readallfields=yes":               "true or false",
		"requestdistribution=zipf":        "zipfian",
		"workload=site.ycsb.TimeSeries":   "not known",
		"insertcount=2000":                "insertstart + insertcount",
		"insertcount=0":                   "from 1 to 100000000000000000",
		"insertstart=1000":                "is not below recordcount",
		"minscanlength=2000":              "greater than maxscanlength",
		"fieldnameprefix='":               "cannot be used",
		"table=a b":                       "cannot be used",
		"hdrhistogram.percentiles=50,x":   "percentiles",
		"hotspotdatafraction=NaN":         "number from",
		"fieldcount=0":                    "at least 1",
		"fieldcount=5000":                 "fewer",
		"readproportion=0":                "no operation",
		"recordcount=9223372036854775808": "whole number",
		// values that overflowed a number, or the memory
		"recordcount=100000000000000001":     "from 0 to 100000000000000000",
		"threadcount=9999999999":             "from 1 to 100000",
		"status.interval=10000000000":        "from 1 to 1000000000",
		"maxexecutiontime=10000000000":       "from 0 to 1000000000",
		"maxoutage=10000000000":              "from 0 to 1000000000",
		"batchsize=9223372036854775807":      "from 1 to 1000000",
		"zeropadding=252":                    "from 0 to 251",
		"fieldlength=9223372036854775807":    "from 0 to 1073741824",
		"maxscanlength=9223372036854775807":  "from 1 to 1073741824",
		"shard=1/5000":                       "more than 1000 clients",
		"fieldlengths=9223372036854775807,1": "is no length",
	} {
		p := Properties{"recordcount": "1000", "updateproportion": "0", "insertstart": "0"}
		if err := p.Set(assignment); err != nil {
			t.Fatal(err)
		}
		if _, err := NewConfig(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want … %s …", assignment, err, want)
		}
	}
	if _, err := NewConfig(Properties{"dataintegrity": "true", "fieldlengthdistribution": "uniform"}); err == nil {
		t.Error("values of any length are to be checked")
	}
	noKey := Properties{"requestdistribution": "exponential", "exponential.percentile": "0"}
	if _, err := NewConfig(noKey); err == nil || !strings.Contains(err.Error(), "leaves no key to request") {
		t.Errorf("requests for the last 0 %% of the keys: %v", err)
	}
	if err := (Properties{}).Set("nothing"); err == nil {
		t.Error("-p nothing is read")
	}
}

func TestPropertiesFormat(t *testing.T) {
	p, err := ParseProperties("f", []byte("# comment\r\n! another\n a = 1 \nb:2\nc 3\nd\\ e=\\u0041\\t\nlong=one,\\\n   two\\\\\nempty=\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"a": "1", "b": "2", "c": "3", "d e": "A", "long": `one,two\`, "empty": ""} {
		if got, ok := p[name]; !ok || got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if _, err := ParseProperties("f", []byte("a=1\n=2\n")); err == nil || !strings.Contains(err.Error(), "f:2") {
		t.Errorf("a line without a name: %v", err)
	}
}

func TestFieldLengthHistogram(t *testing.T) {
	file := filepath.Join(t.TempDir(), "hist.txt")
	for text, good := range map[string]bool{
		"BlockSize\t10\n0\t1\n3\t2\n": true, "BlockSize\t10\n": false, "Block\t10\n0\t1\n": false, "BlockSize\t10\nx\t1\n": false, "": false,
		"BlockSize\t1000000000\n0\t1\n1000000\t1\n": false, "BlockSize\t10\n0\t9223372036854775807\n1\t5\n": false, // overflows
		"BlockSize\t10\n0\t5\n0\t0\n": false,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		w, err := newWorkload(config(t, "fieldlengthdistribution=histogram", "fieldlengthhistogram="+file), nil)
		if (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
		if !good {
			continue
		}
		k := w.worker(&kv.Conn{}, 0)
		for range 100 {
			if n := w.lengths(0, k.rng); n != 10 && n != 40 {
				t.Errorf("a length of %d", n)
			}
		}
	}
}

// TestWhatOtherToolsHave: properties of other bindings are accepted, and successive rates are read.
func TestWhatOtherToolsHave(t *testing.T) {
	c := config(t, "redis.host=a", "mongodb.url=b", "jdbc.fetchsize=3", "pg.port=1", "zipfianconstant=0.5", "rate=500/s@30s, 1000/s@1500ms")
	if len(c.Ignored) != 4 || c.Theta != 0.5 || c.Target != 500 || c.Seconds != 32 || c.Operations != 0 || c.Rates.String() != "500/s@30s,1000/s@1.5s" {
		t.Errorf("%+v", c)
	}
	for _, bad := range []string{"redi.host=a", "zipfianconstant=1", "zipfianconstant=0", "rate=5", "rate=5@", "rate=0/s@1s", "rate=5/s@-1s"} {
		p := Properties{"recordcount": "1"}
		if err := p.Set(bad); err != nil {
			t.Fatal(err)
		}
		if _, err := NewConfig(p); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
}

// TestTablesOfAnySize: the memory of a ledger does not grow with the number of records, and the order of the largest key
// number is known.
func TestTablesOfAnySize(t *testing.T) {
	if l := newLedger(mostKeys); len(l.entries) > 4*mostEntries {
		t.Errorf("%d entries", len(l.entries))
	}
	c := config(t, "recordcount=100000000000000000", "insertstart=99999999999999990", "insertorder=ordered")
	if e := newExisting(c); len(e.sorted) != 10 {
		t.Errorf("%+v", e)
	}
}

// TestLoadsAndRates: the duration of successive rates does not end a load, and a load before a sweep ignores them.
func TestLoadsAndRates(t *testing.T) {
	c := config(t, "rate=2000/s@10ms,1000/s@10ms", "recordcount=1500")
	r, err := Load(t.Context(), open(t), c, Options{})
	if err != nil || r.Err() != nil || r.Succeeded() != 1500 {
		t.Errorf("%v, %v", err, r.Err())
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	if err := (&Target{KV: open(t)}).LoadAll(ctx, config(t, "rate=1/s@1s")); err != nil {
		t.Errorf("1,000 records at one per second: %v", err)
	}
}

// TestLengthsAndLimits: each field has its own length, which is checked.
func TestLengthsAndLimits(t *testing.T) {
	c := config(t, "fieldcount=3", "fieldlengths=8, 100,1000", "dataintegrity=true", "readproportion=0.5", "updateproportion=0.5", "operationcount=500")
	db := loaded(t, c)
	r, err := Run(t.Context(), db, c, Options{})
	if err != nil || r.Err() != nil || r.Answers().Values == 0 {
		t.Fatalf("%v, %+v", err, r)
	}
	table, err := db.Table(t.Context(), c.TableSpec(""))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := table.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var row kv.Row
	if err := conn.Read(t.Context(), c.appendKey(nil, 7), nil, &row); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{8, 100, 1000} {
		if v, _ := row.Value(i); len(v) != want {
			t.Errorf("field %d has %d bytes, not %d", i, len(v), want)
		}
	}
	shorter := *c
	shorter.EachLength = []int64{8, 100, 999}
	if _, err := Run(t.Context(), db, &shorter, Options{}); code(err) != fault.Differs {
		t.Errorf("another length: %v", err)
	}
	for _, bad := range [][]string{{"fieldlengths=1,2"}, {"fieldcount=1", "fieldlengths=-1"}, {"fieldcount=1", "fieldlengths="}, {"fieldcount=2", "fieldlengths=1,2", "fieldlengthdistribution=uniform"}} {
		p := Properties{"recordcount": "1"}
		for _, a := range bad {
			if err := p.Set(a); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := NewConfig(p); err == nil || !strings.Contains(err.Error(), "fieldlengths") {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// TestMaxErrors: a run ends if more operations fail than maxerrors allows. Operations that succeed when they are repeated
// do not count.
func TestMaxErrors(t *testing.T) {
	whole := config(t)
	var reads atomic.Int64
	failing := wrapped{loaded(t, whole), conns(func(c *kv.Conn) {
		read := c.Read
		c.Read = func(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
			if n := reads.Add(1); n > 100 && n%10 == 0 {
				return errors.New("no")
			}
			return read(ctx, key, f, into)
		}
	})}
	for limit, x := range map[string]struct {
		more  []string
		least int64
		ends  bool
	}{"5": {nil, 6, true}, "0": {nil, 20, false}, "6": {[]string{"retries=3"}, 0, false}} {
		reads.Store(0)
		r, err := Run(t.Context(), failing, config(t, append(x.more, "readproportion=1", "updateproportion=0", "operationcount=300", "threadcount=1", "maxerrors="+limit)...), Options{})
		if r == nil {
			t.Fatal(err)
		}
		if ended := err != nil && strings.Contains(err.Error(), "property maxerrors"); ended != x.ends || ended && code(err) != fault.Incomplete {
			t.Errorf("maxerrors=%s: %v", limit, err)
		}
		if n := r.all(statusError); n < x.least || x.ends && n != 6 || len(x.more) > 0 && n > 0 {
			t.Errorf("maxerrors=%s: %d failed", limit, n)
		}
	}
}
