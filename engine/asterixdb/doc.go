// Package asterixdb stores archives in Apache AsterixDB.
//
//	asterixdb://host:port/name?types=open&indexes=epoch,iso&client=host
//
// Each design has a dataverse, name_document and name_normalized, whose datasets contain all subsets, like
// the bucket of the original experiment.
//
//	documents    design.AppendJSON's form under the derived id
//	stat_header  METviewer's columns; stat_header_id is a digest of subset and header
//	line_data    METviewer's columns, times in Unix seconds; id is a digest of the record's identity
//	barograph    catalogs, marks, locks, records of commits in flight
//
// With closed types every member is declared, and each line type has its own dataset. data_file_id is a
// digest of the file's path, which is in the file's mark. A missing value has no member.
//
// # Atomic commits
//
// AsterixDB writes single records atomically: a statement that writes many records may be executed
// partially. Therefore a commit
//
//  1. inserts the subset's lock, a record that only one client can insert, and reads the number of
//     the last commit;
//  2. records that commit number + 1 has started, then its marks, and a copy of every document that
//     it will replace;
//  3. writes documents, each with the number of its commit (barograph_commit);
//  4. replaces one record, which contains the catalog and that number, and deletes the lock. The
//     replacement makes the commit visible.
//
// Readers ignore the marks of a commit that is not visible yet. After the crash of a client or server, the
// next client locks the subset, cancels the crashed client's requests on the server, restores the copies
// and deletes all documents with the number. During a commit another session can see a part of it.
//
// The lock's record names its owner. On the owner's machine an open port shows that the owner is alive; for
// other machines the owner writes heartbeats; after a minute without one, others treat it as crashed. A
// process that is suspended for longer and then continues could write into another's commit.
//
// # Loading
//
// Documents reach the server through a socket. An external dataset with the adapter socket-client makes a
// node of the server connect to this client. INSERT or UPSERT … SELECT from it is one statement that
// returns when everything is stored. The server's machine needs no file, but its nodes must be able to
// reach this client.
//
// # Records under keys
//
// A table is a dataset of open documents in the dataverse name_records, with
// the key as ycsb_key and a member per field.
//
// # A star over several disks
//
// The study scan has one dataset of open documents, each with its table_name, in the dataverse name_star.
// The server's iodevices partition it: docs/reference/scan.md.
//
// # Texts
//
// AsterixDB compares texts by UTF-16 code units. If a subset has letters beyond U+FFFF, its texts are sorted by
// their code points instead.
package asterixdb
