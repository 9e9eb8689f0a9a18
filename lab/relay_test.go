package lab_test

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/barograph/barograph/lab"
)

// TestRelayCloses: Close does not wait for replies that the relay still delays.
func TestRelayCloses(t *testing.T) {
	var listen net.ListenConfig
	server, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		c, err := server.Accept()
		if err == nil {
			_, _ = io.Copy(c, c) // replies with what it receives
		}
	}()
	r, err := lab.NewRelay("127.0.0.1", server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	var dial net.Dialer
	client, err := dial.DialContext(t.Context(), "tcp", r.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Write([]byte("a")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(client, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	r.Delay(time.Hour)
	if _, err := client.Write([]byte("b")); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // the reply reaches the relay
	closed := make(chan error, 1)
	go func() { closed <- r.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Error("Close waits for a delayed reply")
	}
}
