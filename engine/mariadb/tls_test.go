package mariadb

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/enginetest"
	"github.com/barograph/barograph/lab"
)

// signer makes certificates for a test.
type signer struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue writes a certificate and its key; that of a CA signs itself.
func (s *signer) issue(name, file string, until time.Time) *signer {
	s.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		s.t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: until.Add(-48 * time.Hour), NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		IsCA: s.cert == nil, BasicConstraintsValid: true,
	}
	parent, by := c, key
	if s.cert != nil {
		parent, by = s.cert, s.key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, by)
	if err != nil {
		s.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		s.t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{file + ".pem": {Type: "CERTIFICATE", Bytes: der}, file + ".key": {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o644); err != nil { //nolint:gosec // the server runs under another account
			s.t.Fatal(err)
		}
	}
	made, err := x509.ParseCertificate(der)
	if err != nil {
		s.t.Fatal(err)
	}
	return &signer{s.t, made, key}
}

// A server whose certificate the right CA signed is reached, over TLS; another
// CA, an expired certificate and a missing client's are told as what they are.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // the server runs under another account
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	next := time.Now().Add(24 * time.Hour)
	ca := (&signer{t: t}).issue("a CA", at("ca"), next)
	(&signer{t: t}).issue("another CA", at("other"), next)
	ca.issue("server", at("server"), next)
	ca.issue("client", at("client"), next)
	l := enginetest.Lab(t, Driver(), lab.Options{Memory: 1 << 30, Settings: map[string]string{"ssl_ca": at("ca.pem"), "ssl_cert": at("server.pem"), "ssl_key": at("server.key")}})
	plain := under(t, l, "", "normalized")
	do := func(text string) {
		t.Helper()
		if err := plain.exec(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	do("CREATE USER known@'%' IDENTIFIED BY 'p' REQUIRE X509")
	reach := func(user, query string) (cipher string, err error) {
		t.Helper()
		u, err := url.Parse(l.URL() + query)
		if err != nil {
			t.Fatal(err)
		}
		if user != "" {
			u.User = url.UserPassword(user, "p")
		}
		d, err := connected(t.Context(), u, engine.Options{})
		if err != nil {
			return "", err
		}
		defer d.close()
		var name string
		return cipher, d.pool.QueryRowContext(t.Context(), "SHOW STATUS LIKE 'Ssl_cipher'").Scan(&name, &cipher)
	}
	client := "&tls_cert=" + at("client.pem") + "&tls_key=" + at("client.key")
	check := func(user, query, want string) {
		t.Helper()
		cipher, err := reach(user, query)
		switch {
		case want == "" && (err != nil || cipher == ""):
			t.Errorf("%s%s: cipher %q, %v", user, query, cipher, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s%s: %v, want %q", user, query, err, want)
		}
	}
	check("", "?tls=true&tls_ca="+at("ca.pem"), "")
	check("", "?tls=skip-verify", "")
	check("known", "?tls_ca="+at("ca.pem")+client, "")
	check("known", "?tls_ca="+at("ca.pem"), "Access denied")
	check("", "?tls_ca="+at("other.pem"), "tls_ca=FILE")
	check("", "?tls=true", "unknown authority")
	check("", "?tls=maybe", "is not understood")
	check("", "?tls_ca="+at("none.pem"), "no such file")
	check("", "?tls_ca="+at("ca.key"), "holds no certificate")
	check("", "?tls_cert="+at("client.pem"), "tls_key=FILE")
	ca.issue("server", at("server"), time.Now().Add(-time.Hour))
	do("FLUSH SSL")
	check("", "?tls_ca="+at("ca.pem"), "expired")
}
