package mongodb

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Whatever readPreference the URL has, a loader reads locks, texts and documents from the primary server. Only
// queries follow the preference.
func TestLoadersReadThePrimary(t *testing.T) {
	p := &primaryServer{}
	uri := "mongodb://" + p.listen(t) + "/?replicaSet=rs&readPreference=secondaryPreferred"
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(t.Context()) })
	d := &database{client: client, db: client.Database("d"), log: slog.New(slog.DiscardHandler)}
	s, lt := &store{d}, mustType(t, "SL1L2")
	_, _, loaded := s.Load(t.Context(), "lock")
	_, got := s.Get(t.Context(), []string{"marks"})
	fetched := s.Fetch(t.Context(), "a", lt, []string{"id"}, func(string, []byte) error { return nil })
	_, counted := d.collection("a", lt).CountDocuments(t.Context(), bson.D{})
	if err := errors.Join(loaded, got, fetched, counted); err != nil {
		t.Fatal(err)
	}
	if modes := p.take(); len(modes) != 4 || strings.Join(modes, "") != "" {
		t.Errorf("a loader reads with the preferences %q", modes)
	}
	a := &openArchive{database: d}
	c, err := a.send(t.Context(), &plan{collection: "c"}, bson.D{})
	if err == nil {
		err = c.Close(t.Context())
	}
	if modes := p.take(); err != nil || len(modes) != 1 || modes[0] != "secondaryPreferred" {
		t.Errorf("a query reads with the preferences %q, %v", modes, err)
	}
}

// primaryServer is a double of the only member of a replica set. It records the read preferences of reads.
type primaryServer struct {
	mu    sync.Mutex
	modes []string
}

// take returns the recorded preferences, "" = the primary, and forgets them.
func (p *primaryServer) take() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	modes := p.modes
	p.modes = nil
	return modes
}

func (p *primaryServer) listen(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return l.Addr().String()
}

// The opcodes of MongoDB's wire protocol that the driver and this server send.
const (
	opReply = 1
	opQuery = 2004
	opMsg   = 2013
)

func (p *primaryServer) serve(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		head := make([]byte, 16) // length, request, response, opcode
		if _, err := io.ReadFull(in, head); err != nil {
			return
		}
		body := make([]byte, binary.LittleEndian.Uint32(head)-16)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		op, skip := binary.LittleEndian.Uint32(head[12:]), 5 // flags, and the kind of the section
		prefix := make([]byte, 5)
		if op == opQuery {
			skip = 4 + len("admin.$cmd") + 1 + 8 // flags, collection, numbers to skip and to return
			op, prefix = opReply, make([]byte, 20)
			prefix[16] = 1 // number of documents
		}
		reply, err := bson.Marshal(p.answer(c.LocalAddr().String(), bson.Raw(body[skip:])))
		if err != nil {
			return
		}
		out := binary.LittleEndian.AppendUint32(nil, uint32(16+len(prefix)+len(reply)))
		out = append(out, 0, 0, 0, 0)
		out = binary.LittleEndian.AppendUint32(append(out, head[4:8]...), op)
		if _, err := c.Write(append(append(out, prefix...), reply...)); err != nil {
			return
		}
	}
}

func (p *primaryServer) answer(address string, command bson.Raw) bson.D {
	elements, err := command.Elements()
	if err != nil {
		return bson.D{{Key: "ok", Value: 0}}
	}
	switch elements[0].Key() {
	case "find", "aggregate":
		mode, _ := command.Lookup("$readPreference", "mode").StringValueOK()
		if mode == "primary" {
			mode = ""
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.modes = append(p.modes, mode)
		return bson.D{{Key: "ok", Value: 1}, {Key: "cursor", Value: bson.D{
			{Key: "id", Value: int64(0)}, {Key: "ns", Value: "d.c"}, {Key: "firstBatch", Value: bson.A{}},
		}}}
	}
	return bson.D{ // the reply to hello
		{Key: "ok", Value: 1},
		{Key: "ismaster", Value: true},
		{Key: "isWritablePrimary", Value: true},
		{Key: "setName", Value: "rs"},
		{Key: "hosts", Value: bson.A{address}},
		{Key: "me", Value: address},
		{Key: "minWireVersion", Value: 0},
		{Key: "maxWireVersion", Value: 21},
		{Key: "maxBsonObjectSize", Value: 16 << 20},
		{Key: "maxMessageSizeBytes", Value: 48 << 20},
		{Key: "maxWriteBatchSize", Value: 100_000},
	}
}
