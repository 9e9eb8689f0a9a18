package asterixdb

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/launch"
)

// TestJoined: a node is ready only if the cluster lists it as active. Other nodes do not count.
func TestJoined(t *testing.T) {
	for name, c := range map[string]struct {
		states string // of nc1, nc2 and nc3; "" = not listed
		ready  bool
	}{
		"only others":    {"ACTIVE,,ACTIVE", false},
		"inactive":       {"ACTIVE,INACTIVE,ACTIVE", false},
		"the first two":  {"ACTIVE,ACTIVE,", true},
		"all":            {"ACTIVE,ACTIVE,ACTIVE", true},
		"without others": {",ACTIVE,", true},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/query/service" {
				fmt.Fprint(w, `{"results": [1], "status": "success"}`)
				return
			}
			var all []string
			for i, state := range strings.Split(c.states, ",") {
				if state != "" {
					all = append(all, fmt.Sprintf(`{"node_id": "nc%d", "state": "%s"}`, i+1, state))
				}
			}
			fmt.Fprintf(w, `{"ncs": [%s]}`, strings.Join(all, ","))
		}))
		host, text, err := net.SplitHostPort(strings.TrimPrefix(s.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		port, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		cluster := launch.Cluster{Nodes: make([]launch.Node, 3)}
		cluster.Nodes[0] = launch.Node{Host: host, Ports: map[string]int{"api": port}}
		if err := ready(t.Context(), &cluster, &launch.Node{Index: 1}); (err == nil) != c.ready {
			t.Errorf("%s: %v", name, err)
		}
		s.Close()
	}
}
