package postgres

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/barograph/barograph/engine"
)

// TestEachHostIsEncrypted: if a URL names several hosts, the connection to each of them is encrypted, and each host
// must have a certificate for its own name, or for tls_name.
func TestEachHostIsEncrypted(t *testing.T) {
	for query, names := range map[string][2]string{"tls=true": {"one", "two"}, "tls_name=both": {"both", "both"}} {
		u, err := url.Parse("postgres://me@one:5433,two:5434/db?" + query)
		if err != nil {
			t.Fatal(err)
		}
		c, err := new(database).config(u, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c.ConnConfig.TLSConfig == nil || c.ConnConfig.TLSConfig.ServerName != names[0] {
			t.Errorf("%s, first host: %+v", query, c.ConnConfig.TLSConfig)
		}
		if len(c.ConnConfig.Fallbacks) != 1 {
			t.Fatalf("%d further hosts, want 1", len(c.ConnConfig.Fallbacks))
		}
		f := c.ConnConfig.Fallbacks[0]
		if f.Host != "two" || f.TLSConfig == nil || f.TLSConfig.ServerName != names[1] {
			t.Errorf("%s, host %s: %+v", query, f.Host, f.TLSConfig)
		}
	}
}

// TestUnreachableCures: the cure fits the server's refusal. A pooler refuses the settings that every session needs.
func TestUnreachableCures(t *testing.T) {
	t.Parallel()
	for code, cure := range map[string]string{
		"3D000": "create the database", "28P01": "PGPASSWORD", "28000": "PGPASSWORD", "08P01": "PostgreSQL's own port", "57P03": "start the server",
	} {
		err := unreachable(fmt.Errorf("failed to connect: %w", &pgconn.PgError{Code: code}))
		if !errors.Is(err, engine.ErrUnreachable) || !strings.Contains(err.Error(), cure) {
			t.Errorf("%s: %v, want %q", code, err, cure)
		}
	}
}
