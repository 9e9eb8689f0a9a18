package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/lab"
)

// TestLateCancel cancels a statement. The request reaches the server late, while the connection's next statement would
// run: it must not cancel that one.
func TestLateCancel(t *testing.T) {
	server, err := url.Parse(enginetest.Lab(t, Driver(), lab.Options{}).URL())
	if err != nil {
		t.Fatal(err)
	}
	const late = 500 * time.Millisecond
	passed := make(chan error, 100)
	by := *server
	by.Host = delayCancels(t, server.Host, late, passed)
	config, err := new(database).config(&by, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	config.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	// on a busy machine a statement may be canceled before it is sent
	for range 10 {
		if err := pool.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
		first, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, err := pool.Exec(first, "SELECT pg_sleep(0.2)")
		cancel()
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if _, err := pool.Exec(t.Context(), "SELECT pg_sleep(1.5)"); err != nil {
			t.Fatalf("the next statement: %v", err)
		}
		select {
		case err := <-passed:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
	}
	t.Error("no request to cancel a statement has arrived")
}

// delayCancels passes connections on to a server. It passes on a request to cancel a statement late, after it has
// closed the connection of the sender.
func delayCancels(t *testing.T, to string, late time.Duration, passed chan<- error) (addr string) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go passOn(client, to, late, passed)
		}
	}()
	return l.Addr().String()
}

func passOn(client net.Conn, to string, late time.Duration, passed chan<- error) {
	defer client.Close()
	const cancelRequest = 80877102
	head := make([]byte, 8)
	if _, err := io.ReadFull(client, head); err != nil {
		return
	}
	cancel := binary.BigEndian.Uint32(head[4:]) == cancelRequest
	if cancel {
		rest := make([]byte, 8)
		if _, err := io.ReadFull(client, rest); err != nil {
			passed <- err
			return
		}
		head = append(head, rest...)
		client.Close() //nolint:gosec // the sender regards the request as sent
		time.Sleep(late)
	}
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", to)
	if err == nil {
		defer server.Close()
		_, err = server.Write(head)
	}
	if cancel {
		passed <- err
		return
	}
	if err != nil {
		return
	}
	go io.Copy(server, client)
	io.Copy(client, server)
}
