package valkey

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/lab"
)

// TestBucketsSpread checks the slots of the specification's examples. The buckets are evenly distributed over nodes.
func TestBucketsSpread(t *testing.T) {
	for tag, want := range map[string]int{"123456789": 0x31C3, "": 0, "foo": 12182, "user1000": 3443} {
		if got := slotOf(tag); got != want {
			t.Errorf("slot of %q is %d, not %d", tag, got, want)
		}
	}
	for _, nodes := range []int{1, 2, 3, 4, 6, 8} {
		buckets := make([]int, nodes)
		for i := range clusterBuckets {
			buckets[slotOf(bucketTag("usertable", i, clusterBuckets))*nodes/slots]++
		}
		if slices.Min(buckets) != slices.Max(buckets) {
			t.Errorf("%d nodes have %v buckets", nodes, buckets)
		}
	}
}

// TestScanOfManyPages: a scan of a cluster merges many sorted sets, page by page. All keys are in one of them. A scan of
// a clustered table reads partitions of one record each.
func TestScanOfManyPages(t *testing.T) {
	for _, x := range []struct {
		nodes  int
		layout kv.Layout
	}{{1, kv.Columns}, {3, kv.Columns}, {2, kv.Clustered}} {
		t.Run(fmt.Sprint(x.nodes, x.layout), func(t *testing.T) {
			s := openStore(t, enginetest.Lab(t, Driver(), lab.Options{Profile: "memory", Nodes: x.nodes}), "x", engine.Options{})
			r, err := kvTables{s}.Table(t.Context(), kv.Table{Name: "t", Fields: []string{"a"}, Layout: x.layout, Make: true})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			c, err := r.Connect(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			tb := &kvTable{records: make([]string, clusterBuckets)}
			var keys []string
			for i := 0; len(keys) < 700; i++ { // all in one bucket, of a cluster
				key := fmt.Sprintf("k%06d", i)
				if tb.bucket([]byte(key)) != 7 {
					continue
				}
				keys = append(keys, key)
				var row kv.Row
				row.AddString(0, key)
				if err := c.Insert(t.Context(), []byte(key), &row); err != nil {
					t.Fatal(err)
				}
			}
			for _, scan := range []struct{ at, n int }{{0, 700}, {0, 701}, {3, 1}, {100, 300}, {699, 5}} {
				var got []string
				err := c.Scan(t.Context(), []byte(keys[scan.at]), scan.n, nil, func(key []byte, r *kv.Row) error {
					if _, v := r.At(0); string(v) != string(key) {
						t.Errorf("record %s has the value %s", key, v)
					}
					got = append(got, string(key))
					return nil
				})
				if want := keys[scan.at:min(scan.at+scan.n, len(keys))]; err != nil || !slices.Equal(got, want) {
					t.Errorf("scan of %d from %d: %d records, %v; want %d", scan.n, scan.at, len(got), err, len(want))
				}
			}
			if n, err := r.Count(t.Context()); err != nil || n != 700 {
				t.Errorf("%d records, %v", n, err)
			}
			if (r.Partitions != nil) != (x.layout == kv.Clustered) {
				t.Errorf("the partitions are counted: %v", r.Partitions != nil)
			} else if r.Partitions != nil {
				if n, err := r.Partitions(t.Context()); err != nil || n != 700 { // the prefix of 7 bytes is the complete key
					t.Errorf("%d partitions, %v", n, err)
				}
			}
		})
	}
}

// TestRecordAndIndexAgree: every write changes a record and its key in the sorted set together, also after the server
// has lost its scripts.
func TestRecordAndIndexAgree(t *testing.T) {
	s := openStore(t, enginetest.Lab(t, Driver(), lab.Options{Profile: "memory"}), "x", engine.Options{})
	r, err := kvTables{s}.Table(t.Context(), kv.Table{Name: "t", Fields: []string{"a"}, Make: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, err := r.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var row kv.Row
	row.AddString(0, "v")
	if err := c.Insert(t.Context(), []byte("k"), &row); err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context(), []byte("k")); err != nil {
		t.Fatal(err)
	}
	left, err := s.client.Keys(t.Context(), "*").Result()
	if err != nil || !slices.Equal(left, []string{"x::BG::table::{t}"}) {
		t.Errorf("after the last record %q are left, %v", left, err)
	}
	if err := s.client.Do(t.Context(), "SCRIPT", "FLUSH").Err(); err != nil { // as after a restart
		t.Fatal(err)
	}
	if err := c.Insert(t.Context(), []byte("k"), &row); err != nil {
		t.Errorf("a server that has forgotten the scripts: %v", err)
	}
	index := s.prefix() + "BG::index::{" + bucketTag("t", 0, 1) + "}"
	if keys, err := s.client.ZRangeByLex(t.Context(), index, &redis.ZRangeBy{Min: "-", Max: "+"}).Result(); err != nil || !slices.Equal(keys, []string{"k"}) {
		t.Errorf("the sorted set contains %q, %v", keys, err)
	}
}

// TestLostPartition: a server that was killed lacks the last entries of the list of partitions. After a client has
// connected again, its next insert lists the partition again, and a scan finds all records.
func TestLostPartition(t *testing.T) {
	s := openStore(t, enginetest.Lab(t, Driver(), lab.Options{Profile: "memory"}), "x", engine.Options{})
	r, err := kvTables{s}.Table(t.Context(), kv.Table{Name: "t", Fields: []string{"a"}, Layout: kv.Clustered, Make: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, key := range []string{"0000001", "9999999a", "9999999b"} {
		c, err := r.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var row kv.Row
		row.AddString(0, key)
		if err := c.Insert(t.Context(), []byte(key), &row); err != nil {
			t.Fatal(err)
		}
		if key == "9999999a" {
			if err := s.client.ZRem(t.Context(), s.prefix()+"BG::parts::{t}", key[:7]).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	c, err := r.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	err = c.Scan(t.Context(), []byte("0"), 9, nil, func(key []byte, _ *kv.Row) error { got = append(got, string(key)); return nil })
	if err != nil || len(got) != 3 {
		t.Errorf("a scan finds %q, %v", got, err)
	}
}

// TestLostReply: a write whose reply is lost returns an error and is not repeated, because it would find its own record.
func TestLostReply(t *testing.T) {
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var sent atomic.Int64
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go closeAtScript(conn, &sent)
		}
	}()
	s := &store{settings: settings{nodes: []string{l.Addr().String()}}}
	tb := &kvTable{store: s, client: redis.NewClient(s.options().Simple()), fields: []string{"a"}, records: []string{"{t}"}, indexes: []string{"i{t}"}}
	defer tb.client.Close()
	var row kv.Row
	row.AddString(0, "v")
	if err := tb.connect().Insert(t.Context(), []byte("k"), &row); err == nil || sent.Load() != 1 {
		t.Errorf("%v after the script was sent %d times", err, sent.Load())
	}
}

// closeAtScript greets a client, and closes the connection when it receives a script.
func closeAtScript(conn net.Conn, scripts *atomic.Int64) {
	defer conn.Close()
	replies := map[string]string{"hello": "-ERR unknown command\r\n", "client": "+OK\r\n"}
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		if lines.Text() == "evalsha" {
			scripts.Add(1)
			return
		}
		if _, err := conn.Write([]byte(replies[lines.Text()])); err != nil {
			return
		}
	}
}

// TestLostFieldIsNotEmpty: a row has no value for a field that its record lacks, and an empty value for an empty field.
func TestLostFieldIsNotEmpty(t *testing.T) {
	s := openStore(t, enginetest.Lab(t, Driver(), lab.Options{Profile: "memory"}), "x", engine.Options{})
	r, err := kvTables{s}.Table(t.Context(), kv.Table{Name: "t", Fields: []string{"a", "b", "c"}, Make: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c, err := r.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var row kv.Row
	for i, v := range []string{"v", "", "w"} {
		row.AddString(i, v)
	}
	if err := c.Insert(t.Context(), []byte("k"), &row); err != nil {
		t.Fatal(err)
	}
	if err := s.client.HDel(t.Context(), s.prefix()+"{"+bucketTag("t", 0, 1)+"}k", "c").Err(); err != nil {
		t.Fatal(err)
	}
	var got kv.Row
	err = c.Read(t.Context(), []byte("k"), nil, &got)
	b, hasB := got.Value(1)
	if _, hasC := got.Value(2); err != nil || got.Len() != 2 || !hasB || len(b) != 0 || hasC {
		t.Errorf("%d fields, has b: %v, has c: %v, %v", got.Len(), hasB, hasC, err)
	}
}
