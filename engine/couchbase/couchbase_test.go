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

// envServer names a bucket of a cluster to run the whole conformance
// suite against, in place of the mock: couchbase://user:password@host/bucket. The
// suite makes collections barograph_test_1 … in the URL's scope and drops them.
const envServer = "BAROGRAPH_COUCHBASE"

// native is the engine as far as the mock goes: the key-value service.
func native() engine.Driver {
	d := Driver()
	enginetest.Only(&d, design.Document, flavour.KeysNative)
	whole := d.Open
	d.Open = func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
		e, err := whole(ctx, u, o)
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

// fresh returns a function that makes a bucket of the mock and names it by a URL.
func fresh(l *lab.Lab, query string) func(t *testing.T) string {
	var made atomic.Int64
	return func(t *testing.T) string {
		t.Helper()
		name := fmt.Sprintf("t%d", made.Add(1))
		// Without a password; the mock wants a quota and does nothing with it.
		rest(t, l, http.MethodPost, "/pools/default/buckets", url.Values{"name": {name}, "authType": {"sasl"}, "ramQuotaMB": {"100"}})
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

// collections returns a function that makes a collection of a cluster, which is
// dropped with the test, and names it by a URL.
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

// The whole engine, on a cluster that somebody has.
func TestConformance(t *testing.T) {
	server := os.Getenv(envServer)
	if server == "" {
		t.Skipf("NOT TESTED: N1QL, scopes, TLS and durable writes need a Couchbase cluster, which no registry has: name yours by %s", envServer)
	}
	enginetest.Run(t, enginetest.Config{Driver: Driver(), URL: collections(server), Reopenable: true, Unreachable: unreachable})
}

// The mock holds back the end of every reply until the client's kernel says that
// it has the rest, 40 ms later: the suite is brief.
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

// The double is not taken for Couchbase.
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
		t.Errorf("the mock is %+v, %v; its times are in no ranking", a, err)
	}
}
