package mariadb

import (
	"strings"

	"github.com/barograph/barograph/internal/fault"
)

// MySQL 8 and Aurora have most of MariaDB's words. What they lack, or call
// otherwise, is put into theirs where a statement is sent: MariaDB's own texts stay
// what they are. No such server was at hand: see Driver.NotRun.
var mysqlsWords = strings.NewReplacer( //nolint:gochecknoglobals // a constant table
	"utf8mb4_nopad_bin", "utf8mb4_0900_bin", // compares bytes, blanks at the end too, since 8.0.17
	"ADD COLUMN IF NOT EXISTS", "ADD COLUMN",
	"CREATE INDEX IF NOT EXISTS", "CREATE INDEX",
)

// words are those of a statement for this server.
func (d *database) words(text string) string {
	if !d.mysql {
		return text
	}
	return mysqlsWords.Replace(text)
}

// explain begins the question for a plan: MariaDB runs it once, and counts; MySQL's
// EXPLAIN guesses, as its EXPLAIN ANALYZE has no JSON before 8.3.
func (d *database) explain() string {
	if d.mysql {
		return "EXPLAIN FORMAT=JSON "
	}
	return "ANALYZE FORMAT=JSON "
}

// only refuses what is written in MariaDB's words alone.
func (d *database) only(what string) error {
	if !d.mysql {
		return nil
	}
	return &fault.Error{Setting: d.shown, Problem: "is no MariaDB: " + what + " in words that it does not know", Cure: "run it on MariaDB: `barograph lab up mariadb`"}
}

// isMySQL tells a server that is not MariaDB by its version: MariaDB names itself
// there, behind what it says to old clients.
func isMySQL(version string) bool { return !strings.Contains(strings.ToLower(version), "mariadb") }

// mariadbs are the settings of a session that MySQL does not know.
var mariadbs = [...]string{"in_predicate_conversion_threshold", "optimizer_max_sel_args", "query_cache_type"} //nolint:gochecknoglobals // a constant table
