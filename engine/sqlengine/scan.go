package sqlengine

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/formats/tpcds"
)

// StarDialect is what SQL engines differ in where they ask the questions of
// the analytical workload.
type StarDialect struct {
	// Table names a table in a statement.
	Table func(t engine.StarTable) string

	// NullsLeast: NULL stands first going up and last going down, without a
	// word, as in MariaDB and SQLite. The others are told.
	NullsLeast bool
}

// Text is the SQL of a question; "" for one that is not known. Q3, Q52 and Q55
// are the texts of TPC-DS with the values of its qualification. They order by
// less than makes an order whole; rows that are equal in it come in any order.
func (d *StarDialect) Text(q engine.StarQuery) string {
	switch q {
	case engine.Q3:
		return d.star(true, "i.i_manufact_id = 128 AND d.d_moy = 11")
	case engine.Q52:
		return d.star(true, "i.i_manager_id = 1 AND d.d_moy = 11 AND d.d_year = 2000")
	case engine.Q55:
		return d.star(false, "i.i_manager_id = 28 AND d.d_moy = 11 AND d.d_year = 1999")
	case engine.ScanAll:
		return "SELECT SUM(ss_ext_sales_price) AS ext_price FROM " + d.Table(engine.StoreSales)
	}
	return ""
}

// star is a question of the star; byYear reports whether it has a column for the year.
func (d *StarDialect) star(byYear bool, where string) string {
	year, group, order := "", "", ""
	up, down := " NULLS FIRST", " NULLS LAST"
	if d.NullsLeast {
		up, down = "", ""
	}
	if byYear {
		year, group, order = "d.d_year AS d_year, ", "d.d_year, ", "d_year"+up+", "
	}
	return "SELECT " + year + "i.i_brand_id AS brand_id, i.i_brand AS brand, SUM(s.ss_ext_sales_price) AS ext_price\n" +
		"FROM " + d.Table(engine.DateDim) + " d, " + d.Table(engine.StoreSales) + " s, " + d.Table(engine.Item) + " i\n" +
		"WHERE d.d_date_sk = s.ss_sold_date_sk AND s.ss_item_sk = i.i_item_sk AND " + where + "\n" +
		"GROUP BY " + group + "i.i_brand, i.i_brand_id\n" +
		"ORDER BY " + order + "ext_price DESC" + down + ", brand_id" + up + "\n" +
		"LIMIT 100"
}

// StarColumns is how many columns the answer to a question has: year (not of
// Q55), brand id, brand, sum; of the scan the sum alone.
func StarColumns(q engine.StarQuery) int {
	switch q {
	case engine.Q3, engine.Q52:
		return 4
	case engine.Q55:
		return 3
	}
	return 1
}

// Cents reads a DECIMAL as engines print it, exactly: 12, 12.3, -0.05. More
// than two decimals are an error unless they are zeros.
func Cents(text string) (int64, error) {
	bad := func() (int64, error) {
		return 0, &fault.Error{Setting: fmt.Sprintf("%q", text), Problem: "is no sum in hundredths"}
	}
	digits, negative := strings.CutPrefix(text, "-")
	whole, part, _ := strings.Cut(digits, ".")
	if whole == "" && part == "" || len(strings.TrimRight(part, "0")) > 2 {
		return bad()
	}
	n := int64(0)
	for _, c := range []byte(whole + (part + "00")[:2]) {
		if c < '0' || c > '9' || n > (1<<62)/10 {
			return bad()
		}
		n = n*10 + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, nil
}

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
