package mariadb

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/barograph/barograph/internal/fault"
)

// MySQL 8 and Aurora accept most of MariaDB's statements. The others are translated when a statement
// is sent; MariaDB gets its own texts unchanged. No such server was available for tests: see
// Driver.Untested.
var mysqlWords = map[string]string{ //nolint:gochecknoglobals // a constant table
	"utf8mb4_nopad_bin":        "utf8mb4_0900_bin", // compares bytes, blanks at the end too, since 8.0.17
	"ADD COLUMN IF NOT EXISTS": "ADD COLUMN", "CREATE INDEX IF NOT EXISTS": "CREATE INDEX",
}

// mysqlToken matches a key of mysqlWords, or a quoted name or literal, in which no word is translated.
var mysqlToken = regexp.MustCompile("`[^`]*`|'[^']*'|utf8mb4_nopad_bin|(ADD COLUMN|CREATE INDEX) IF NOT EXISTS")

// translate translates a statement for this server.
func (d *database) translate(text string) string {
	if !d.mysql {
		return text
	}
	return mysqlToken.ReplaceAllStringFunc(text, func(s string) string { return cmp.Or(mysqlWords[s], s) })
}

// explain returns the start of a query for a plan. MariaDB runs the query and counts rows. MySQL only
// estimates them: before version 8.3 its EXPLAIN ANALYZE has no JSON.
func (d *database) explain() string {
	if d.mysql {
		return "EXPLAIN FORMAT=JSON "
	}
	return "ANALYZE FORMAT=JSON "
}

// requireMariaDB refuses operations that exist only in MariaDB's statements.
func (d *database) requireMariaDB(study string) error {
	if !d.mysql {
		return nil
	}
	return &fault.Error{
		Setting: d.redactedURL, Problem: "is not MariaDB, and " + study + " needs statements that only MariaDB has",
		Cure: "use MariaDB: `barograph lab up mariadb`",
	}
}

// isMySQL detects a server other than MariaDB by its version. MariaDB's version contains its name,
// after a number for old clients.
func isMySQL(version string) bool { return !strings.Contains(strings.ToLower(version), "mariadb") }

// mariaDBSettings are the session settings that MySQL lacks. MySQL's name of tx_isolation is transaction_isolation; its
// default is that of sessionSettings.
var mariaDBSettings = [...]string{ //nolint:gochecknoglobals // a constant table
	"in_predicate_conversion_threshold", "optimizer_max_sel_args", "query_cache_type", "tx_isolation",
}

// lacks reports whether this server has no such session setting.
func (d *database) lacks(name, _ string) bool {
	return d.mysql && slices.Contains(mariaDBSettings[:], name)
}
