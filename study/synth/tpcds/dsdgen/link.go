// Package dsdgen adds the TPC-DS generator to a DuckDB database.
//
// DuckDB's Go module links the extension tpcds statically, but its list of
// built-in extensions omits it, and LOAD looks for a file that would have to be
// downloaded. This package calls the entry point of the extension. It relies on
// two internals that DuckDB's C interface does not guarantee. Therefore it
// checks the version, and a test counts the generated rows.
package dsdgen

// int barograph_link_dsdgen(void *database, char *message, int room);
import "C"

import (
	"errors"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/barograph/barograph/internal/fault"
)

// Version is the version of DuckDB whose internals Link uses.
const Version = "v1.5.5"

// Link adds the function dsdgen to a database: CALL dsdgen(sf => …).
func Link(db mapping.Database) error {
	if got := mapping.LibraryVersion(); got != Version {
		return &fault.Error{Setting: "DuckDB " + got, Problem: "cannot link the TPC-DS generator, which needs " + Version, Cure: "build Barograph with the versions in its go.mod"}
	}
	var message [512]C.char
	if C.barograph_link_dsdgen(db.Ptr, &message[0], C.int(len(message))) != 0 {
		return errors.New("DuckDB's TPC-DS generator: " + C.GoString(&message[0]))
	}
	return nil
}
