// Package dsdgen gives a DuckDB database the TPC-DS generator.
//
// DuckDB's Go module links the extension tpcds statically, but its list of
// built-in extensions leaves it out, and LOAD looks for a file that would have
// to be fetched. Here the extension's own entry is called, as that list would.
// This needs two things of DuckDB that its C interface does not promise; hence
// the check of the version, and a test that counts what is generated.
package dsdgen

// int barograph_link_dsdgen(void *database, char *message, int room);
import "C"

import (
	"errors"

	"github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/barograph/barograph/internal/fault"
)

// Version is the DuckDB that this was written against.
const Version = "v1.5.5"

// Link lets a database CALL dsdgen(sf => …).
func Link(db mapping.Database) error {
	if got := mapping.LibraryVersion(); got != Version {
		return &fault.Error{Setting: "DuckDB " + got, Problem: "is not the version whose generator can be linked, " + Version, Cure: "build Barograph with the versions in its go.mod"}
	}
	var message [512]C.char
	if C.barograph_link_dsdgen(db.Ptr, &message[0], C.int(len(message))) != 0 {
		return errors.New("DuckDB's TPC-DS generator: " + C.GoString(&message[0]))
	}
	return nil
}
