package sqlengine

import (
	"strconv"

	"github.com/barograph/barograph/formats/tpcds"
)

// StarType is the SQL type of a column of the analytical workload's tables, with
// what follows the type of a text, such as a collation.
func StarType(c *tpcds.Column, text string) string {
	kind := "integer"
	switch c.Kind {
	case tpcds.Big:
		kind = "bigint"
	case tpcds.Decimal:
		kind = "decimal(7,2)"
	case tpcds.Date:
		kind = "date"
	case tpcds.Char:
		kind = "char(" + strconv.Itoa(c.Size) + ")" + text
	case tpcds.Varchar:
		kind = "varchar(" + strconv.Itoa(c.Size) + ")" + text
	}
	if c.Key {
		kind += " NOT NULL"
	}
	return kind
}
