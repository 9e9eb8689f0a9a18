package couchbase_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"

	"barograph/design"
	"barograph/engine"
	"barograph/engine/couchbase"
	"barograph/engine/enginetest"
	"barograph/flavour"
	"barograph/lab"
	"barograph/question"
)

// native is the engine as far as the mock goes: the key-value service.
func native() engine.Driver {
	d := couchbase.Driver()
	d.Offers = map[design.Name][]flavour.Name{design.Document: {flavour.KeysNative}}
	whole := d.Open
	d.Open = func(ctx context.Context, u *url.URL, o engine.Options) (*engine.Engine, error) {
		e, err := whole(ctx, u, o)
		if err == nil {
			e.Archives = nativeArchives{e.Archives}
		}
		return e, err
	}
	return d
}

type nativeArchives struct{ engine.Archives }

func (n nativeArchives) Open(ctx context.Context, d design.Name) (engine.Archive, error) {
	a, err := n.Archives.Open(ctx, d)
	if err != nil {
		return nil, err
	}
	return nativeArchive{a}, nil
}

type nativeArchive struct{ engine.Archive }

func (n nativeArchive) Phrase(ctx context.Context, q *question.Question, f flavour.Name) (*engine.Query, error) {
	if f != flavour.KeysNative {
		return nil, flavour.ErrCannotExpress
	}
	return n.Archive.Phrase(ctx, q, f)
}

// fresh returns a function that names one of the mock's spare buckets by a URL.
func fresh(l *lab.Lab, query string) func(t *testing.T) string {
	var made atomic.Int64
	return func(t *testing.T) string {
		t.Helper()
		name := fmt.Sprintf("t%d", made.Add(1))
		n := l.State().Cluster.Nodes[0]
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("http://%s:%d/pools/default/b/%s", n.Host, n.Ports["rest"], name), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.SetBasicAuth("Administrator", "password")
		reply, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		var bucket struct {
			Map struct {
				Servers []string `json:"serverList"`
			} `json:"vBucketServerMap"`
		}
		if err := json.NewDecoder(reply.Body).Decode(&bucket); err != nil || len(bucket.Map.Servers) == 0 {
			t.Fatalf("the mock has no bucket %s: %v", name, err)
		}
		return "couchbase://" + name + "@" + bucket.Map.Servers[0] + "/" + name + "?indexes=false&lease=2s" + query
	}
}

func TestConformanceOfKeyValue(t *testing.T) {
	l := enginetest.Lab(t, couchbase.Driver(), lab.Options{})
	enginetest.Run(t, enginetest.Config{
		Driver:      native(),
		URL:         fresh(l, ""),
		Reopenable:  true,
		Unreachable: func(*testing.T) string { return "couchbase://root:secret@127.0.0.1:1/x?connect_timeout=300ms" },
	})
}

// The double is not taken for Couchbase.
func TestAboutDoesNotTakeTheMockForCouchbase(t *testing.T) {
	l := enginetest.Lab(t, couchbase.Driver(), lab.Options{})
	u, err := url.Parse(l.URL())
	if err != nil {
		t.Fatal(err)
	}
	e, err := couchbase.Driver().Open(t.Context(), u, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a, err := e.About(t.Context())
	if err != nil || a.Unranked == "" {
		t.Errorf("the mock is %+v, %v; its times are in no ranking", a, err)
	}
}
