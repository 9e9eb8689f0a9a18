package engine

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/url"
	"os"
	"strings"

	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
)

// TLSParams returns the parameters with which a server's URL requests encrypted connections;
// see TLS.
func TLSParams() []Param {
	return []Param{
		{Name: "tls", Default: "false", Help: "encrypt the connection: true, false, or skip-verify, which accepts any certificate"},
		{Name: "tls_ca", Default: "", Help: "PEM file of the CA that signed the server's certificate (default: the system's); implies tls=true"},
		{Name: "tls_cert", Default: "", Help: "PEM file of the client's certificate, for servers that require one; implies tls=true"},
		{Name: "tls_key", Default: "", Help: "PEM file of the key of tls_cert"},
		{Name: "tls_name", Default: "", Help: "name in the server's certificate, if it differs from the URL's host; implies tls=true"},
	}
}

// TLS returns the TLS settings of a server's URL, from the parameters that TLSParams lists; nil = the
// connections are not encrypted.
func TLS(u *url.URL) (*tls.Config, error) {
	q := u.Query()
	bad := func(name, file string, err error, cure string) error {
		return &fault.Error{Setting: u.Scheme + " URL, parameter " + name, File: file, Err: err, Cure: cure}
	}
	ca, cert, key := q.Get("tls_ca"), q.Get("tls_cert"), q.Get("tls_key")
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: q.Get("tls_name")}
	switch how := q.Get("tls"); {
	case how == "skip-verify":
		c.InsecureSkipVerify = true //nolint:gosec // the user requested it
	case how == "false" || how == "" && ca+cert+key+c.ServerName == "":
		return nil, nil //nolint:nilnil // no TLS, no error
	case how != "true" && how != "":
		return nil, bad("tls", "", errors.New(how+" is not understood"), "write tls=true, tls=skip-verify or tls=false")
	}
	if c.ServerName == "" {
		c.ServerName = u.Hostname()
	}
	if ca != "" {
		text, err := os.ReadFile(ca)
		c.RootCAs = x509.NewCertPool()
		if err == nil && !c.RootCAs.AppendCertsFromPEM(text) {
			err = errors.New("contains no certificate")
		}
		if err != nil {
			return nil, bad("tls_ca", ca, err, "name the PEM file of the CA that signed the server's certificate")
		}
	}
	const pairCure = "name the PEM files of the client's certificate and its key: tls_cert=FILE&tls_key=FILE"
	if (cert == "") != (key == "") {
		given, missing := "tls_cert", "tls_key"
		if cert == "" {
			given, missing = missing, given
		}
		return nil, bad(given, "", errors.New("needs "+missing), pairCure)
	} else if cert != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, bad("tls_cert", cert, err, pairCure)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// certificateCure returns the cure of a server's certificate that the client does not trust;
// "" = the error has another cause.
func certificateCure(err error) string {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok || strings.Contains(err.Error(), "tls: failed to verify certificate") { // gocql keeps only the text
		return "name the CA that signed the server's certificate (tls_ca=FILE), or the host name in it (tls_name=NAME); renew an expired certificate"
	}
	return ""
}

// These parameters name the place of a server's password and keep it out of command
// lines. The registry reads them, and no driver sees them.
const (
	passFile = "passfile" // a file whose first line is the password; only its owner may read it
	passEnv  = "passenv"  // an environment variable
)

// withPassword returns a URL with the password whose place it names (passfile or passenv), or the URL itself.
func withPassword(u *url.URL) (*url.URL, error) {
	q := u.Query()
	file, env := q.Get(passFile), q.Get(passEnv)
	if file+env == "" {
		return u, nil
	}
	refuse := func(name, problem string, err error, cure string) error {
		return &fault.Error{Setting: u.Scheme + " URL, parameter " + name, File: file, Problem: problem, Err: err, Cure: cure}
	}
	if _, given := u.User.Password(); given || file != "" && env != "" {
		return nil, refuse(passFile+", "+passEnv, "names a second password", nil, "give only one")
	}
	password := os.Getenv(env)
	if env != "" && password == "" {
		return nil, refuse(passEnv, env+" is not set", nil, "set it, or name another variable")
	}
	if file != "" {
		text, err := os.ReadFile(file)
		info, failed := os.Stat(file)
		if err = cmp.Or(err, failed); err != nil {
			return nil, refuse(passFile, "cannot be read", err, "name a file whose first line is the password")
		}
		if info.Mode().Perm()&0o077 != 0 {
			return nil, refuse(passFile, "is readable by other users", nil, "chmod 600 "+file)
		}
		password, _, _ = strings.Cut(string(text), "\n")
		if password = strings.TrimSuffix(password, "\r"); password == "" {
			return nil, refuse(passFile, "contains no password in its first line", nil, "write the password into the first line")
		}
	}
	out := *u
	out.User = url.UserPassword(u.User.Username(), password)
	q.Del(passFile)
	q.Del(passEnv)
	out.RawQuery = q.Encode()
	return &out, nil
}

// ClusterTLS returns the TLS settings with which the functions of launch.Server connect to
// a cluster; nil = no TLS.
func ClusterTLS(c *launch.Cluster) (*tls.Config, error) {
	return TLS(&url.URL{Scheme: "lab", Host: c.Nodes[0].Host, RawQuery: strings.TrimPrefix(c.Parameters(), "?")})
}
