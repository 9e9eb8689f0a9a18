package postgres

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"
)

// TestCopyEnds breaks the connection while a row is made: when the COPY has
// returned, no goroutine makes rows, because their memory is reused.
func TestCopyEnds(t *testing.T) {
	broken := make(chan struct{})
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // of a test
	served := make(chan error, 1)
	go func() { served <- breakCopy(l, broken) }()

	c, err := pgconn.Connect(t.Context(), fmt.Sprintf("postgres://u@%s/d?sslmode=disable", l.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())     // it is broken
	rows, returned, late := 0, false, false // plain, the race detector reports other goroutines that use them
	_, err = copyFrom(t.Context(), c, "COPY t FROM STDIN BINARY", func(dst []byte) ([]byte, error) {
		if rows++; rows > 1 {
			<-broken
		}
		late = late || returned
		if rows > 1000 {
			return dst, io.EOF
		}
		return append(binary.BigEndian.AppendUint16(dst, 1), make([]byte, copyChunk)...), nil
	})
	returned = true
	if err == nil {
		t.Error("the COPY does not report the broken connection")
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if late {
		t.Error("a row was made after the COPY had returned")
	}
}

// breakCopy is a server that takes the first message of a COPY and then
// breaks the connection.
func breakCopy(l net.Listener, broken chan<- struct{}) error {
	defer close(broken)
	conn, err := l.Accept()
	if err != nil {
		return err
	}
	defer conn.Close() // it is broken on purpose
	b := pgproto3.NewBackend(conn, conn)
	if _, err := b.ReceiveStartupMessage(); err != nil {
		return err
	}
	b.Send(&pgproto3.AuthenticationOk{})
	b.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	if err := b.Flush(); err != nil {
		return err
	}
	if _, err := b.Receive(); err != nil {
		return err
	}
	b.Send(&pgproto3.CopyInResponse{OverallFormat: 1, ColumnFormatCodes: []uint16{1}})
	if err := b.Flush(); err != nil {
		return err
	}
	_, err = b.Receive()
	return err
}

// TestBooleanAsText: a Boolean is true or false, as in all other engines, not t or f.
func TestBooleanAsText(t *testing.T) {
	for text, want := range map[string]bool{"t": true, "f": false} {
		if v := cell([]byte(text), &pgconn.FieldDescription{DataTypeOID: pgtype.BoolOID}); v != want {
			t.Errorf("%s is %v", text, v)
		}
	}
}
