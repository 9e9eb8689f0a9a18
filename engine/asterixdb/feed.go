package asterixdb

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/fault"
)

// feed sends documents to the server. It is an external dataset: a statement that selects from it makes a
// node of the server connect to this client, which sends lines of JSON and closes the connection. A load
// therefore needs no files on the server's machine, and the statement returns when everything is stored.
type feed struct {
	a     *openArchive
	name  string   // prefix of its datasets' names
	types []string // types of the created datasets
	from  string   // IPv4 address or name, and port, at which the server's nodes reach it
	l     *net.TCPListener
}

func feedName(token string) string { return "feed_" + token + "_" }

// newFeed listens for the server's nodes.
func (a *openArchive) newFeed(ctx context.Context, token string) (*feed, error) {
	host := a.db.clientAddress
	if host == "" {
		var err error
		if host, err = a.db.address(ctx); err != nil {
			return nil, err
		}
	}
	if strings.Contains(host, ":") { // the server splits the text at the first colon
		return nil, &fault.Error{
			Setting: "client=" + host, Problem: "is an IPv6 address, and AsterixDB's feeds read from IPv4 addresses only",
			Cure: "name an IPv4 address of this machine, for example ?client=192.0.2.1",
		}
	}
	listen := host
	if a.db.clientAddress != "" {
		listen = "" // behind NAT the address is not this machine's own
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort(listen, "0"))
	if err != nil {
		return nil, err
	}
	f := &feed{a: a, name: feedName(token), l: l.(*net.TCPListener)}
	port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
	f.from = net.JoinHostPort(host, port)
	return f, nil
}

// source returns the external dataset whose lines have a type. It creates the dataset at its first use.
func (f *feed) source(ctx context.Context, kind string) (string, error) {
	name := f.name + strconv.Itoa(len(f.types))
	for i, k := range f.types {
		if k == kind {
			return f.a.dataset(f.name + strconv.Itoa(i)), nil
		}
	}
	_, err := f.a.db.client.run(ctx, request{text: "USE " + f.a.dataverse() + ";\n" +
		"CREATE EXTERNAL DATASET " + name + "(" + kind + ") " +
		"USING `socket-client`((\"sockets\"=" + quote(f.from) + "), (\"format\"=\"json\"))"})
	if err != nil {
		return "", err
	}
	f.types = append(f.types, kind)
	return f.a.dataset(name), nil
}

// address returns the client's address on the route to the server.
func (d *database) address(ctx context.Context) (string, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", d.host)
	if err != nil {
		return "", err
	}
	defer c.Close() //nolint:errcheck // it has sent nothing
	host, _, err := net.SplitHostPort(c.LocalAddr().String())
	return host, err
}

// dropFeeds drops the external datasets of a loader.
func (a *openArchive) dropFeeds(ctx context.Context, token string) error {
	found, err := a.db.client.texts(ctx, "SELECT VALUE d.DatasetName FROM Metadata.`Dataset` AS d "+
		"WHERE d.DataverseName = "+quote(a.dataverseName)+" AND d.DatasetName LIKE "+quote(feedName(token)+"%"))
	if err != nil {
		return err
	}
	return a.drop(ctx, found)
}

// drop drops datasets of the archive's dataverse, if they exist.
func (a *openArchive) drop(ctx context.Context, datasets []string) error {
	if len(datasets) == 0 {
		return nil
	}
	text := []string{"USE " + a.dataverse()}
	for _, d := range datasets {
		text = append(text, "DROP DATASET "+ident(d)+" IF EXISTS")
	}
	_, err := a.db.client.run(ctx, request{text: strings.Join(text, ";\n")})
	if isAbsent(err) {
		return nil
	}
	return err
}

// close closes the client's port and drops the external datasets.
func (f *feed) close(ctx context.Context) error {
	var datasets []string
	for i := range f.types {
		datasets = append(datasets, f.name+strconv.Itoa(i))
	}
	err := f.l.Close()
	if errors.Is(err, net.ErrClosed) { // undo has closed it
		err = nil
	}
	return errors.Join(err, f.a.drop(ctx, datasets))
}

// store stores the lines of a part, after the statements in before. It inserts documents with new keys, because an
// upsert must look up each document. If the server restarts the job, the insert finds the documents of the first try,
// and store replaces them with an upsert. After an error the caller must not use the feed again.
func (f *feed) store(ctx context.Context, token, before string, p part) error {
	if p.allNew {
		err := f.run(ctx, token, before+"INSERT", p)
		if !hasCode(err, codeDuplicate) {
			return err
		}
	}
	return f.run(ctx, token, before+"UPSERT", p)
}

// run runs the statement that stores a part, and sends the lines to the server's nodes meanwhile.
func (f *feed) run(ctx context.Context, token, verb string, p part) error {
	source, err := f.source(ctx, p.kind)
	if err != nil {
		return err
	}
	if err := f.l.SetDeadline(time.Time{}); err != nil {
		return err
	}
	serving, stop := context.WithCancel(ctx)
	defer stop()
	served := make(chan error, 1)
	go func() { served <- f.serve(serving, p.lines) }()
	_, err = f.a.db.client.run(ctx, request{
		id:   token + "/" + p.dataset,
		text: verb + " INTO " + f.a.dataset(p.dataset) + " (SELECT VALUE e FROM " + source + " AS e)",
	})
	if err != nil {
		stop() // a node that still reads gets no more
	}
	return errors.Join(err, f.l.SetDeadline(time.Now()), <-served)
}

// feedBuffer is the number of bytes in one write.
const feedBuffer = 1 << 18

// errUnread means that a statement returned without having read the documents.
var errUnread = errors.New("asterixdb: no node of the server read the documents")

// serve sends the lines to every connection until the listener's deadline, because a job that the server
// restarts connects again. The bytes for the last connection count.
func (f *feed) serve(ctx context.Context, lines func(w io.Writer) error) error {
	sent := errUnread
	for {
		c, err := f.l.AcceptTCP()
		if err != nil {
			if !errors.Is(err, os.ErrDeadlineExceeded) {
				sent = errors.Join(sent, err)
			}
			return sent
		}
		sent = send(ctx, c, lines)
	}
}

func send(ctx context.Context, c *net.TCPConn, lines func(w io.Writer) error) error {
	defer c.Close() //nolint:errcheck // CloseWrite below reports whether everything was sent
	defer context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Now()) })()
	w := bufio.NewWriterSize(c, feedBuffer)
	if err := lines(w); err != nil {
		return fmt.Errorf("asterixdb: sending to the server: %w", err)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("asterixdb: sending to the server: %w", err)
	}
	return c.CloseWrite()
}
