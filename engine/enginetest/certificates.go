package enginetest

import (
	"crypto/x509"
	"os"
	"testing"
	"time"

	"github.com/barograph/barograph/lab"
)

// CA signs certificates for a test, as the lab does for its servers.
type CA struct {
	t  *testing.T
	ca *lab.CA
}

// NewCA writes FILE.pem of a CA that signs itself.
func NewCA(t *testing.T, file string, until time.Time) *CA {
	t.Helper()
	ca, err := lab.NewCA(until)
	if err == nil {
		err = os.WriteFile(file+".pem", ca.PEM(), 0o644) //nolint:gosec // the server runs under another account
	}
	if err != nil {
		t.Fatal(err)
	}
	return &CA{t, ca}
}

// Pool returns a pool with only this CA.
func (s *CA) Pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AppendCertsFromPEM(s.ca.PEM())
	return p
}

// Issue writes FILE.pem and FILE.key of a certificate for 127.0.0.1.
func (s *CA) Issue(name, file string, until time.Time) {
	s.t.Helper()
	cert, key, err := s.ca.Issue(name, []string{"127.0.0.1"}, until)
	if err != nil {
		s.t.Fatal(err)
	}
	private, err := lab.KeyPEM(key)
	if err != nil {
		s.t.Fatal(err)
	}
	for path, text := range map[string][]byte{file + ".pem": cert, file + ".key": private} {
		if err := os.WriteFile(path, text, 0o644); err != nil { //nolint:gosec // the server runs under another account
			s.t.Fatal(err)
		}
	}
}
