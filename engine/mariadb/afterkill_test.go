package mariadb_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/mariadb"
	"github.com/barograph/barograph/lab"
)

// TestServerDiesAtTheEndOfACommit kills the server when it receives one of the last statements of a commit. A MyISAM
// table keeps its length and its keys in the server's memory until UNLOCK TABLES; a commit that counts must not depend
// on them.
func TestServerDiesAtTheEndOfACommit(t *testing.T) {
	l := mariadb.Mortal.Lab(t, mariadb.Driver(), lab.Options{Profile: "default", Memory: 1 << 30})
	for _, at := range []struct {
		statement string
		nth       int
	}{{"UNLOCK TABLES", 1}, {"COMMIT", 1}, {"SET autocommit = 1", 1}, {"UNLOCK TABLES", 2}} {
		t.Run(fmt.Sprint(at.statement, " ", at.nth), func(t *testing.T) {
			for _, first := range []int{4, 12} { // a commit that adds records, and one that replaces records
				url := fresh(l, "")(t)
				all := append(files(1, 12), files(2, 12)...)
				if err := store(t.Context(), opened(t, url, design.Normalized), "s", all[:first]); err != nil {
					t.Fatal(err)
				}
				address := parsed(t, url).Host
				proxy, seen := killAt(t, l, address, at.statement, at.nth)
				err := store(t.Context(), opened(t, strings.Replace(url, address, proxy, 1), design.Normalized), "s", all[first:first+1])
				if !seen() {
					t.Fatalf("the commit did not send it: %v", err)
				}
				if err := l.Restart(t.Context(), 0); err != nil {
					t.Fatal(err)
				}
				a := opened(t, url, design.Normalized)
				there, rest := checkComplete(t, a, all)
				t.Logf("%d files before, %d after the kill", first, len(there))
				if err := store(t.Context(), a, "s", rest); err != nil {
					t.Fatal(err)
				}
				checkComplete(t, a, all)
			}
		})
	}
}

// killAt passes connections on to a server, which it kills instead of sending it a statement of a commit: the nth one
// with this beginning after LOCK TABLES. seen reports whether that happened.
func killAt(t *testing.T, l *lab.Lab, to, statement string, nth int) (address string, seen func() bool) {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	var mu sync.Mutex
	n := 0
	pass := func(client net.Conn) {
		defer client.Close()
		server, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", to)
		if err != nil {
			return
		}
		defer server.Close()
		go func() {
			_, _ = io.Copy(client, server) // the server is killed
			client.Close()                 //nolint:gosec // the client waits for a reply that does not come
		}()
		locked := false
		for part := make([]byte, 1<<16); ; {
			length, err := client.Read(part)
			if err != nil {
				return
			}
			text := part[min(length, 5):length] // after the length, the number and the kind of a packet
			locked = locked || bytes.HasPrefix(text, []byte("LOCK TABLES"))
			mu.Lock()
			if locked && bytes.HasPrefix(text, []byte(statement)) {
				if n++; n == nth {
					if err := l.Kill(0); err != nil {
						t.Error(err)
					}
				}
			}
			mu.Unlock()
			if _, err := server.Write(part[:length]); err != nil {
				return
			}
		}
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go pass(client)
		}
	}()
	return listener.Addr().String(), func() bool { mu.Lock(); defer mu.Unlock(); return n >= nth }
}
