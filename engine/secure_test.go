package engine_test

import (
	"context"
	"crypto/tls"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/enginetest"
)

// TestTLS connects to a server that requires a certificate of the client. The error names the cause: another CA,
// another name, an expired certificate or a missing one.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	next := time.Now().Add(24 * time.Hour)
	ca := enginetest.NewCA(t, at("ca"), next)
	enginetest.NewCA(t, at("other"), next)
	ca.Issue("server", at("server"), next)
	ca.Issue("server", at("old"), time.Now().Add(-time.Hour))
	ca.Issue("client", at("client"), next)
	serve := func(cert string) string {
		t.Helper()
		pair, err := tls.LoadX509KeyPair(at(cert+".pem"), at(cert+".key"))
		if err != nil {
			t.Fatal(err)
		}
		l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: ca.Pool(), MinVersion: tls.VersionTLS12})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				if c.(*tls.Conn).HandshakeContext(t.Context()) == nil {
					_, _ = c.Write([]byte("x"))
				}
				c.Close()
			}
		}()
		return l.Addr().String()
	}
	server, old := serve("server"), serve("old")
	client := "&tls_cert=" + at("client.pem") + "&tls_key=" + at("client.key")
	for _, c := range []struct{ host, query, says string }{
		{server, "tls_ca=" + at("ca.pem") + client, ""},
		{server, "tls=skip-verify" + client, ""},
		{server, "tls_name=localhost&tls_ca=" + at("ca.pem") + client, "localhost"},
		{server, "tls_ca=" + at("ca.pem"), "certificate required"},
		{server, "tls_ca=" + at("other.pem") + client, "tls_ca=FILE"},
		{server, "tls=true" + client, "unknown authority"},
		{old, "tls_ca=" + at("ca.pem") + client, "expired"},
		{server, "tls=maybe", "is not understood"},
		{server, "tls_ca=" + at("none.pem"), "no such file"},
		{server, "tls_ca=" + at("client.key"), "contains no certificate"},
		{server, "tls_cert=" + at("client.pem"), "tls_key=FILE"},
	} {
		err := greet(t.Context(), "x://"+c.host+"/?"+c.query)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", c.query, err)
		}
	}
	for query, want := range map[string]string{
		"tls=maybe":           "x URL, parameter tls: maybe is not understood; ",
		"tls_cert=client.pem": "x URL, parameter tls_cert needs tls_key; ",
		"tls_key=client.key":  "x URL, parameter tls_key needs tls_cert; ",
	} {
		if _, err := engine.TLS(&url.URL{Scheme: "x", RawQuery: query}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", query, err, want)
		}
	}
	if c, err := engine.TLS(&url.URL{Scheme: "x"}); c != nil || err != nil {
		t.Error(c, err)
	}
}

// greet reads a byte from a server.
func greet(ctx context.Context, at string) error {
	u, err := url.Parse(at)
	if err != nil {
		return err
	}
	secure, err := engine.TLS(u)
	if err != nil {
		return err
	}
	c, err := (&tls.Dialer{Config: secure}).DialContext(ctx, "tcp", u.Host)
	if err == nil {
		defer c.Close()
		_, err = c.Read(make([]byte, 1))
	}
	if err != nil {
		return engine.UnreachableError(u.Host, err, "start it")
	}
	return nil
}

// TestPassword: a server's password comes from a file or the environment, and
// drivers see it as if it were in the URL.
func TestPassword(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("BAROGRAPH_TEST_PASSWORD", "of the environment")
	var seen *url.URL
	all := engine.Registry{{Scheme: "x", Place: engine.Remote, Open: func(_ context.Context, u *url.URL, _ engine.Options) (*engine.Engine, error) {
		seen = u
		return &engine.Engine{}, nil
	}}}
	for _, c := range []struct{ raw, password, says string }{
		{"x://me@host/db?passfile=" + put("good", "s3cret\nmore\n", 0o600), "s3cret", ""},
		{"x://me@host/db?passenv=BAROGRAPH_TEST_PASSWORD", "of the environment", ""},
		{"x://me:p@host/db", "p", ""},
		{"x://me@host/db?passfile=" + put("windows", "s3cret\r\n", 0o400), "s3cret", ""},
		{"x://me@host/db?passfile=" + put("group", "s3cret", 0o640), "", "chmod 600"},
		{"x://me@host/db?passfile=" + put("others", "s3cret", 0o601), "", "chmod 600"},
		{"x://me@host/db?passenv=BAROGRAPH_TEST_PASSWORD&passfile=" + put("both", "s3cret", 0o600), "", "give only one"},
		{"x://me@host/db?passfile=" + put("blank", "\r\ns3cret", 0o600), "", "contains no password"},
		{"x://me@host/db?passfile=" + put("open", "s3cret\n", 0o644), "", "chmod 600"},
		{"x://me@host/db?passfile=" + put("empty", "\n", 0o600), "", "contains no password"},
		{"x://me@host/db?passfile=" + filepath.Join(dir, "none"), "", "cannot be read"},
		{"x://me@host/db?passenv=BAROGRAPH_TEST_NONE", "", "is not set"},
		{"x://me:p@host/db?passenv=BAROGRAPH_TEST_PASSWORD", "", "give only one"},
		{"x://me@host/db?passfiles=x", "", "did you mean passfile"},
	} {
		seen = nil
		_, err := all.Open(t.Context(), c.raw, engine.Options{})
		switch {
		case c.says != "":
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "s3cret") {
				t.Errorf("%s: %v", c.raw, err)
			}
		case err != nil || seen.RawQuery != "" || seen.User.Username() != "me":
			t.Errorf("%s: %v, %v", c.raw, seen, err)
		default:
			if p, _ := seen.User.Password(); p != c.password {
				t.Errorf("%s: password %q", c.raw, p)
			}
		}
	}
}
