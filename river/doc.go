// Package river posts SHEF products into a database that a river forecast
// center works with, once or as a service. The database is the Weather Service's
// IHFS, whose tables must exist, or has the tables of the study post. Posting a
// product twice changes nothing, and the package empties no table.
//
// It may import formats, record and engine; the core does not
// import it. Test with: go test ./river (PostgreSQL is started where it is
// installed; BAROGRAPH_REQUIRE=postgres makes a missing one a failure).
package river
