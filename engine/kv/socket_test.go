package kv

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// connected returns the two ends of a TCP connection.
func connected(t *testing.T) (client, server net.Conn) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		c, _ := l.Accept()
		accepted <- c
	}()
	if client, err = (&net.Dialer{}).DialContext(t.Context(), "tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server = <-accepted; server == nil {
		t.Fatal("no connection is accepted")
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

// plainConn has no system calls of its own, as a connection over TLS.
type plainConn struct{ net.Conn }

// echo returns what it reads, in pieces of at most so many bytes.
func echo(c net.Conn, most int) {
	buf := make([]byte, most)
	for {
		n, err := c.Read(buf)
		if err != nil {
			return
		}
		if _, err := c.Write(buf[:n]); err != nil {
			return
		}
	}
}

// Every byte of every reply arrives, for small requests and for such as exceed the system's buffers.
func TestSocketExchanges(t *testing.T) {
	for name, around := range map[string]func(net.Conn) net.Conn{
		"system calls": func(c net.Conn) net.Conn { return c },
		"plain":        func(c net.Conn) net.Conn { return plainConn{c} },
	} {
		t.Run(name, func(t *testing.T) {
			client, server := connected(t)
			go echo(server, 1000)
			s := NewSocket(around(client))
			buf := make([]byte, 300)
			for i := range 2000 {
				request := bytes.Repeat([]byte{byte(i)}, 1+i%700)
				var reply []byte
				for send := request; len(reply) < len(request); send = nil {
					n, err := s.Exchange(send, buf)
					if err != nil || n == 0 {
						t.Fatal(i, n, err)
					}
					reply = append(reply, buf[:n]...)
				}
				if !bytes.Equal(reply, request) {
					t.Fatalf("the reply to request %d differs", i)
				}
			}
		})
	}
}

// The system accepts only a part of a large request at once.
func TestSocketSendsLargeRequest(t *testing.T) {
	client, server := connected(t)
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	received := make(chan []byte, 1)
	go func() {
		got := make([]byte, len(large))
		n, _ := io.ReadFull(server, got)
		received <- got[:n]
		_, _ = server.Write([]byte("!"))
	}()
	buf := make([]byte, 10)
	n, err := NewSocket(client).Exchange(large, buf)
	if err != nil || string(buf[:n]) != "!" {
		t.Fatalf("%q, %v", buf[:n], err)
	}
	if !bytes.Equal(<-received, large) {
		t.Error("the request arrived changed")
	}
}

// A reply that has arrived before the exchange is not waited for, and a closed connection or a deadline ends the wait.
func TestSocketEnds(t *testing.T) {
	client, server := connected(t)
	s, buf := NewSocket(client), make([]byte, 10)
	if _, err := server.Write([]byte("early")); err != nil {
		t.Fatal(err)
	}
	if n, err := s.Exchange(nil, buf); err != nil || string(buf[:n]) != "early" {
		t.Errorf("%q, %v", buf[:n], err)
	}
	if err := client.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Exchange([]byte("?"), buf); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the deadline: %v", err)
	}
	if err := client.SetReadDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	go server.Close()
	if _, err := s.Exchange(nil, buf); err == nil {
		t.Error("the server has closed the connection, and the exchange succeeds")
	}
	client.Close()
	if _, err := s.Exchange([]byte("?"), buf); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after the connection was closed: %v", err)
	}
}

// The next exchange notices that the server closed its side, or the connection, while nobody read. The system has
// reported the end before.
func TestSocketAfterEnd(t *testing.T) {
	for name, end := range map[string]func(c *net.TCPConn) error{"side": (*net.TCPConn).CloseWrite, "connection": (*net.TCPConn).Close} {
		t.Run(name, func(t *testing.T) {
			client, server := connected(t)
			s, buf := NewSocket(client), make([]byte, 10)
			if _, err := server.Write([]byte("!")); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Exchange([]byte("?"), buf); err != nil {
				t.Fatal(err)
			}
			if err := end(server.(*net.TCPConn)); err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond) // until the end is reported, mostly
			if err := client.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if n, err := s.Exchange([]byte("?"), buf); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("%d bytes, %v", n, err)
			}
		})
	}
}

// Callers classify errors by their type: those of a Socket are the connection's own.
func TestSocketErrors(t *testing.T) {
	texts := map[string]bool{}
	for _, around := range []func(net.Conn) net.Conn{
		func(c net.Conn) net.Conn { return c },
		func(c net.Conn) net.Conn { return plainConn{c} },
	} {
		client, server := connected(t)
		reset := server.(*net.TCPConn)
		if err := errors.Join(reset.SetLinger(0), reset.Close()); err != nil {
			t.Fatal(err)
		}
		_, err := NewSocket(around(client)).Exchange(nil, make([]byte, 10))
		e, ok := errors.AsType[*net.OpError](err)
		if !ok || !errors.Is(err, syscall.ECONNRESET) {
			t.Fatalf("%T: %v", err, err)
		}
		e.Source, e.Addr = nil, nil // each connection has its own
		texts[e.Error()] = true
	}
	if len(texts) != 1 {
		t.Errorf("the errors differ: %v", texts)
	}
}

// A context cancels the call in flight, and no other.
func TestWatch(t *testing.T) {
	var canceled, settled atomic.Int64
	reached := make(chan struct{}, 10)
	w := Watch{Cancel: func() { canceled.Add(1); reached <- struct{}{} }, Settle: func() { settled.Add(1) }}
	defer w.Close()
	first, cancelFirst := context.WithCancel(t.Context())
	for range 3 {
		if err := w.Begin(first); err != nil {
			t.Fatal(err)
		}
		w.End()
	}
	second, cancelSecond := context.WithCancel(t.Context())
	if err := w.Begin(second); err != nil {
		t.Fatal(err)
	}
	cancelFirst() // its calls have ended
	cancelSecond()
	<-reached
	w.End()
	if c, s := canceled.Load(), settled.Load(); c != 1 || s != 1 {
		t.Errorf("one call was canceled; %d were canceled, %d settled", c, s)
	}
	for _, done := range []context.Context{first, second} {
		if err := w.Begin(done); !errors.Is(err, context.Canceled) {
			t.Errorf("a call starts although its context is done: %v", err)
		}
	}
	third, cancelThird := context.WithCancel(t.Context())
	if err := w.Begin(third); err != nil {
		t.Fatal(err)
	}
	w.End()
	cancelThird() // while no call is in flight
	if err := w.Begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.End()
	if c, s := canceled.Load(), settled.Load(); c != s {
		t.Errorf("%d calls were canceled, %d settled", c, s)
	}
}
