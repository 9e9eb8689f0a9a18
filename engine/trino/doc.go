// Package trino queries Parquet files with Trino, a query engine without its own storage, for users whose
// data outgrow one machine.
//
//	trino://user@host:port/name
//
// It offers the tables of the study scan. It also reads Parquet files in an object store, through a catalog
// that it creates for a run (lake.go). The catalog has one name: a second run on the same server replaces the
// catalog of the first one, whose queries then fail.
//
// For the study scan Barograph writes the Parquet files of the tables, partition i of store_sales on path i modulo the
// number of the placement's paths, and registers them with the server's Hive connector as external
// tables of the schema name_star, each partition as a Hive partition. Barograph and every node must
// therefore see the same files at the same paths: on one machine, or on file systems that all of them
// mount.
//
// The connector needs this configuration, which the lab writes: a catalog hive with connector.name=hive,
// fs.native-local.enabled=true, local.location=/, hive.allow-register-partition-procedure=true, and a
// metastore.
package trino
