package sqlengine

import (
	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/record"
)

// Called is the table that a plan calls by a name: flavour's SQL gives tables
// the aliases h (stat_header), ld (lines) and r (documents). A name that is no
// alias is the table's own.
func Called(n design.Name, t *record.LineType, name string) string {
	switch name {
	case "h":
		return design.HeaderTable
	case "ld", "r":
		table, _, _ := Table(n, t)
		return table
	}
	return name
}
