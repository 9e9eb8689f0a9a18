// Package asterixdb keeps archives in Apache AsterixDB.
//
//	asterixdb://host:port/name?types=open&indexes=epoch,iso&client=host
//
// Each design has a dataverse, name_document and name_normalized, whose
// datasets hold all subsets, as the original experiment's bucket did.
//
//	documents    design.AppendJSON's form under the derived id
//	stat_header  METviewer's columns; stat_header_id is a digest of subset and header
//	line_data    METviewer's columns, times in Unix seconds; id is a digest of the record's identity
//	barograph    catalogs, marks, locks, notes of commits under way
//
// With closed types every member is declared and each line type has a dataset
// of its own. data_file_id is a digest of the file's path, which stands in its
// mark. A missing value has no member.
//
// # All of a commit, or nothing
//
// AsterixDB writes one record at once, and no more than that: a statement that
// writes many may be carried out in part. So a commit
//
//  1. inserts a record that only one can insert, the subset's lock, and reads
//     the number of the last commit;
//  2. notes that commit number + 1 has started, then its marks, and a copy of
//     every document that it will replace;
//  3. writes documents, each with the number of its commit (barograph_commit);
//  4. replaces one record, which holds the catalog and that number: this is the
//     moment from which the commit counts; and deletes the lock.
//
// Marks of a number that does not count yet are passed over. Whoever comes next
// after a client or a server that died, under the lock, cancels what the dead
// one asked the server for, puts the copies back and deletes what bears the
// number. While a commit is under way another session can see part of it.
//
// The lock's record names its holder. On the holder's machine a port that it
// keeps open tells that it lives; elsewhere a beat that it sends does, and a
// holder without one for a minute is taken for dead. A process that is halted
// for longer and then goes on could write into another's commit.
//
// # Loading
//
// Documents go to the server through a socket: an external dataset with the
// adapter socket-client makes a node of the server connect to this client, and
// INSERT or UPSERT … SELECT from it is one statement that ends when all is
// stored. No file is needed on the server's machine; its nodes must be able to
// reach this client.
//
// # Records under keys
//
// A table is a dataset of open documents in the dataverse name_records, with
// the key as ycsb_key and a member per field.
//
// # A star over several disks
//
// The analytical workload has one dataset of open documents, each with its
// table_name, in the dataverse name_star. The server's iodevices divide it:
// docs/scan.md.
//
// # Texts
//
// AsterixDB compares texts by UTF-16 halves. Where a subset has letters beyond
// U+FFFF texts are sorted by their code points instead.
package asterixdb
