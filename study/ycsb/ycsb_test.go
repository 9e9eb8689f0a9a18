package ycsb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/dry"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/internal/fault"
)

// config reads properties, by default of a small load.
func config(t *testing.T, assignments ...string) *Config {
	t.Helper()
	p := Properties{"recordcount": "1000", "operationcount": "3000", "threadcount": "4", "maxscanlength": "40"}
	for _, a := range assignments {
		if err := p.Set(a); err != nil {
			t.Fatal(err)
		}
	}
	c, err := NewConfig(p)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// wrapped is an engine's ability whose tables are changed.
type wrapped struct {
	kv.Database
	change func(r *kv.Records) *kv.Records
}

func (w wrapped) Table(ctx context.Context, t kv.Table) (*kv.Records, error) {
	r, err := w.Database.Table(ctx, t)
	if err != nil || w.change == nil {
		return r, err
	}
	return w.change(r), nil
}

// conns changes each connection.
func conns(change func(c *kv.Conn)) func(r *kv.Records) *kv.Records {
	return func(r *kv.Records) *kv.Records {
		out := *r
		out.Connect = func(ctx context.Context) (*kv.Conn, error) {
			c, err := r.Connect(ctx)
			if err != nil {
				return nil, err
			}
			changed := *c
			change(&changed)
			return &changed, nil
		}
		return &out
	}
}

func open(t *testing.T) kv.Database {
	t.Helper()
	e, err := engine.Registry{dry.Driver()}.Open(t.Context(), "dry", engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return kv.DatabaseOf(e)
}

func loaded(t *testing.T, c *Config) kv.Database {
	t.Helper()
	db := open(t)
	r, err := Load(t.Context(), db, c, Options{})
	if err != nil || r.Err() != nil || r.Operations() != c.InsertCount {
		t.Fatalf("load: %v, %v", err, r)
	}
	return db
}

func code(err error) int { return fault.Code(err) }

// TestCoreWorkloadsRunClean: the core workloads and the distributions, each without misses, with every scan checked and
// every value verified.
func TestCoreWorkloadsRunClean(t *testing.T) {
	cases := [][]string{}
	for _, name := range Workloads() {
		cases = append(cases, []string{name}, []string{name, "dataintegrity=true"}, []string{name, "insertorder=ordered", "zeropadding=12"}, []string{name, "insertorder=ordered"})
	}
	for _, d := range []string{"uniform", "zipfian", "zipfian-exact", "latest", "hotspot", "exponential", "sequential"} {
		for _, mix := range []string{"workloada", "workloade"} {
			cases = append(cases, []string{mix, "requestdistribution=" + d, "deleteproportion=0.03", "insertproportion=0.05", "dataintegrity=true"})
		}
	}
	cases = append(cases, []string{"workloade", "readallfields=false", "scanlengthdistribution=zipfian", "insertstart=200", "insertcount=300", "zeropadding=30"},
		[]string{"workloada", "fieldlengthdistribution=zipfian", "writeallfields=true", "readallfields=false"})
	for _, x := range cases {
		t.Run(strings.Join(x, " "), func(t *testing.T) {
			p, err := ReadWorkload("workloads/" + x[0])
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range append([]string{"operationcount=3000", "threadcount=4", "batchsize=7"}, x[1:]...) {
				if err := p.Set(a); err != nil {
					t.Fatal(err)
				}
			}
			c, err := NewConfig(p)
			if err != nil {
				t.Fatal(err)
			}
			whole := *c
			whole.InsertStart, whole.InsertCount = 0, c.Records
			r, err := Run(t.Context(), loaded(t, &whole), c, Options{})
			if err != nil || r.Err() != nil || r.Operations() != 3000 {
				t.Fatalf("%v, %v, %v of %d operations", err, r.Err(), r.Problems, r.Operations())
			}
			if verified := r.tally(statusOK, kindVerify); c.Integrity && verified == 0 && c.Mix[opRead]+c.Mix[opScan]+c.Mix[opModify] > 0 {
				t.Error("no value was verified")
			}
		})
	}
}

// TestWrongEngineIsCaught: a wrong engine is detected in each case, with the exit status of a wrong or an incomplete
// result, never 0.
func TestWrongEngineIsCaught(t *testing.T) {
	for _, x := range []struct {
		fault enginetest.KVFault
		mix   []string
		code  int
	}{
		{enginetest.KVLostRow, []string{"scanproportion=1"}, fault.Differs},
		{enginetest.KVWrongOrder, []string{"scanproportion=1"}, fault.Differs},
		{enginetest.KVShortScan, []string{"scanproportion=1"}, fault.Differs},
		{enginetest.KVMissingField, nil, fault.Differs},
	} {
		for _, order := range []string{"insertorder=hashed", "insertorder=ordered"} {
			t.Run(string(x.fault)+" "+order, func(t *testing.T) {
				c := config(t, append(x.mix, order)...)
				db := loaded(t, c)
				bad := func(r *kv.Records) *kv.Records { return enginetest.FaultyKV(r, x.fault) }
				r, err := Run(t.Context(), wrapped{db, bad}, c, Options{})
				if err != nil || code(r.Err()) != x.code {
					t.Errorf("%v; %v; want status %d", err, r.Err(), x.code)
				}
			})
		}
	}
	t.Run("another's value", func(t *testing.T) {
		c := config(t, "dataintegrity=true")
		if _, err := Run(t.Context(), loaded(t, config(t)), c, Options{}); code(err) != fault.Differs || !strings.Contains(err.Error(), "loaded without it") {
			t.Errorf("a table without dataintegrity: %v", err)
		}
		db := loaded(t, config(t, "recordcount=500"))
		if _, err := Load(t.Context(), db, c, Options{Resume: true}); code(err) != fault.Differs {
			t.Errorf("the load of the other half: %v", err)
		}
		r, err := Run(t.Context(), db, c, Options{})
		if err != nil || code(r.Err()) != fault.Differs || r.tally(statusWrong, kindVerify) == 0 {
			t.Errorf("%v, %v", err, r.Err())
		}
	})
}

// TestScansThatMissTheFirstRecord: a scan must return the record whose key it starts from, also if the run has inserted
// it; the other records need not be known for that. A scan after a load must return a record at all.
func TestScansThatMissTheFirstRecord(t *testing.T) {
	c := config(t, "readproportion=0", "updateproportion=0", "scanproportion=0.5", "insertproportion=0.5", "requestdistribution=latest")
	inserted := map[string]bool{}
	for number := c.Records; number < c.Records+c.Operations; number++ {
		inserted[string(c.appendKey(nil, number))] = true
	}
	blind := conns(func(c *kv.Conn) {
		scan := c.Scan
		c.Scan = func(ctx context.Context, from []byte, n int, f kv.Fields, each func([]byte, *kv.Row) error) error {
			if !inserted[string(from)] {
				return scan(ctx, from, n, f, each)
			}
			return scan(ctx, from, n+1, f, func(key []byte, r *kv.Row) error {
				if string(key) == string(from) {
					return nil
				}
				return each(key, r)
			})
		}
	})
	r, err := Run(t.Context(), wrapped{loaded(t, c), blind}, c, Options{})
	if err != nil || code(r.Err()) != fault.Differs || r.Problems[0].Kind != "scan: the first record is left out" {
		t.Errorf("%v; %v; %v", err, r.Err(), r.Problems)
	}
	empty := conns(func(c *kv.Conn) {
		c.Scan = func(context.Context, []byte, int, kv.Fields, func([]byte, *kv.Row) error) error { return nil }
	})
	for _, records := range []string{"recordcount=1000", "recordcount=50"} {
		if r, err := Load(t.Context(), wrapped{open(t), empty}, config(t, records), Options{}); code(err) != fault.Differs {
			t.Errorf("%s, scans after a load return nothing: %v; %v", records, err, r.Problems)
		}
	}
}

// TestScansOfLateRecords: an engine that may return an inserted record later may return nothing to a scan that starts
// from this record. Other engines must return it at once.
func TestScansOfLateRecords(t *testing.T) {
	c := config(t, "readproportion=0", "updateproportion=0", "scanproportion=0.5", "insertproportion=0.5",
		"requestdistribution=latest", "insertorder=ordered", "zeropadding=12", "minscanlength=3")
	firstInserted := string(c.appendKey(nil, c.Records))
	late := conns(func(c *kv.Conn) {
		scan := c.Scan
		c.Scan = func(ctx context.Context, from []byte, n int, f kv.Fields, each func([]byte, *kv.Row) error) error {
			if n > 2 && string(from) >= firstInserted { // the read-back scans two records
				return nil
			}
			return scan(ctx, from, n, f, each)
		}
	})
	for want, steady := range map[int][]engine.Promise{fault.Differs: nil, 0: {engine.NoLostWrites}} {
		r, err := Run(t.Context(), wrapped{loaded(t, c), late}, c, Options{Steady: steady})
		if err != nil || code(r.Err()) != want {
			t.Errorf("status %d, want %d: %v; %v", code(r.Err()), want, err, r.Problems)
		}
	}
}

// TestMissesFailTheRun: go-ycsb counts misses as reads, and YCSB as failures that do not change its exit status.
func TestMissesFailTheRun(t *testing.T) {
	c := config(t)
	db := loaded(t, c)
	var n atomic.Int64
	lose := conns(func(c *kv.Conn) {
		read := c.Read
		c.Read = func(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
			if n.Add(1)%500 == 499 {
				return kv.ErrNotFound
			}
			return read(ctx, key, f, into)
		}
	})
	r, err := Run(t.Context(), wrapped{db, lose}, c, Options{})
	if err != nil || code(r.Err()) != fault.Incomplete || r.all(statusNotFound) == 0 {
		t.Errorf("%v; %v", err, r.Err())
	}
	c.MaxMisses = r.all(statusNotFound)
	if r.Err() != nil {
		t.Errorf("as many misses as are allowed: %v", r.Err())
	}
}

// TestErrorRepliesFailTheRun: go-ycsb's redis binding counts error replies as answers, and exits with 0.
func TestErrorRepliesFailTheRun(t *testing.T) {
	c := config(t)
	db := loaded(t, c)
	broken := errors.New("server is on fire")
	fail := conns(func(c *kv.Conn) {
		c.Update = func(context.Context, []byte, *kv.Row) error { return broken }
	})
	r, err := Run(t.Context(), wrapped{db, fail}, c, Options{})
	if err != nil || code(r.Err()) != fault.Incomplete || r.tally(statusError, opUpdate) == 0 || r.tally(statusOK, opUpdate) != 0 {
		t.Errorf("%v; %v", err, r.Err())
	}
	if len(r.Problems) != 1 || !strings.Contains(r.Problems[0].Kind, "on fire") {
		t.Errorf("problems %v", r.Problems)
	}
}

// TestIncompleteLoadIsReported: with other programs, after an interrupted load every request fails, without a reason
// (yugabyte-db#14006).
func TestIncompleteLoadIsReported(t *testing.T) {
	c := config(t)
	db := loaded(t, config(t, "recordcount=600"))
	if _, err := Run(t.Context(), db, c, Options{}); err == nil || !strings.Contains(err.Error(), "load incomplete") {
		t.Errorf("a load of 600 of 1,000 records: %v", err)
	}
	if _, err := Run(t.Context(), open(t), c, Options{}); err == nil || !strings.Contains(err.Error(), "load it first") {
		t.Errorf("no load: %v", err)
	}
}

// TestOnlyAcknowledgedKeysAreDrawn: YCSB and go-ycsb request keys whose insert failed.
func TestOnlyAcknowledgedKeysAreDrawn(t *testing.T) {
	c := config(t, "readproportion=0.5", "insertproportion=0.5", "requestdistribution=latest", "operationcount=20000", "threadcount=8")
	db := loaded(t, c)
	var n atomic.Int64
	fail := conns(func(c *kv.Conn) {
		insert := c.Insert
		c.Insert = func(ctx context.Context, key []byte, r *kv.Row) error {
			if n.Add(1)%3 == 0 {
				return errors.New("no")
			}
			return insert(ctx, key, r)
		}
	})
	r, err := Run(t.Context(), wrapped{db, fail}, c, Options{})
	if err != nil || r.all(statusNotFound) != 0 || r.tally(statusError, opInsert) == 0 || r.tally(statusOK, opRead) == 0 {
		t.Errorf("%v; %v", err, r.Problems)
	}
}

// TestUnsupportedOperationsAreReported: a table without scans, or without documents, is reported before the run starts.
func TestUnsupportedOperationsAreReported(t *testing.T) {
	c := config(t, "scanproportion=0.5")
	db := loaded(t, c)
	blind := conns(func(c *kv.Conn) { c.Scan = nil })
	if r, err := Run(t.Context(), wrapped{db, blind}, c, Options{}); !errors.Is(err, ErrCannot) || r != nil {
		t.Errorf("scans: %v, %v", err, r)
	}
	if _, err := Run(t.Context(), wrapped{db, nil}, config(t, "readpathproportion=0.5"), Options{}); !errors.Is(err, ErrCannot) {
		t.Errorf("paths: %v", err)
	}
	if r, err := Run(t.Context(), wrapped{db, blind}, config(t), Options{}); err != nil || r.Err() != nil {
		t.Errorf("a mix without scans: %v", err)
	}
}

// TestScansOverManyPartitions: a run warns if its scans read three partitions or more on average, and only then.
func TestScansOverManyPartitions(t *testing.T) {
	for _, x := range []struct {
		partitions int64
		mix        string
		want       string // part of the warning; empty = none
	}{
		{900, "scanproportion=0.5", "900 partitions of 1.11 records on average: a scan of 20.2 records reads 18.3 of them"},
		{90, "scanproportion=0.5", ""}, // 11.1 records each, 2.7 of them for a scan
		{900, "readproportion=0.5", ""},
		{0, "scanproportion=0.5", ""}, // the engine counts none
	} {
		c := config(t, x.mix)
		db := wrapped{loaded(t, c), func(r *kv.Records) *kv.Records {
			out := *r
			if x.partitions > 0 {
				out.Partitions = func(context.Context) (int64, error) { return x.partitions, nil }
			}
			return &out
		}}
		r, err := Run(t.Context(), db, c, Options{})
		if err != nil || r.Err() != nil {
			t.Fatalf("%+v: %v, %v", x, err, r)
		}
		said := strings.Join(r.Warnings, "\n")
		if x.want == "" && strings.Contains(said, "partitions") || !strings.Contains(said, x.want) {
			t.Errorf("%+v: %q", x, said)
		}
	}
}

// TestInsertIsTriedAgainAfterFailureOnly: go-ycsb repeats successful inserts, and not those that failed (PR #318).
func TestInsertIsTriedAgainAfterFailureOnly(t *testing.T) {
	c := config(t, "core_workload_insertion_retry_limit=1", "core_workload_insertion_retry_interval=0.0001")
	db := open(t)
	var tries atomic.Int64
	once := conns(func(c *kv.Conn) {
		insert, failed := c.Insert, map[string]bool{}
		c.InsertMany = nil
		c.Insert = func(ctx context.Context, key []byte, r *kv.Row) error {
			tries.Add(1)
			if !failed[string(key)] {
				failed[string(key)] = true
				if key[len(key)-1]%2 == 0 {
					_ = insert(ctx, key, r) // done, but its reply is lost
				}
				return errors.New("lost")
			}
			return insert(ctx, key, r)
		}
	})
	r, err := Load(t.Context(), wrapped{db, once}, c, Options{})
	if err != nil || r.Err() != nil || tries.Load() != 2000 || r.tally(statusOK, opInsert) != 1000 {
		t.Errorf("%v; %v; %d tries; %v", err, r.Err(), tries.Load(), r.Problems)
	}
	never := conns(func(c *kv.Conn) {
		c.Insert = func(context.Context, []byte, *kv.Row) error { return errors.New("never") }
	})
	if _, err := Load(t.Context(), wrapped{open(t), never}, config(t), Options{}); err == nil {
		t.Error("a load whose inserts fail is a success")
	}
	var n atomic.Int64
	rarely := conns(func(c *kv.Conn) {
		insert := c.Insert
		c.Insert = func(ctx context.Context, key []byte, r *kv.Row) error {
			if n.Add(1)%10 == 0 {
				return errors.New("not now")
			}
			return insert(ctx, key, r)
		}
	})
	r, err = Load(t.Context(), wrapped{open(t), rarely}, config(t, "core_workload_insertion_keep_going_on_error=true"), Options{})
	if err != nil || r.tally(statusError, opInsert) != 100 || code(r.Err()) != fault.Incomplete {
		t.Errorf("going on after errors: %v, %v", err, r.Err())
	}
}

// TestBatchWithoutAnAnswer: an engine that stores a batch and then reports an error, for example of a timeout, keeps its
// connection. The records of the batch are no duplicates.
func TestBatchWithoutAnAnswer(t *testing.T) {
	var batches atomic.Int64
	unanswering := conns(func(c *kv.Conn) {
		many := c.InsertMany
		c.InsertMany = func(ctx context.Context, rows []kv.KeyRow) error {
			if err := many(ctx, rows); err != nil || batches.Add(1)%10 != 0 {
				return err
			}
			return errors.New("timed out waiting for replicas")
		}
	})
	r, err := Load(t.Context(), wrapped{open(t), unanswering}, config(t, "batchsize=10"), Options{})
	if err != nil || r.Err() != nil || r.Succeeded() != 1000 || r.Reconnects != 0 {
		t.Errorf("%v; %v; %v", err, r.Err(), r.Problems)
	}
}

// TestKindsOfProblems: a run that has too many kinds of problems counts the further ones by themselves, and not as those
// of the last kind.
func TestKindsOfProblems(t *testing.T) {
	var p Problems
	for i := range 2 * mostProblems {
		p.note(fmt.Sprint("kind ", i), func() string { return "" })
	}
	all := p.list()
	if last := all[len(all)-1]; len(all) != mostProblems || last.Kind != otherProblems || last.Count != mostProblems+1 {
		t.Errorf("%+v", all)
	}
}

// TestSecondLoadHasNoNewRecords: go-ycsb's mysql, pg and sqlite ignore duplicates silently.
func TestSecondLoadHasNoNewRecords(t *testing.T) {
	for _, batch := range []string{"batchsize=1", "batchsize=10"} {
		c := config(t, batch)
		db := loaded(t, config(t, "recordcount=500"))
		r, err := Load(t.Context(), db, c, Options{})
		if err != nil || code(r.Err()) != fault.Incomplete || r.tally(statusExists, opInsert) != 500 || r.tally(statusOK, opInsert) != 500 {
			t.Errorf("%s: %v; %v", batch, err, r.Err())
		}
		if err := (&Target{Scheme: "fake", KV: db}).LoadAll(t.Context(), c); err == nil || !strings.HasPrefix(err.Error(), "fake: ") {
			t.Errorf("a load before a sweep: %v", err)
		}
		r, err = Load(t.Context(), db, c, Options{Resume: true})
		if n := int64(1000); err != nil || r.Err() != nil || r.Skipped != n || r.tally(statusOK, opInsert) != 0 || r.Result.Operations != 0 || r.Answers().Succeeded != 0 {
			t.Errorf("%s, resumed: %v; %v; %d existing, %d inserted", batch, err, r.Err(), r.Skipped, r.tally(statusOK, opInsert))
		}
	}
}

// TestPartOfTheRecords: a run with insertstart and insertcount requests no other records, and misses none in scans.
func TestPartOfTheRecords(t *testing.T) {
	for _, requests := range []string{"uniform", "zipfian", "zipfian-exact", "latest", "hotspot", "exponential", "sequential"} {
		for _, part := range []string{"insertstart=0", "insertstart=300", "insertstart=800"} {
			for _, order := range []string{"hashed", "ordered"} {
				c := config(t, part, "insertcount=200", "requestdistribution="+requests, "insertorder="+order, "dataintegrity=true",
					"readproportion=0.4", "updateproportion=0", "scanproportion=0.4", "insertproportion=0.2", "operationcount=1000")
				db := loaded(t, c)
				r, err := Run(t.Context(), db, c, Options{})
				if err != nil || r.Err() != nil {
					t.Fatalf("%s, %s, %s: %v; %v; %v", requests, part, order, err, r.Err(), r.Problems)
				}
				r, err = Run(t.Context(), db, c.Grown(r.Inserted), Options{}) // as the next of a sweep
				if err != nil || r.Err() != nil {
					t.Errorf("%s, %s, %s, again: %v; %v", requests, part, order, err, r.Problems)
				}
			}
		}
	}
}

// TestKeyNumbersBeyond32Bits: YCSB's load truncates key numbers to 32 bits.
func TestKeyNumbersBeyond32Bits(t *testing.T) {
	const start = "3000000000"
	c := config(t, "recordcount=3000000100", "insertstart="+start, "insertcount=100", "insertorder=ordered", "requestdistribution=zipfian", "dataintegrity=true", "operationcount=500")
	db := loaded(t, c)
	tb, err := db.Table(t.Context(), c.TableSpec(""))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := tb.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"user" + start, "user3000000099"} {
		if err := conn.Read(t.Context(), []byte(key), nil, &kv.Row{}); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
	if r, err := Run(t.Context(), db, c, Options{}); err != nil || r.Err() != nil {
		t.Errorf("%v; %v", err, r.Err())
	}
}

// TestUnlimitedRunEndsByTime: go-ycsb refuses an operationcount of 0, which means no limit.
func TestUnlimitedRunEndsByTime(t *testing.T) {
	c := config(t, "operationcount=0", "maxexecutiontime=1")
	r, err := Run(t.Context(), loaded(t, c), c, Options{})
	if err != nil || r.Err() != nil || r.Operations() == 0 {
		t.Errorf("%v; %v", err, r.Err())
	}
}

func TestInterruptedRunReports(t *testing.T) {
	c := config(t, "operationcount=0")
	db := loaded(t, c)
	ctx, stop := context.WithCancel(t.Context())
	var n atomic.Int64
	count := conns(func(c *kv.Conn) {
		read := c.Read
		c.Read = func(ctx context.Context, key []byte, f kv.Fields, into *kv.Row) error {
			if n.Add(1) == 1000 {
				stop()
			}
			return read(ctx, key, f, into)
		}
	})
	r, err := Run(ctx, wrapped{db, count}, c, Options{})
	if err != nil || code(r.Err()) != fault.Interrupted || r.Operations() == 0 || r.all(statusError) != 0 {
		t.Errorf("%v; %v; %v", err, r.Err(), r.Problems)
	}
	sample, err := r.Sample("a", &Target{Scheme: "fake"}, 1, time.Time{})
	if err != nil || len(sample.Warnings) != 1 || !strings.HasPrefix(sample.Warnings[0], "the run was interrupted after ") {
		t.Errorf("%v, %q", err, sample.Warnings)
	}
}

func TestDeletesWithoutAnythingLeft(t *testing.T) {
	c := config(t, "deleteproportion=1", "readproportion=0", "updateproportion=0", "operationcount=0", "recordcount=50")
	r, err := Run(t.Context(), loaded(t, c), c, Options{Grace: time.Second})
	if err == nil || !strings.Contains(err.Error(), "no record is left") || r.tally(statusOK, opDelete) != 50 {
		t.Errorf("%v", err)
	}
}

// TestRandomValuesAreYCSBs: each byte comes from the range that YCSB has for its position, all bytes of a range equally
// often.
func TestRandomValuesAreYCSBs(t *testing.T) {
	var seen [6][128]int
	const rounds = 40_000
	for seed := range rounds {
		for i, b := range appendText(nil, 12, tagOf(1, 0, 12, uint64(seed))) {
			seen[i%6][b]++
		}
	}
	for i, mask := range []int{31, 63, 95, 31, 63, 95} {
		classes := map[int]bool{}
		for b := range 128 {
			classes[b&mask] = true
		}
		for b := range 128 {
			want := 0.0
			if b >= ' ' && (b-' ')&^mask == 0 {
				want = 2 * rounds / float64(len(classes))
			}
			if math.Abs(float64(seen[i][b])-want) > 6*math.Sqrt(want) {
				t.Errorf("position %d: byte %d came %d times, expected %.0f", i, b, seen[i][b], want)
			}
		}
	}
	for n := range 20 {
		if got := appendText(nil, n, 1); len(got) != n {
			t.Errorf("%d bytes of %d", len(got), n)
		}
	}
}
