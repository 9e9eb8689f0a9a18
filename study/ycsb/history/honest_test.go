package history_test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/study/ycsb/history"
)

// honest lists the correct stores with stored histories, fifty of each, and the promises of their settings; see
// docs/results/ycsb/histories.sh.
func honest() map[string][]engine.Promise {
	return map[string][]engine.Promise{
		"postgres": engine.Promises(), "mariadb": engine.Promises(),
		"valkey": engine.Promises(), "valkey3": engine.Promises(),
		"galera":     {engine.NoLostWrites, engine.NoRevivedRecords},
		"cassandra3": engine.Promises()[1:], // at QUORUM: all but linearizable
		"asterixdb":  engine.Promises(),
	}
}

const (
	histories = 50   // of each store
	leastOps  = 2000 // of each history
	clients   = 8    // at least
)

// unread returns the keys without a final read. Only a final read shows that a write was lost.
func unread(h []history.Op) (keys []string) {
	read := map[string]bool{}
	for _, o := range h {
		read[o.Key] = read[o.Key] || o.Final
	}
	for key, yes := range read {
		if !yes {
			keys = append(keys, key)
		}
	}
	return keys
}

// TestHonest50 checks stored histories of servers while a node was killed and restarted. Each is accepted, within the
// time limit.
func TestHonest50(t *testing.T) {
	for name, promises := range honest() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := unpack(t, filepath.Join("testdata", "honest", name+".zst"))
			if len(all) != histories {
				t.Fatalf("%d histories", len(all))
			}
			ops, unknown := 0, 0
			for i, h := range all {
				n, who := history.Unanswered(h), map[int]bool{}
				for _, o := range h {
					who[o.Client] = true
				}
				if keys := unread(h); len(keys) > 0 {
					t.Errorf("history %d: %d keys were not read in the end", i, len(keys))
				}
				if ops, unknown = ops+len(h), unknown+n; len(h) < leastOps || n == 0 || len(who) < clients {
					t.Errorf("history %d has %d operations of %d clients, %d unknown", i, len(h), len(who), n)
				}
				if testing.Short() && i%10 > 0 {
					continue // the race detector sees one of ten
				}
				for _, f := range history.Judge(h, time.Minute) {
					if slices.Contains(promises, f.Promise) && !f.Kept {
						t.Errorf("history %d: %s: %d violations, %s", i, f.Promise, f.Violations, f.Example)
					}
				}
			}
			t.Logf("%d histories, %d operations, %d unknown: accepted", len(all), ops, unknown)
		})
	}
}

// TestPack is a tool in the form of a test, because it shares the packed format with the tests: it rewrites
// testdata/honest from the histories that docs/results/ycsb/histories.sh recorded, the first fifty of each store that
// are long enough.
func TestPack(t *testing.T) {
	dirs := filepath.SplitList(os.Getenv("BAROGRAPH_HISTORIES"))
	if len(dirs) == 0 {
		t.Skip("packs histories that were recorded: BAROGRAPH_HISTORIES names their folders")
	}
	for name := range honest() {
		var all [][]history.Op
		for _, dir := range dirs {
			files, _ := filepath.Glob(filepath.Join(dir, name, "[0-9]*.jsonl.gz"))
			for _, file := range files {
				if len(all) == histories || strings.HasSuffix(file, ".bad.jsonl.gz") { // bad: of a run that failed
					continue
				}
				if h := recorded(t, file); len(h) >= leastOps && history.Unanswered(h) > 0 && len(unread(h)) == 0 {
					all = append(all, h)
				}
			}
		}
		if len(all) == 0 {
			continue // the folders have no history of this store: its file stays
		}
		t.Logf("%s: %d", name, len(all))
		pack(t, filepath.Join("testdata", "honest", name+".zst"), all)
	}
}

// recorded reads a history in the format of a run folder.
func recorded(t *testing.T, file string) (all []history.Op) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for in := json.NewDecoder(text); in.More(); {
		var o history.Op
		if err := in.Decode(&o); err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	return all
}

// neverMicros is the packed duration of a call that did not return. Packed times are microseconds; the start of a call is
// rounded down and its end up. Two calls that did not overlap may overlap in the packed form, which permits more orders,
// never fewer. Packed keys are numbers.
const neverMicros = -1

func pack(t *testing.T, file string, all [][]history.Op) {
	t.Helper()
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		t.Fatal(err)
	}
	number := func(n int64) { _, _ = z.Write(binary.AppendVarint(nil, n)) }
	for _, h := range all {
		slices.SortStableFunc(h, func(a, b history.Op) int { return cmp.Compare(a.Call, b.Call) })
		number(int64(len(h)))
		keys, last := map[string]int64{}, int64(0)
		for i := range h {
			o := &h[i]
			if _, ok := keys[o.Key]; !ok {
				keys[o.Key] = int64(len(keys))
			}
			call, took := o.Call.Microseconds(), int64(neverMicros)
			if o.Outcome != history.Unknown {
				took = (o.Return + time.Microsecond - 1).Microseconds() - call
			}
			final := int64(0)
			if o.Final {
				final = 1
			}
			head := int64(o.Client)*4 + int64(slices.Index(kinds(), o.Kind))
			head = (head*3+int64(slices.Index(outcomes(), o.Outcome)))*2 + final
			for _, n := range []int64{head, keys[o.Key], o.Value, call - last, took} {
				number(n)
			}
			last = call
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func kinds() []history.Kind {
	return []history.Kind{history.Read, history.Insert, history.Update, history.Delete}
}

func outcomes() []history.Outcome {
	return []history.Outcome{history.Done, history.Refused, history.Unknown}
}

func unpack(t *testing.T, file string) (all [][]history.Op) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	in := bytes.NewReader(text)
	for in.Len() > 0 {
		var failed error
		number := func() int64 {
			n, err := binary.ReadVarint(in)
			failed = cmp.Or(failed, err)
			return n
		}
		h := make([]history.Op, number())
		last := int64(0)
		for i := range h {
			head, key, value := number(), number(), number()
			last += number()
			o := history.Op{
				Client: int(head / 24), Kind: kinds()[head/6%4], Outcome: outcomes()[head/2%3], Final: head%2 == 1,
				Key: fmt.Sprint(key), Value: value, Call: time.Duration(last) * time.Microsecond, Return: 1<<63 - 1,
			}
			if took := number(); took != neverMicros {
				o.Return = o.Call + time.Duration(took)*time.Microsecond
			}
			h[i] = o
		}
		if failed != nil {
			t.Fatal(failed)
		}
		all = append(all, h)
	}
	return all
}

// TestPacked: an unpacked history equals the packed one except for fractions of microseconds and the names of keys, and
// breaks the same promises.
func TestPacked(t *testing.T) {
	file, h := filepath.Join(t.TempDir(), "a.zst"), recorded(t, filepath.Join("testdata", "postgres-off.jsonl.gz"))
	pack(t, file, [][]history.Op{h, h[:10]})
	all := unpack(t, file)
	if len(all) != 2 || len(all[0]) != len(h) || len(all[1]) != 10 {
		t.Fatalf("%d histories", len(all))
	}
	names := map[string]string{}
	for i, o := range all[0] {
		w := h[i]
		if name, isKnown := names[o.Key]; isKnown && name != w.Key {
			t.Errorf("key %s is packed for %s and for %s", o.Key, name, w.Key)
		}
		names[o.Key] = w.Key
		isSame := o.Client == w.Client && o.Kind == w.Kind && o.Outcome == w.Outcome && o.Value == w.Value &&
			o.Final == w.Final
		isSameCall := o.Call == w.Call.Truncate(time.Microsecond)
		isSameReturn := o.Return == w.Return || o.Return == (w.Return+time.Microsecond-1).Truncate(time.Microsecond)
		if !isSame || !isSameCall || !isSameReturn {
			t.Fatalf("%+v, was %+v", o, w)
		}
	}
	if got, want := len(names), len(slices.Compact(slices.Sorted(maps.Values(names)))); got != want {
		t.Errorf("%d keys, were %d", got, want)
	}
	short := []history.Op{ // the write starts in the last microsecond of the read
		{Client: 1, Key: "k", Kind: history.Read, Outcome: history.Done, Value: 7, Call: 10_100, Return: 12_900},
		{Client: 2, Key: "k", Kind: history.Insert, Outcome: history.Done, Value: 7, Call: 12_200, Return: 30_000},
	}
	pack(t, file, [][]history.Op{short})
	if names := broken(history.Judge(unpack(t, file)[0], time.Minute)); names != nil {
		t.Errorf("a read and a write that overlap break %v in the packed form", names)
	}
	got := fmt.Sprint(broken(history.Judge(all[0], time.Minute)))
	if want := fmt.Sprint(broken(history.Judge(h, time.Minute))); got != want {
		t.Errorf("%s, was %s", got, want)
	}
}
