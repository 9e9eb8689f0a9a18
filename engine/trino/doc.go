// Package trino asks Trino, a query engine without a store of its own, about
// Parquet files: somewhere to go for whoever outgrows one machine.
//
//	trino://user@host:port/name
//
// It has the tables of the analytical workload, and reads Parquet of an object
// store by a catalog that is made for a run (lake.go). Barograph
// writes their Parquet files, part i of store_sales on the placement's path i,
// and registers them with the Hive connector of the server as external tables
// of the schema name_star, each part as a partition. So Barograph and every
// node must see the same files under the same paths: on one machine, or on
// file systems that all of them mount.
//
// The connector must be configured so that it may (the lab does): a catalog hive with
// connector.name=hive, fs.native-local.enabled=true, local.location=/,
// hive.allow-register-partition-procedure=true, and a metastore.
package trino
