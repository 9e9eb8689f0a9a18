package couchbase

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/query/question"
)

// envServer names a bucket of a cluster, on which the complete conformance suite runs instead of the mock:
// couchbase://user:password@host/bucket. The suite creates and drops collections barograph_test_1 … in the URL's
// scope.
const envServer = "BAROGRAPH_COUCHBASE"

// native returns the part of the engine that the mock supports: the key-value service.
func native() engine.Driver {
	d := Driver()
	enginetest.Only(&d, design.Document, flavour.KeysNative)
	open := d.Open
	d.Open = func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
		e, err := open(ctx, u, o)
		if err == nil {
			e.Abilities = slices.Insert(e.Abilities, 0, any(nativeArchives{archive.DatabaseOf(e)}))
		}
		return e, err
	}
	return d
}

type nativeArchives struct{ archive.Database }

func (n nativeArchives) Open(ctx context.Context, d design.Name) (archive.Archive, error) {
	a, err := n.Database.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	return nativeArchive{a}, nil
}

type nativeArchive struct{ archive.Archive }

func (n nativeArchive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*archive.Query, error) {
	if f != flavour.KeysNative {
		return nil, flavour.ErrCannotExpress
	}
	return n.Archive.Phrase(ctx, q, f)
}

// fresh returns a function that creates a bucket of the mock and returns its URL.
func fresh(l *lab.Lab, query string) func(t *testing.T) string {
	var made atomic.Int64
	return func(t *testing.T) string {
		t.Helper()
		name := fmt.Sprintf("t%d", made.Add(1))
		// A bucket without a password. The mock demands a quota and ignores it.
		form := url.Values{"name": {name}, "authType": {"sasl"}, "ramQuotaMB": {"100"}}
		rest(t, l, http.MethodPost, "/pools/default/buckets", form)
		var bucket struct {
			Map struct {
				Servers []string `json:"serverList"`
			} `json:"vBucketServerMap"`
		}
		reply := rest(t, l, http.MethodGet, "/pools/default/b/"+name, nil)
		if err := json.Unmarshal(reply, &bucket); err != nil || len(bucket.Map.Servers) == 0 {
			t.Fatalf("the mock has no bucket %s: %v", name, err)
		}
		return "couchbase://" + name + "@" + bucket.Map.Servers[0] + "/" + name + "?indexes=false&lease=2s" + query
	}
}

// rest sends a request to the mock's REST port.
func rest(t *testing.T, l *lab.Lab, method, path string, form url.Values) []byte {
	t.Helper()
	n := l.State().Cluster.Nodes[0]
	r, err := http.NewRequestWithContext(t.Context(), method, fmt.Sprintf("http://%s:%d%s", n.Host, n.Ports["rest"], path), strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("Administrator", "password")
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode >= http.StatusMultipleChoices {
		t.Fatalf("%s %s: %s %s, %v", method, path, reply.Status, text, err)
	}
	return text
}

// collections returns a function that creates a collection of a cluster and returns its URL. The end of the test
// drops the collection.
func collections(server string) func(t *testing.T) string {
	var made atomic.Int64
	return func(t *testing.T) string {
		t.Helper()
		u, err := url.Parse(server)
		if err != nil {
			t.Fatal(err)
		}
		s := reach(t, server)
		name := fmt.Sprintf("barograph_test_%d", made.Add(1))
		ask := func(ctx context.Context, verb string) {
			text := verb + " COLLECTION " + ident(s.bucket) + "." + ident(s.scope) + "." + ident(name)
			if _, err := s.docs.query(ctx, text, statement{}, func([]byte) error { return nil }); err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
		ask(t.Context(), "CREATE")
		t.Cleanup(func() { ask(context.WithoutCancel(t.Context()), "DROP") })
		q := u.Query()
		q.Set("collection", name)
		q.Set("lease", "2s")
		u.RawQuery = q.Encode()
		return u.String()
	}
}

func unreachable(*testing.T) string {
	return "couchbase://root:secret@127.0.0.1:1/x?connect_timeout=300ms"
}

// The complete engine, on a cluster of the user.
func TestConformance(t *testing.T) {
	server := os.Getenv(envServer)
	if server == "" {
		t.Skipf("NOT TESTED: N1QL, scopes, TLS and durable writes need a Couchbase cluster, which no registry has: name yours by %s", envServer)
	}
	enginetest.Run(t, enginetest.Config{Driver: Driver(), URL: collections(server), Reopenable: true, Unreachable: unreachable})
}

// The mock sends the end of every reply only when the client's kernel has acknowledged the rest, 40 ms later.
// Therefore the suite is brief.
func TestConformanceOfKeyValue(t *testing.T) {
	l := enginetest.Lab(t, Driver(), lab.Options{})
	enginetest.Run(t, enginetest.Config{
		Driver:      native(),
		URL:         fresh(l, ""),
		Reopenable:  true,
		Brief:       true,
		Unreachable: unreachable,
	})
}

// The mock is not reported as Couchbase.
func TestAboutDoesNotTakeTheMockForCouchbase(t *testing.T) {
	l := enginetest.Lab(t, Driver(), lab.Options{})
	u, err := url.Parse(l.URL())
	if err != nil {
		t.Fatal(err)
	}
	e, err := Driver().Open(t.Context(), u, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a, err := e.About(t.Context())
	if err != nil || a.Unranked == "" {
		t.Errorf("the mock is %+v, %v; its times must not be ranked", a, err)
	}
}
