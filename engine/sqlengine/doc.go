// Package sqlengine contains what SQL engines have in common. For each study there is a struct of functions that
// an engine fills in, and the algorithm that calls them:
//
//   - archives: Archive and LoadSession; columns.go has the tables of the designs normalized, wide and document
//     as data, lines.go, loader.go and trim.go write them, decode.go reads them;
//   - records under keys: KVDialect and Session;
//   - SHEF posts: PostEngine, PostConn and PostDialect;
//   - the star of the study scan: StarEngine and StarDialect;
//   - a user's own tables: OwnColumns and ResultCast;
//   - Parquet files on an object store: PhraseLake.
//
// It imports no engine. It knows the drivers through database/sql; of the MySQL driver it uses one error value.
package sqlengine
