package mariadb

import (
	"strconv"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/flavour"
	"github.com/barograph/barograph/record"
)

// Barograph's own tables in a subset's database; all are InnoDB.
//
//	barograph_<design>_catalog  one row; the subset exists if this table does
//	barograph_<design>_marks    the completely loaded files
//	barograph_pending           normalized, MyISAM: the additions of a commit in flight
//	barograph_gone              normalized, MyISAM: rows that a commit has replaced and must remove
//	doc_<type>, wide_<type>     documents; wide rows
const (
	pendingTable = "barograph_pending"
	goneTable    = "barograph_gone"
)

const tableOptions = "\n) ENGINE = InnoDB CHARACTER SET = utf8mb4 COLLATE = utf8mb4_nopad_bin"

// createSubset lists the statements that create a subset. The table of the catalog is first: it marks
// a database as Barograph's. Its row is last: it marks the subset as complete.
func (a *openArchive) createSubset(subset string) []string {
	db := ident(a.database(subset))
	catalog := a.table(subset, a.OwnName(sqlengine.CatalogTable))
	out := []string{
		"CREATE DATABASE IF NOT EXISTS " + db + " CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
		"CREATE TABLE IF NOT EXISTS " + catalog + " (\n  id INT NOT NULL PRIMARY KEY,\n  catalog LONGTEXT NOT NULL,\n" +
			"  version BIGINT NOT NULL,\n  next_row BIGINT NOT NULL" + tableOptions,
	}
	if a.Design == design.Normalized {
		out = append(out, a.db.createMetviewer(db+".")...)
		if a.db.indexes {
			out = append(out, a.db.furtherIndexes(db+".")...)
		}
		kinds := flavour.Join(lists.Indices(len(metviewerFiles)), ", ", func(i int) string {
			name, description, _ := strings.Cut(metviewerFiles[i], "|")
			return "(" + strconv.Itoa(i) + ", " + flavour.Quote(name) + ", " + flavour.Quote(description) + ")"
		})
		out = append(out,
			"INSERT IGNORE INTO "+db+".data_file_lu VALUES "+kinds,
			"CREATE TABLE IF NOT EXISTS "+db+"."+pendingTable+" (\n  line_table VARCHAR(64) NOT NULL PRIMARY KEY,\n"+
				"  id_column VARCHAR(64) NOT NULL,\n  first_id BIGINT UNSIGNED NOT NULL"+tableOptions,
			"CREATE TABLE IF NOT EXISTS "+db+"."+goneTable+" (\n  line_table VARCHAR(64) NOT NULL,\n  stat_header_id BIGINT UNSIGNED NOT NULL,\n"+
				"  id BIGINT UNSIGNED NOT NULL,\n  PRIMARY KEY (line_table, stat_header_id, id)"+tableOptions,
		)
	}
	empty, _ := design.NewCatalog(subset).Encode() // it cannot fail: the catalog contains only a name
	return append(out,
		"CREATE TABLE IF NOT EXISTS "+a.table(subset, a.OwnName(sqlengine.MarksTable))+" (\n"+
			"  seq BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,\n  path LONGTEXT NOT NULL,\n  digest VARCHAR(64) NOT NULL UNIQUE,\n"+
			"  bytes BIGINT NOT NULL,\n  lines_read BIGINT NOT NULL,\n  stored BIGINT NOT NULL,\n  replaced BIGINT NOT NULL,\n"+
			"  quarantined BIGINT NOT NULL,\n  loaded VARCHAR(64) NOT NULL"+tableOptions,
		"INSERT IGNORE INTO "+catalog+" VALUES (1, "+flavour.Quote(string(empty))+", 0, 1)",
	)
}

// wideKey is the identity of a record. It is the primary key of tables of the wide design; records of
// one time are adjacent.
const wideKey = "barograph_key"

// types are the types of columns of wide and document tables. Lists of doubles are JSON arrays.
var types = sqlengine.TypeNames{ //nolint:gochecknoglobals // a constant table
	sqlengine.Text: "VARCHAR(255)", sqlengine.Integer: "INT", sqlengine.BigInt: "BIGINT", sqlengine.Timestamp: "DATETIME",
	sqlengine.Count: "DOUBLE", sqlengine.Double: "DOUBLE", sqlengine.Doubles: "LONGTEXT", sqlengine.Entries: "JSON",
}

// typeName returns the type of a column of a wide or document table.
func typeName(c sqlengine.Column) string {
	switch c.From {
	case sqlengine.DocID:
		return "VARBINARY(3072)" // the longest key of InnoDB, compared bytewise
	case sqlengine.ValidBeg:
		if c.Type == sqlengine.Text {
			return "CHAR(20)" // ISO text
		}
	}
	return types.Of(c)
}

// typeTable returns the statement that creates a wide or document table.
func (a *openArchive) typeTable(subset string, t *record.LineType) string {
	name, cols, _ := sqlengine.DesignTable(a.Design, t)
	text := strings.TrimSuffix(sqlengine.CreateText(a.table(subset, name), cols, typeName), "\n)")
	if a.Design == design.Wide {
		text += ",\n  " + wideKey + " BINARY(16) NOT NULL,\n  PRIMARY KEY (fcst_valid_epoch, " + wideKey + ")"
	}
	return text + ",\n  INDEX series_idx (model(40), fcst_var(40), fcst_lev(40), vx_mask(40), fcst_valid_epoch)" + tableOptions
}
