package valkey

import (
	"net/url"
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/lab"
)

// TestTLS connects to a server and to a cluster, which redirects its clients to other nodes.
func TestTLS(t *testing.T) {
	enginetest.NotUnderRace(t)
	enginetest.RunTLS(t, Driver(), lab.Options{Memory: 1 << 30})
	l := enginetest.Lab(t, Driver(), lab.Options{Memory: 1 << 28, Nodes: 3, TLS: true})
	enginetest.RefusesStrangers(t, Driver(), l.URL())
}

// TestCertificatesOfNodes: if the URL names several nodes, the certificate of each is checked for its own address.
func TestCertificatesOfNodes(t *testing.T) {
	for text, want := range map[string]string{
		"valkey://a:6379?tls=true":                     "a",
		"valkey://a:6379?tls=true&seeds=b:6379":        "",
		"valkey://a:6379?tls_name=n&seeds=b:6379":      "n",
		"valkey://a:6379?tls=skip-verify&seeds=b:6379": "",
	} {
		u, err := url.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := parse(u); err != nil || s.secure == nil || s.secure.ServerName != want {
			t.Errorf("%s: %+v, %v", text, s.secure, err)
		}
	}
}
