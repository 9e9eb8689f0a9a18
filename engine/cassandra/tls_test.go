package cassandra

import (
	"net/url"
	"testing"

	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/lab"
)

func TestTLS(t *testing.T) { enginetest.RunTLS(t, Driver(), lab.Options{Memory: 1 << 30}) }

// TestCertificatesOfNodes: if the URL names several nodes, the certificate of each is checked for its own address.
func TestCertificatesOfNodes(t *testing.T) {
	for text, want := range map[string]string{
		"cassandra://a:9042?tls=true":                "a",
		"cassandra://a:9042?tls=true&hosts=b":        "",
		"cassandra://a:9042?tls_name=n&hosts=b":      "n",
		"cassandra://a:9042?tls=skip-verify&hosts=b": "",
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
