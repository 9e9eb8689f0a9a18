package couchbase

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/couchbase/gocbcore/v10"
)

// certificate writes a certificate and its key as PEM files.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	signed, err := x509.CreateCertificate(rand.Reader, form, form, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// TestCertificates checks what the SDK gets from the URL. There is no server with TLS to connect to.
func TestCertificates(t *testing.T) {
	cert, key := certificate(t)
	read := func(q url.Values) (*settings, error) {
		return parse(&url.URL{Scheme: "couchbase", User: url.UserPassword("u", "p"), Host: "h", Path: "/b", RawQuery: q.Encode()})
	}
	s, err := read(url.Values{"tls": {"true"}, "ca": {cert}, "cert": {cert}, "key": {key}})
	if err != nil {
		t.Fatal(err)
	}
	if a, ok := s.auth.(certificateAuth); !ok || a.pair == nil {
		t.Errorf("the client identifies itself by %T", s.auth)
	}
	if s.roots == nil || s.connection != "couchbases://h" {
		t.Errorf("connected to %s, trusting others: %t", s.connection, s.roots != nil)
	}
	for name, q := range map[string]url.Values{"a key for certificates": {"ca": {key}}, "no key": {"cert": {cert}}, "two certificates": {"cert": {cert}, "key": {cert}}} {
		if _, err := read(q); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	s, err = read(url.Values{})
	if err != nil {
		t.Fatal(err)
	}
	if a, ok := s.auth.(gocbcore.PasswordAuthProvider); !ok || a.Username != "u" || a.Password != "p" || s.connection != "couchbase://h" {
		t.Errorf("without certificates: %T, %s", s.auth, s.connection)
	}
}
