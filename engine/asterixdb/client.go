package asterixdb

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/engine"
)

// client talks to a cluster controller's query service.
type client struct {
	http *http.Client
	base string // http://host:port
}

// idleConnections is the number of connections that are kept open.
const idleConnections = 64

func newClient(host string, secure *tls.Config) *client {
	t := &http.Transport{MaxIdleConnsPerHost: idleConnections, DisableCompression: true, TLSClientConfig: secure}
	scheme := "http://"
	if secure != nil {
		scheme = "https://"
	}
	return &client{http: &http.Client{Transport: t}, base: scheme + host}
}

func (c *client) close() { c.http.CloseIdleConnections() }

// request is one call of the query service.
type request struct {
	text   string         // statements, separated by ';'
	params map[string]any // statement parameters: $name, without the $
	id     string         // client_context_id, with which the request can be found and canceled; "" = any
	plan   bool           // also return the plan

	// row receives each row of the results, which is valid until it returns; nil = no rows are expected.
	row func(row []byte) error
}

// reply is the reply of the service without the rows.
type reply struct {
	server time.Duration // the server's own time
	plan   []byte        // JSON
}

// serverError is an error of the server.
type serverError struct{ message string }

func (e *serverError) Error() string { return "asterixdb: " + e.message }

// hasCode reports whether the server returned one of these codes.
func hasCode(err error, codes ...string) bool {
	r, ok := errors.AsType[*serverError](err)
	if !ok {
		return false
	}
	for _, c := range codes {
		if strings.HasPrefix(r.message, c+":") {
			return true
		}
	}
	return false
}

// Codes of the server's errors.
const (
	codeDuplicate   = "HYR0033" // the primary key exists already
	codeNoDataverse = "ASX1063"
	codeNoDataset   = "ASX1077"
	codeNoDataset2  = "ASX1050"
)

// isAbsent reports whether a dataverse or a dataset does not exist.
func isAbsent(err error) bool { return hasCode(err, codeNoDataverse, codeNoDataset, codeNoDataset2) }

// run sends a request. If ctx ends first, run cancels the request on the server.
func (c *client) run(ctx context.Context, r request) (reply, error) {
	if r.id == "" {
		r.id = newToken()
	}
	out, err := c.send(ctx, r)
	if err == nil {
		return out, nil
	}
	if ctx.Err() != nil {
		c.cancel(context.WithoutCancel(ctx), r.id)
		return out, ctx.Err()
	}
	if end, ok := ctx.Deadline(); ok && !time.Now().Before(end) {
		c.cancel(context.WithoutCancel(ctx), r.id)
		return out, context.DeadlineExceeded
	}
	return out, err
}

func (c *client) send(ctx context.Context, r request) (reply, error) {
	form := url.Values{"statement": {r.text}, "client_context_id": {r.id}}
	for name, v := range r.params {
		text, err := json.Marshal(v)
		if err != nil {
			return reply{}, err
		}
		form.Set("$"+name, string(text))
	}
	if r.plan {
		form.Set("optimized-logical-plan", "true")
		form.Set("plan-format", "json")
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/query/service", strings.NewReader(form.Encode()))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := c.http.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close() //nolint:errcheck // it is only read
	return c.read(resp, r.row)
}

// read reads a reply and passes on rows as they arrive.
func (c *client) read(resp *http.Response, row func([]byte) error) (reply, error) {
	var out reply
	var status, message string
	s := newScanner(resp.Body)
	err := s.object(func(name string) error {
		switch {
		case strings.HasPrefix(name, "results"):
			return s.array(func(text []byte) error {
				if row == nil {
					return nil
				}
				return row(text)
			})
		case name == "plans":
			text, err := s.value()
			out.plan = bytes.Clone([]byte(gjson.GetBytes(text, "optimizedLogicalPlan").Raw))
			return err
		}
		text, err := s.value()
		if err != nil {
			return err
		}
		switch name {
		case "status":
			status = gjson.ParseBytes(text).String()
		case "errors":
			message = gjson.GetBytes(text, "0.msg").String()
		case "metrics":
			out.server, _ = time.ParseDuration(gjson.GetBytes(text, "elapsedTime").String()) // an error: 0
		}
		return nil
	})
	_, _ = io.Copy(io.Discard, resp.Body) // lets the connection be reused
	switch {
	case message != "":
		return out, &serverError{message}
	case err != nil:
		return out, fmt.Errorf("asterixdb: status %d: %w", resp.StatusCode, err)
	case status != "success":
		return out, &serverError{fmt.Sprintf("the status is %q (HTTP %d)", status, resp.StatusCode)}
	}
	return out, nil
}

// cancelPatience is how long a server may take to cancel a request.
const cancelPatience = 2 * time.Second

// cancel cancels the requests of an id on the server. They may have finished already.
func (c *client) cancel(ctx context.Context, id string) {
	ctx, stop := context.WithTimeout(ctx, cancelPatience)
	defer stop()
	address := c.base + "/admin/requests/running/?client_context_id=" + url.QueryEscape(id)
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, address, nil)
	if err != nil {
		return
	}
	if resp, err := c.http.Do(req); err == nil {
		_ = resp.Body.Close() // the reply does not matter
	}
}

// running lists the requests in progress on the server whose id has a prefix.
func (c *client) running(ctx context.Context, prefix string) ([]string, error) {
	ids, err := c.texts(ctx, "SELECT VALUE r.clientContextID FROM active_requests() AS r")
	return slices.DeleteFunc(ids, func(id string) bool { return !strings.HasPrefix(id, prefix) }), err
}

// texts runs a statement whose answer is a list of texts.
func (c *client) texts(ctx context.Context, text string) (out []string, err error) {
	out = []string{}
	_, err = c.run(ctx, request{text: text, row: func(row []byte) error { out = append(out, gjson.ParseBytes(row).String()); return nil }})
	return out, err
}

// cancelAll cancels all requests whose id has a prefix, and waits until none is left.
func (c *client) cancelAll(ctx context.Context, prefix string) error {
	for {
		ids, err := c.running(ctx, prefix)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			c.cancel(ctx, id)
		}
		if err := engine.Pause(ctx, pollInterval); err != nil {
			return err
		}
	}
}

// pollInterval is the interval for checking a state of the server that will change soon.
const pollInterval = 20 * time.Millisecond

// get reads a page of the service's administration.
func (c *client) get(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, err
	}
	defer resp.Body.Close() //nolint:errcheck // it is only read
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("asterixdb: %s: status %d", path, resp.StatusCode)
	}
	return text, err
}

// scanner splits a reply into the members of its object and the rows of its results. It has only one of
// them in memory, and looks only at brackets and strings; others parse the values.
type scanner struct {
	r   *bufio.Reader
	buf []byte
}

func newScanner(r io.Reader) *scanner { return &scanner{r: bufio.NewReaderSize(r, 1<<16)} }

// errReply means that a reply is not what the service sends.
var errReply = errors.New("the reply is not a JSON object")

// next returns the next byte that is not a blank.
func (s *scanner) next() (byte, error) {
	for {
		c, err := s.r.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			return c, nil
		}
	}
}

// object calls member for each member of an object; member must read the value.
func (s *scanner) object(member func(name string) error) error {
	if c, err := s.next(); err != nil || c != '{' {
		return errors.Join(errReply, err)
	}
	for {
		c, err := s.next()
		switch {
		case err != nil:
			return err
		case c == '}':
			return nil
		case c == ',':
			continue
		case c != '"':
			return fmt.Errorf("%w: %q where a name should be", errReply, c)
		}
		s.buf = s.buf[:0]
		if err := s.text(); err != nil {
			return err
		}
		name := string(s.buf[:len(s.buf)-1])
		if c, err := s.next(); err != nil || c != ':' {
			return errors.Join(errReply, err)
		}
		if err := member(name); err != nil {
			return err
		}
	}
}

// array yields the elements of an array, each valid until the next step.
func (s *scanner) array(element func(text []byte) error) error {
	if c, err := s.next(); err != nil || c != '[' {
		return errors.Join(errReply, err)
	}
	for {
		c, err := s.next()
		switch {
		case err != nil:
			return err
		case c == ']':
			return nil
		case c == ',':
			continue
		}
		text, err := s.from(c)
		if err != nil {
			return err
		}
		if err := element(text); err != nil {
			return err
		}
	}
}

// value returns the next value, valid until the next step.
func (s *scanner) value() ([]byte, error) {
	c, err := s.next()
	if err != nil {
		return nil, err
	}
	return s.from(c)
}

// from reads a value whose first byte was read already.
func (s *scanner) from(c byte) ([]byte, error) {
	s.buf = append(s.buf[:0], c)
	switch c {
	case '"':
		err := s.text()
		return s.buf, err
	case '{', '[':
	default:
		return s.scalar()
	}
	for depth := 1; depth > 0; {
		c, err := s.r.ReadByte()
		if err != nil {
			return nil, io.ErrUnexpectedEOF
		}
		s.buf = append(s.buf, c)
		switch c {
		case '"':
			if err := s.text(); err != nil {
				return nil, err
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
	}
	return s.buf, nil
}

// scalar reads a number, true, false or null to its end.
func (s *scanner) scalar() ([]byte, error) {
	for {
		c, err := s.r.ReadByte()
		if err != nil {
			return nil, io.ErrUnexpectedEOF
		}
		switch c {
		case ',', ']', '}', ' ', '\n', '\t', '\r':
			return s.buf, s.r.UnreadByte()
		}
		s.buf = append(s.buf, c)
	}
}

// text appends a string up to its closing quote.
func (s *scanner) text() error {
	for {
		part, err := s.r.ReadSlice('"')
		s.buf = append(s.buf, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return io.ErrUnexpectedEOF
		}
		n := 0
		for k := len(s.buf) - 2; k >= 0 && s.buf[k] == '\\'; k-- {
			n++
		}
		if n%2 == 0 {
			return nil
		}
	}
}
