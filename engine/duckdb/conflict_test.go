package duckdb

import "testing"

// TestConflict: conflict recognizes a conflict by DuckDB's error type and the beginning of the message. A message that
// only quotes the word is no conflict.
func TestConflict(t *testing.T) {
	db, err := openDatabase("", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.close()
	var both [2]*conn
	for i := range both {
		if both[i], err = db.take(); err != nil {
			t.Fatal(err)
		}
		defer db.put(both[i])
	}
	run := func(i int, text string) error { return both[i].Exec(t.Context(), text) }
	must := func(i int, text string) {
		t.Helper()
		if err := run(i, text); err != nil {
			t.Fatal(err)
		}
	}
	must(0, "CREATE TABLE t (k VARCHAR PRIMARY KEY, v VARCHAR); CREATE TABLE n (k INTEGER); INSERT INTO t VALUES ('a', 'b')")
	for _, test := range []struct {
		first, second   string
		conflict, taken bool
	}{
		{"UPDATE t SET v = 'c'", "UPDATE t SET v = 'd'", true, false},
		{"DELETE FROM t", "DELETE FROM t", true, false},
		{"ALTER TABLE n ADD COLUMN x INTEGER", "ALTER TABLE n ADD COLUMN y INTEGER", true, false},
		{"SELECT 1", "SELECT CAST('Conflict on update!' AS INTEGER)", false, false},
		{"SELECT 1", "SELECT error('TransactionContext Error: Conflict on update!')", false, false},
		{"SELECT 1", "SELECT error('Constraint Error: it violates primary key constraint')", false, false},
		{"SELECT 1", "SELECT * FROM conflict", false, false},
		{"SELECT 1", "INSERT INTO t VALUES ('a', 'conflict')", false, true},
	} {
		must(0, "BEGIN")
		must(1, "BEGIN")
		must(0, test.first)
		err := run(1, test.second)
		if err == nil {
			t.Fatalf("%s succeeded", test.second)
		}
		if is := conflict(err); is != test.conflict {
			t.Errorf("%s: conflict %t: %v", test.second, is, err)
		}
		if is := (&session{}).DuplicateKey(err); is != test.taken {
			t.Errorf("%s: taken %t: %v", test.second, is, err)
		}
		must(0, "ROLLBACK")
		must(1, "ROLLBACK")
	}

	// Both insert the same key. The second one fails when it commits.
	must(0, "BEGIN")
	must(1, "BEGIN")
	must(0, "INSERT INTO t VALUES ('z', '1')")
	must(1, "INSERT INTO t VALUES ('z', '2')")
	must(0, "COMMIT")
	if err := run(1, "COMMIT"); err == nil || conflict(err) || !(&session{}).DuplicateKey(err) {
		t.Errorf("a taken key at the commit: %v", err)
	}
}
