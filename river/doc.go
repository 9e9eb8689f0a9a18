// Package river posts the observations and forecasts of SHEF products (Standard Hydrometeorological
// Exchange Format) into a database of a river forecast center, once or as a service. The database is
// the IHFS (Integrated Hydrologic Forecast System) of the Weather Service, whose tables must exist,
// or it has the tables of Barograph's study `post`. AWIPS is the Weather Service's own software; its
// rules decide what is posted into the IHFS. Posting a product twice changes nothing, and the package
// empties no table.
//
// This package may import formats, record and engine; the core does not import it. Test it with
// go test ./river. The tests start PostgreSQL if it is installed. With BAROGRAPH_REQUIRE=postgres they
// fail if it is not.
package river
