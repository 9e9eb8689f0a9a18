package valkey

import (
	"bytes"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/engine/kv"
	"github.com/barograph/barograph/lab"
)

// deadlineConn counts the deadlines that reach the system.
type deadlineConn struct {
	net.Conn
	read, write int
}

func (c *deadlineConn) SetReadDeadline(time.Time) error  { c.read++; return nil }
func (c *deadlineConn) SetWriteDeadline(time.Time) error { c.write++; return nil }

// TestDeadlines: near deadlines are set exactly. Distant ones are set again only if they are deadlineStep later.
func TestDeadlines(t *testing.T) {
	counter := &deadlineConn{}
	c := &requestConn{Conn: counter}
	now := time.Now()
	for _, x := range []struct {
		deadline time.Time
		set      int
	}{
		{now.Add(replyTimeout), 1},
		{now.Add(replyTimeout + time.Millisecond), 1},
		{now.Add(replyTimeout + deadlineStep - 1), 1},
		{now.Add(replyTimeout + deadlineStep), 2},
		{now.Add(replyTimeout), 3}, // earlier
		{now.Add(time.Second), 4},
		{now.Add(time.Second + time.Millisecond), 5}, // near
		{time.Time{}, 6},
		{time.Time{}, 7},
		{now.Add(replyTimeout), 8},
	} {
		if err := c.SetReadDeadline(x.deadline); err != nil || counter.read != x.set {
			t.Errorf("the deadline %v was set %d times, not %d; %v", x.deadline, counter.read, x.set, err)
		}
		if err := c.SetWriteDeadline(x.deadline); err != nil || counter.write != x.set {
			t.Errorf("the deadline %v of writes was set %d times, not %d; %v", x.deadline, counter.write, x.set, err)
		}
	}
}

// TestRequestConn: Read sends a small request, Write sends a large one at once. They arrive in their order.
func TestRequestConn(t *testing.T) {
	client, server := net.Pipe()
	defer client.Close()
	defer server.Close()
	received := make(chan []byte, 1)
	large := bytes.Repeat([]byte("b"), maxRequest+1)
	go func() {
		got := make([]byte, 4+len(large)+2)
		n, _ := io.ReadFull(server, got)
		received <- got[:n]
		_, _ = server.Write([]byte("done"))
	}()
	c := &requestConn{Conn: client, socket: kv.NewSocket(client)}
	for _, p := range [][]byte{[]byte("aaaa"), large, []byte("cc")} {
		if n, err := c.Write(p); err != nil || n != len(p) {
			t.Fatal(n, err)
		}
	}
	buf := make([]byte, 10)
	n, err := c.Read(buf)
	if err != nil || string(buf[:n]) != "done" {
		t.Fatalf("%q, %v", buf[:n], err)
	}
	if want := "aaaa" + string(large) + "cc"; string(<-received) != want {
		t.Error("the requests arrived in another order")
	}
}

// TestIdleConnectionsAreChecked: the driver notices that an idle connection was closed, and opens another one.
func TestIdleConnectionsAreChecked(t *testing.T) {
	s := openStore(t, enginetest.Lab(t, Driver(), lab.Options{Profile: "memory"}), "x", engine.Options{})
	r, err := kvTables{s}.Table(t.Context(), kv.Table{Name: "idle", Fields: []string{"a"}, Make: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 3 {
		c, err := r.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var row kv.Row
		if err := c.Read(t.Context(), []byte("k"), nil, &row); !errors.Is(err, kv.ErrNotFound) {
			t.Errorf("a new worker reads: %v", err)
		}
		if err := c.Close(); err != nil { // the connection is idle now
			t.Fatal(err)
		}
		if err := s.client.ClientKillByFilter(t.Context(), "TYPE", "normal", "SKIPME", "yes").Err(); err != nil {
			t.Fatal(err)
		}
		for lines := 0; lines != 1; { // until the server has closed all others
			list, err := s.client.ClientList(t.Context()).Result()
			if err != nil {
				t.Fatal(err)
			}
			lines = strings.Count(list, "\n")
		}
	}
}
