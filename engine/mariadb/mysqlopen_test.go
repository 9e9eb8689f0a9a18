package mariadb

import (
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/kv"
)

// TestOpensMySQL opens a server that, like MySQL 8, answers each unknown setting with an error.
func TestOpensMySQL(t *testing.T) {
	address := fakeMySQL(t)
	u, err := url.Parse("mariadb://root@" + address + "/mv_")
	if err != nil {
		t.Fatal(err)
	}
	d, err := openDatabase(t.Context(), u, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !d.mysql {
		t.Error("the server is taken for MariaDB")
	}
	if err := d.writes.PingContext(t.Context()); err != nil {
		t.Error(err)
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
	e, err := open(t.Context(), u, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	_, err = kv.DatabaseOf(e).Table(t.Context(), kv.Table{Name: "t", Fields: []string{"a"}})
	if err == nil || !strings.Contains(err.Error(), "this fake answers") {
		t.Errorf("a session for records under keys: %v", err)
	}
}

// fakeMySQL serves a MySQL that knows no statements except those of opening a connection, and returns its address.
func fakeMySQL(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go serveMySQL(c)
		}
	}()
	return listener.Addr().String()
}

// serveMySQL serves one connection; see MySQL's manual, "Client/Server Protocol".
func serveMySQL(c net.Conn) {
	defer c.Close()
	const capabilities = 1 | 8 | 0x200 | 0x8000 | 0x80000 // protocol 4.1, secure connection, names of authentication plugins
	hello := append([]byte{10}, "8.0.36\x00\x01\x00\x00\x0012345678\x00"...)
	hello = binary.LittleEndian.AppendUint16(hello, capabilities&0xffff)
	hello = append(hello, 45, 2, 0)
	hello = binary.LittleEndian.AppendUint16(hello, capabilities>>16)
	hello = append(append(hello, 21), make([]byte, 10)...)
	hello = append(hello, "123456789012\x00mysql_native_password\x00"...)
	send := func(number byte, packets ...[]byte) {
		for i, p := range packets {
			head := []byte{byte(len(p)), byte(len(p) >> 8), 0, number + byte(i)}
			if _, err := c.Write(append(head, p...)); err != nil {
				return
			}
		}
	}
	ok, end := []byte{0, 0, 0, 2, 0, 0, 0}, []byte{0xfe, 0, 0, 2, 0}
	send(0, hello)
	for number := byte(2); ; number = 1 {
		head := make([]byte, 4)
		if _, err := io.ReadFull(c, head); err != nil {
			return
		}
		body := make([]byte, int(head[0])|int(head[1])<<8|int(head[2])<<16)
		if _, err := io.ReadFull(c, body); err != nil {
			return
		}
		text := string(body[1:])
		values := map[string][]string{
			"SELECT @@max_allowed_packet":                {"67108864"},
			"SELECT version(), @@lower_case_table_names": {"8.0.36", "0"},
		}[text]
		unknown := slices.ContainsFunc(mariaDBSettings[:], func(name string) bool { return strings.Contains(text, name) })
		switch {
		case number == 2 || body[0] == 14 || strings.HasPrefix(text, "SET ") && !unknown: // 14 = ping
			send(number, ok)
		case unknown:
			send(number, append([]byte{0xff, 0xa9, 4}, "#HY000Unknown system variable"...))
		case values == nil:
			send(number, append([]byte{0xff, 0x28, 4}, "#42000this fake answers no such statement"...))
		default:
			packets, row := [][]byte{{byte(len(values))}}, []byte(nil)
			for _, v := range values {
				packets = append(packets, append([]byte("\x03def\x00\x00\x00\x01a\x00\x0c\x2d\x00"), 255, 0, 0, 0, 0xfd, 0, 0, 0, 0, 0))
				row = append(append(row, byte(len(v))), v...)
			}
			send(number, append(packets, end, row, end)...)
		}
	}
}
