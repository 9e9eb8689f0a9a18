package mariadb

import "strings"

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

// isMySQL tells a server that is not MariaDB by its version: MariaDB names itself
// there, behind what it says to old clients.
func isMySQL(version string) bool { return !strings.Contains(strings.ToLower(version), "mariadb") }

// mariadbs are the settings of a session that MySQL does not know.
var mariadbs = [...]string{"in_predicate_conversion_threshold", "optimizer_max_sel_args", "query_cache_type"} //nolint:gochecknoglobals // a constant table
