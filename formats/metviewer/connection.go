package metviewer

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// Connection is where METviewer's database is.
type Connection struct {
	// management_system in lower case: mysql, mariadb, aurora, postgres, cb; "" = not given, for which
	// METdbLoad uses mysql
	System   string
	Host     string
	Port     string // "" = the system's default
	Database string // of a plot: a list, separated by commas
	User     string
	Password Secret
	Line     int // 0 = the file has no <connection>
}

// Secret is a text that is never printed; Reveal returns it.
type Secret string

const hidden = "******"

// Reveal returns the text itself.
func (s Secret) Reveal() string { return string(s) }

// String hides the text; an empty one stays empty.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// Format hides the text for every verb.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.String()) } //nolint:errcheck // a Formatter has nowhere to report it

// MarshalJSON hides the text.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.String()) }

// LogValue hides the text in logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

func connection(n *node) Connection {
	if n == nil {
		return Connection{}
	}
	host, port, _ := strings.Cut(n.value("host"), ":")
	return Connection{
		System: strings.ToLower(n.value("management_system")), Host: host, Port: port, Database: n.value("database"),
		User: n.value("user"), Password: Secret(n.value("password")), Line: n.line,
	}
}
