// Package river posts the observations and forecasts of SHEF products (Standard Hydrometeorological
// Exchange Format) into a database of a river forecast center, once or as a service. The database is
// the IHFS (Integrated Hydrologic Forecast System) of the Weather Service, whose tables must exist,
// or it has the tables of Barograph's study `post`. AWIPS is the Weather Service's own software; its
// rules decide what is posted into the IHFS. Posting a product twice changes nothing, and the package
// empties no table.
//
// It may import formats, record and engine; the core does not
// import it. Test with: go test ./river (PostgreSQL is started where it is
// installed; BAROGRAPH_REQUIRE=postgres makes a missing one a failure).
package river
