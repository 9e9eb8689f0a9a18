package enginetest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/lab"
)

// RunTLS connects to a server of the lab with TLS. Another CA, another name, no TLS, another password and
// an expired certificate must be refused, with an error that names the reason and never contains the
// password.
func RunTLS(t *testing.T, d engine.Driver, o lab.Options) {
	t.Helper()
	o.TLS = true
	UsesTLS(t, d, Lab(t, d, o), o.Patience)
}

// UsesTLS is RunTLS with a server that is running. Afterwards the server does not run and has an expired certificate.
// A start takes at most patience.
func UsesTLS(t *testing.T, d engine.Driver, l *lab.Lab, patience time.Duration) {
	t.Helper()
	RefusesStrangers(t, d, l.URL())
	expires(t, d, l, max(patience, 2*time.Minute))
}

// RefusesStrangers tries connections that a server must refuse over TLS, and some that it must accept.
func RefusesStrangers(t *testing.T, d engine.Driver, at string) {
	t.Helper()
	other := filepath.Join(t.TempDir(), "other")
	NewCA(t, other, time.Now().Add(time.Hour))
	for name, c := range map[string]struct {
		change func(u *url.URL, q url.Values)
		want   string // part of the error; "" = the server accepts the connection
	}{
		"valid":            {func(*url.URL, url.Values) {}, ""},
		"any certificate":  {func(_ *url.URL, q url.Values) { q.Del("tls_ca"); q.Set("tls", "skip-verify") }, ""},
		"the system's CAs": {func(_ *url.URL, q url.Values) { q.Del("tls_ca"); q.Set("tls", "true") }, "unknown authority"},
		"another CA":       {func(_ *url.URL, q url.Values) { q.Set("tls_ca", other+".pem") }, "tls_ca=FILE"},
		"another name":     {func(_ *url.URL, q url.Values) { q.Set("tls_name", "localhost") }, "localhost"},
		"without TLS":      {func(_ *url.URL, q url.Values) { q.Del("tls_ca"); q.Set("tls", "false") }, "is unreachable"},
		"another password": {func(u *url.URL, _ url.Values) { u.User = url.UserPassword(u.User.Username(), "of-a-stranger") }, "is unreachable"},
		"no password":      {func(u *url.URL, _ url.Values) { u.User = url.User(u.User.Username()) }, "is unreachable"},
	} {
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		q := u.Query()
		password, _ := u.User.Password()
		c.change(u, q)
		u.RawQuery = q.Encode()
		err = openAndDescribe(t.Context(), d, u.String())
		text := fmt.Sprint(err)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(text, c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
		if strings.Contains(text, password) || strings.Contains(text, "stranger") {
			t.Errorf("%s: the error contains a password: %s", name, text)
		}
	}
}

// openAndDescribe opens a server and calls About.
func openAndDescribe(ctx context.Context, d engine.Driver, at string) error {
	e, err := engine.Registry{d}.Open(ctx, at, engine.Options{})
	if err != nil {
		return err
	}
	a, err := e.About(ctx)
	if err == nil && a.Version == "" {
		err = errors.New("the server reports no version")
	}
	return errors.Join(err, e.Close())
}

// expires restarts the server with an expired certificate. Neither the lab nor a client may accept it.
func expires(t *testing.T, d engine.Driver, l *lab.Lab, expiry time.Duration) {
	t.Helper()
	ca, err := lab.NewCA(time.Now().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	c := l.State().Cluster
	u, err := url.Parse(l.URL())
	if err != nil {
		t.Fatal(err)
	}
	n, expired := &c.Nodes[0], time.Now().Add(-time.Hour)
	err = errors.Join(l.Stop(0), ca.Write(n.Certificate(), []string{n.Host}, expired), os.WriteFile(c.CA(), ca.PEM(), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), expiry)
	defer stop()
	started := make(chan error, 1)
	go func() { started <- l.Restart(ctx, 0) }()
	err = engine.Await(ctx, 100*time.Millisecond, func() error {
		switch err := openAndDescribe(ctx, d, u.String()); {
		case err == nil:
			return errors.New("an expired certificate was accepted")
		case !strings.Contains(err.Error(), "expired"):
			return err
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	stop()
	if err := <-started; err == nil {
		t.Error("the lab reported the server as ready")
	}
}
