package postgres

import (
	"net/url"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/enginetest"
	"github.com/barograph/barograph/lab"
)

// A server is reached over TLS by the CA that signed its certificate, and with
// a password from a file; another CA is told.
func TestTLS(t *testing.T) {
	dir := enginetest.Disks(t, 1)[0]
	at := func(name string) string { return filepath.Join(dir, name) }
	next := time.Now().Add(24 * time.Hour)
	ca := enginetest.NewCA(t, at("ca"), next)
	enginetest.NewCA(t, at("other"), next)
	ca.Issue("server", at("server"), next)
	if err := os.Chmod(at("server.key"), 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // the server runs under its own account, and reads no key of others
		owner, err := user.Lookup(Driver().Server.User)
		if err != nil {
			t.Skip("NOT TESTED: PostgreSQL's account is not there: ", err)
		}
		uid, _ := strconv.Atoi(owner.Uid)
		if err := os.Chown(at("server.key"), uid, -1); err != nil {
			t.Fatal(err)
		}
	}
	l := enginetest.Lab(t, Driver(), lab.Options{Memory: 1 << 30, Settings: map[string]string{"ssl": "on", "ssl_cert_file": at("server.pem"), "ssl_key_file": at("server.key")}})
	u, err := url.Parse(l.URL())
	if err != nil {
		t.Fatal(err)
	}
	password, _ := u.User.Password()
	if err := os.WriteFile(at("password"), []byte(password+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.User = url.User(u.User.Username())
	for query, says := range map[string]string{
		"tls_ca=" + at("ca.pem"):    "",
		"tls=skip-verify":           "",
		"tls_ca=" + at("other.pem"): "tls_ca=FILE",
		"tls=true":                  "unknown authority",
	} {
		u.RawQuery = query + "&passfile=" + at("password")
		e, err := engine.Registry{Driver()}.Open(t.Context(), u.String(), engine.Options{})
		if says != "" {
			if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), password) {
				t.Errorf("%s: %v", query, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", query, err)
			continue
		}
		a, err := e.About(t.Context())
		if err != nil || a.Version == "" {
			t.Errorf("%s: %v", query, err)
		}
		e.Close()
	}
}
