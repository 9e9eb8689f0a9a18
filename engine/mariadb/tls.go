package mariadb

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/url"
	"os"

	"github.com/barograph/barograph/fault"
)

// TLS is how a URL has the connection encrypted: tls=true or skip-verify, with
// tls_ca, tls_cert and tls_key, files of PEM. nil = it is not.
func TLS(u *url.URL) (*tls.Config, error) {
	q := u.Query()
	bad := func(name string, err error, cure string) error {
		return &fault.Error{Setting: "mariadb URL, parameter " + name, File: q.Get(name), Err: err, Cure: cure}
	}
	ca, cert, key := q.Get("tls_ca"), q.Get("tls_cert"), q.Get("tls_key")
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	switch how := q.Get("tls"); {
	case how == "skip-verify":
		c.InsecureSkipVerify = true //nolint:gosec // it was asked for
	case how == "false" || how == "" && ca+cert+key == "":
		return nil, nil //nolint:nilnil // there is none
	case how != "true" && how != "":
		return nil, bad("tls", errors.New(how+" is not understood"), "write tls=true, tls=skip-verify or tls=false")
	}
	if ca != "" {
		text, err := os.ReadFile(ca)
		c.RootCAs = x509.NewCertPool()
		if err == nil && !c.RootCAs.AppendCertsFromPEM(text) {
			err = errors.New("holds no certificate")
		}
		if err != nil {
			return nil, bad("tls_ca", err, "name the PEM file of the CA that signed the server's certificate")
		}
	}
	if cert+key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, bad("tls_cert", err, "name the PEM files of the client's certificate and its key: tls_cert=FILE&tls_key=FILE")
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
