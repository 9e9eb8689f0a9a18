package report

import (
	"strings"

	"github.com/barograph/barograph/results/run"
)

// Checked describes which results of runs of a mix were compared, and with what. Each sentence follows from counters of
// checks that could have failed.
func Checked(a run.Answers) string {
	if a.Found == 0 {
		return "This run folder does not record which results were checked." // a folder of an earlier version
	}
	var all []string
	add := func(words ...string) { all = append(all, strings.Join(words, "")+".") }
	plural := func(n int64, one, more string) string {
		if n == 1 {
			return "1 " + one
		}
		return count(n) + " " + more
	}
	records := func(n int64) string { return plural(n, "record", "records") }
	add(plural(a.Found, "read or scan was", "reads and scans were"), " compared with the keys and fields that must exist")
	if a.Values > 0 {
		add("The values of ", records(a.Values), " were compared byte by byte")
	}
	if a.Stamped > 0 {
		words := "The values of " + records(a.Stamped) +
			" that reads and scans returned were compared with their key, field and length"
		if a.Versions > 0 {
			words += ", those of " + count(a.Versions) + " also with the last acknowledged write"
		}
		add(words)
	}
	if a.Unmarked > 0 {
		add(plural(a.Unmarked, "value was", "values were"),
			" written by another program or with --verify; such values have no stamp and were not compared")
	}
	if a.Short > 0 {
		add(plural(a.Short, "value has", "values have"), " fewer than 8 bytes, too few for a stamp: they were not compared")
	}
	if a.Values+a.Stamped+a.ReadBack+a.KeysUpdated+a.KeysInserted == 0 {
		add("No value was compared")
	}
	if a.Updates > 0 {
		words := plural(a.Updates, "update was", "updates were") + " acknowledged"
		switch {
		case a.KeysUpdated > 0:
			add(words, "; after the end the last values of ", plural(a.KeysUpdated, "updated key was", "updated keys were"), " read back")
		case a.Derived:
			add(words, "; their effect was not checked, because with --verify they write the existing values")
		default:
			add(words, "; none of their values was compared after the end")
		}
	}
	if a.Inserts > 0 {
		words := plural(a.Inserts, "insert was", "inserts were") + " acknowledged"
		if n := a.KeysInserted + a.ReadBack; n > 0 {
			words += "; after the end " + plural(n, "of the records was", "of the records were") + " read back"
		} else {
			words += "; none of the records was read back"
		}
		if a.Counted > 0 {
			words += ", and the engine counted " + count(a.Counted) + " in the table, as many as there must be"
		}
		add(words)
	}
	if a.Deletes > 0 {
		add(plural(a.Deletes, "delete was", "deletes were"), " acknowledged; after the end ",
			plural(a.KeysDeleted, "of the records was", "of the records were"), " searched for and not found")
	}
	if a.Updates+a.Inserts+a.Deletes == 0 && a.Written > 0 { // a folder of an earlier version
		add(plural(a.Written, "write was", "writes were"),
			" acknowledged; this run folder does not record how many were read back")
	}
	if a.Reread > 0 {
		add("During the run a key that had been written was read again ", plural(a.Reread, "time", "times"))
	}
	if a.Stale > 0 {
		add(plural(a.Stale, "read", "reads"), " returned an older value, which the settings of the engine allow")
	}
	return strings.Join(all, " ")
}
