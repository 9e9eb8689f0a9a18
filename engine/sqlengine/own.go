package sqlengine

import (
	"fmt"
	"strings"

	"github.com/barograph/barograph/engine"
)

// OwnColumns are a user's own columns as CREATE TABLE has them. kinds are the
// types, a decimal's with %d for its digits and for those behind the point.
func OwnColumns(t *engine.OwnTable, ident func(string) string, kinds map[engine.OwnKind]string) (columns []string) {
	for _, c := range t.Columns {
		kind := kinds[c.Kind]
		if strings.Contains(kind, "%d") {
			kind = fmt.Sprintf(kind, c.Digits, c.Decimals)
		}
		columns = append(columns, ident(c.Name)+" "+kind)
	}
	return columns
}
