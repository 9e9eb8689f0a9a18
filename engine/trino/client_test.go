package trino

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine"
)

// A server that is not Trino is not opened, also if it answers everything with status 200. The client repeats a
// request that a proxy refuses because it limits requests.
func TestOtherServers(t *testing.T) {
	const good = `{"id": "1", "data": [[3]], "stats": {}}`
	for name, c := range map[string]struct {
		replies []string // the status of a refusal, or the body
		good    bool
	}{
		"Trino":                {[]string{good}, true},
		"a page":               {[]string{"<html>welcome</html>"}, false},
		"another JSON":         {[]string{`{"status": "ok"}`}, false},
		"nothing":              {[]string{""}, false},
		"busy":                 {[]string{"503", "429", good}, true},
		"an unauthorized user": {[]string{"401"}, false},
	} {
		n := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			reply := c.replies[min(n, len(c.replies)-1)]
			n++
			switch reply {
			case "401":
				w.WriteHeader(http.StatusUnauthorized)
			case "429":
				w.WriteHeader(http.StatusTooManyRequests)
			case "503":
				w.WriteHeader(http.StatusServiceUnavailable)
			default:
				_, _ = w.Write([]byte(reply)) // an error: the client reports it
			}
		}))
		u, err := url.Parse(strings.Replace(s.URL, "http", "trino", 1) + "/a")
		if err != nil {
			t.Fatal(err)
		}
		e, err := open(t.Context(), u, engine.Options{})
		if (err == nil) != c.good || err != nil && !errors.Is(err, engine.ErrUnreachable) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			_ = e.Close()
		}
		s.Close()
	}
}

// The folder of a schema is the path in the server's statement, also with quotes.
func TestLocalFolder(t *testing.T) {
	for statement, want := range map[string]string{
		"CREATE SCHEMA hive.a_star\nWITH (\n   location = 'local:///lab/warehouse/a_star'\n)":              "/lab/warehouse/a_star",
		"CREATE SCHEMA hive.a_star\nWITH (\n   location = 'local:///home/o''brien''/w/a_star', x = 'y'\n)": "/home/o'brien'/w/a_star",
		"CREATE SCHEMA hive.a_star\nWITH (\n   location = 's3://bucket/a_star'\n)":                         "",
		"CREATE SCHEMA hive.a_star": "",
	} {
		if got := localFolder(statement); got != want {
			t.Errorf("%s: %q, want %q", statement, got, want)
		}
	}
}
