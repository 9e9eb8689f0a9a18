package mariadb

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/enginetest"
	"github.com/barograph/barograph/lab"
)

func TestLabOverTLS(t *testing.T) { enginetest.RunTLS(t, Driver(), lab.Options{Memory: 1 << 30}) }

// Barograph connects over TLS to a server whose certificate the given CA signed. The errors of another CA, of an
// expired certificate and of a missing client certificate name these causes.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // the server runs under another account
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	next := time.Now().Add(24 * time.Hour)
	ca := enginetest.NewCA(t, at("ca"), next)
	enginetest.NewCA(t, at("other"), next)
	ca.Issue("server", at("server"), next)
	ca.Issue("client", at("client"), next)
	l := enginetest.Lab(t, Driver(), lab.Options{Memory: 1 << 30, Settings: map[string]string{"ssl_ca": at("ca.pem"), "ssl_cert": at("server.pem"), "ssl_key": at("server.key")}})
	plain := openIn(t, l, "", "normalized")
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
		d, err := openDatabase(t.Context(), u, engine.Options{})
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
	check("", "?tls_ca="+at("client.key"), "contains no certificate")
	check("", "?tls_cert="+at("client.pem"), "tls_key=FILE")
	ca.Issue("server", at("server"), time.Now().Add(-time.Hour))
	do("FLUSH SSL")
	check("", "?tls_ca="+at("ca.pem"), "expired")
}
