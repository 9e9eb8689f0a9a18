package sqlengine

import "github.com/barograph/barograph/record"

// IHFSTable names the table of IHFS that holds the values of a code.
func IHFSTable(c *record.Parameter) string { return ihfsTable(c) }
