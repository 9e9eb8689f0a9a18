package mariadb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/sqlengine"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// These are the possible faults of a database that METdbLoad has filled.
const (
	initBeyond = iota
	emptyLevel
	reliTotal
	pstdCut
	mprMoved
	orankMoved
	duplicateRecord
	conflictingRecord
	timeBeyond
	noHeader
	noFile
	noParent
	noLines
	headerTwice
	addedSince
	lacksTable
	lacksColumn
	lacksIndex
	findingCount
)

const fromFiles = "none: only the file has the lost value; load it again with barograph load FILE --on-conflict last"

// findings returns the texts of the faults.
func findings() []archive.Finding {
	finding := func(name, repair, problem string) archive.Finding {
		return archive.Finding{Name: name, Problem: problem, Repair: repair}
	}
	return []archive.Finding{
		initBeyond: finding("init time beyond 24 h", "fcst_init_beg = fcst_valid_beg - fcst_lead",
			"METdbLoad read a VSDB lead of 25 or more hours as HHMMSS: fcst_init_beg is wrong"),
		emptyLevel: finding("empty level",
			"move the values to their columns; fbar is missing; load it again with barograph load FILE --on-conflict last",
			"TSOILT and WSOILT have no level in VSDB files (dtcenter/MET#755): each value is one column too far left, "+
				"and total contains the rounded fbar"),
		reliTotal: finding("RELI total", "store a missing value", "VSDB's RELI lines have no total: 0 is stored"),
		pstdCut: finding("PSTD cut",
			"move them to their columns; take the last thresholds from the PCT lines of the same header",
			"BRIERCL to BSS_SMPL are stored as the first five thresholds, and the last five are lost"),
		mprMoved: finding("MPR moved by one", fromFiles,
			"mpr_climo, which MET does not write, contains OBS_QC, and each following column the next column's value"),
		orankMoved: finding("ORANK climo_stdev", fromFiles,
			"climo_stdev contains the value of another column in each row that METdbLoad stored; every row is counted"),
		duplicateRecord: finding("duplicate record", "keep it once", "a record is stored more than once, as after force_dup_file"),
		conflictingRecord: finding("conflicting record", "keep the record with the lowest data_file_id and line_num",
			"a record is stored more than once, with different values: METviewer pools both"),
		timeBeyond: finding("times out of range", "omit the lines, as load quarantines them",
			fmt.Sprintf("a valid, initial or observation time is outside the years %d to %d, and not every engine can read it back",
				record.FirstYear, record.LastYear)),
		noHeader: finding("lines without a header", "omit them",
			"no row of stat_header has their stat_header_id: METviewer never sees them"),
		noFile:   finding("lines of an unknown file", "add a file with that number", "no row of data_file has their data_file_id"),
		noParent: finding("repeating columns of no line", "omit them", "no line has their line_data_id"),
		noLines: finding("files without lines", "omit them: they can be loaded again",
			"data_file has them, no table has a line of them: they were empty or pruned, or their load crashed"),
		headerTwice: finding("headers twice", "keep each once",
			"stat_header contains them more than once, as without stat_header_db_check"),
		lacksTable: finding("missing tables", "create them empty; no lines are lost", ""),
		lacksColumn: finding("missing columns", "add them: NA or missing in existing rows; ec_value is MET's default. "+
			"If the same file is loaded again with units or a description, its records are different records", ""),
		lacksIndex: finding("missing indexes by data_file_id", "create them", ""),
		addedSince: finding("added since", "count them like all others",
			"rows that another program has loaded into Barograph's tables"),
	}
}

// tally counts faults while rows are read and repaired.
type tally struct {
	found      [findingCount]archive.Finding
	seen       map[record.Key]uint64       // digests of the values, for the type that is read now
	thresholds map[record.Header][]float64 // of the rows of PCT
	hash       record.Hasher
}

func newTally() *tally {
	t := &tally{thresholds: map[record.Header][]float64{}}
	copy(t.found[:], findings())
	return t
}

func (t *tally) add(kind int, n int64, where string) {
	if t.found[kind].Count += n; n > 0 && t.found[kind].First == "" {
		t.found[kind].First = where
	}
}

// list records what an older schema lacks.
func (t *tally) list(kind int, names []string) {
	slices.Sort(names)
	t.found[kind].Count, t.found[kind].Problem = int64(len(names)), "the schema is older than METviewer 5.1's: "+strings.Join(names, ", ")
}

// findings returns the faults that were found.
func (t *tally) findings() []archive.Finding {
	return slices.DeleteFunc(slices.Clone(t.found[:]), func(f archive.Finding) bool { return f.Count == 0 })
}

// repair repairs what it can in a batch of one file and removes records that it has returned before.
func (t *tally) repair(b *record.Batch) *record.Batch {
	totals := map[uint32]float64{} // by header: the number that replaces the missing level
	for k := range b.Headers {
		h := &b.Headers[k]
		soil := h[record.FcstVar] == "TSOILT" || h[record.FcstVar] == "WSOILT"
		if total, err := strconv.ParseFloat(h[record.FcstLev], 64); err == nil && soil && design.LeadsInHours(h[record.Version]) {
			totals[uint32(k)] = total //nolint:gosec // an index
			h[record.FcstLev], h[record.ObsLev] = "", ""
		}
	}
	if b.Type.Name == "PCT" {
		t.recordThresholds(b)
	}
	removed := map[int]bool{}
	for i := range b.Len() {
		where := fault.Name(b.File) + ":" + strconv.Itoa(int(b.Line[i]))
		if why := b.TimesProblem(i); why != "" {
			removed[i] = true
			t.add(timeBeyond, 1, where+": "+why)
			continue
		}
		total, moved := totals[b.HeaderIndex[i]]
		switch {
		case moved:
			t.add(emptyLevel, 1, where)
			for k := len(b.Num) - 1; k > 1; k-- {
				b.Num[k][i] = b.Num[k-1][i]
			}
			b.Num[0][i], b.Num[1][i] = total, record.Missing()
		case b.Type.Name == "PCT" && design.LeadsInHours(b.Header(i)[record.Version]) && b.Num[0][i] == 0:
			t.add(reliTotal, 1, where)
			b.Num[0][i] = record.Missing()
		case b.Type.Name == "PSTD" && t.repairPSTD(b, i):
			t.add(pstdCut, 1, where)
		case b.Type.Name == "ORANK":
			t.add(orankMoved, 1, where)
		}
	}
	return t.withoutDuplicates(b, removed)
}

// misplacedPSTD are columns that MET writes before the thresholds of PSTD. METdbLoad stores them as the
// first thresholds.
//
//nolint:gochecknoglobals // a constant table
var misplacedPSTD = [...]string{"briercl", "briercl_ncl", "briercl_ncu", "bss", "bss_smpl"}

// repairPSTD repairs a row of PSTD. It reports whether the row needed a repair: the first threshold, which
// is 0, was the sixth value.
func (t *tally) repairPSTD(b *record.Batch, i int) bool {
	n := len(misplacedPSTD)
	values := b.Repeats(i)
	if len(values) <= n || values[n] != 0 {
		return false
	}
	for _, c := range b.Type.Columns {
		if k := slices.Index(misplacedPSTD[:], c.Name); k >= 0 {
			b.Num[c.Slot][i] = values[k]
		}
	}
	copy(values, values[n:])
	thresholds := t.thresholds[sqlengine.HeaderKey(*b.Header(i))]
	for k := len(values) - n; k < len(values); k++ {
		values[k] = record.Missing()
		if len(thresholds) == len(values) && slices.Equal(thresholds[:len(values)-n], values[:len(values)-n]) {
			values[k] = thresholds[k]
		}
	}
	return true
}

// recordThresholds records the thresholds of rows of PCT.
func (t *tally) recordThresholds(b *record.Batch) {
	for i := range b.Len() {
		h := sqlengine.HeaderKey(*b.Header(i))
		if t.thresholds[h] != nil {
			continue
		}
		for k, v := range b.Repeats(i) {
			if k%len(b.Type.Group.Fields) == 0 {
				t.thresholds[h] = append(t.thresholds[h], v)
			}
		}
	}
}

// withoutDuplicates removes records that were read before, and the records in removed.
func (t *tally) withoutDuplicates(b *record.Batch, removed map[int]bool) *record.Batch {
	t.hash.SetBatch(b)
	for i := range b.Len() {
		if removed[i] {
			continue
		}
		key, values := t.hash.Key(i), t.hash.Digest(i).Lo
		before, ok := t.seen[key]
		if !ok {
			t.seen[key] = values
			continue
		}
		kind := duplicateRecord
		if before != values {
			kind = conflictingRecord
		}
		t.add(kind, 1, fault.Name(b.File)+":"+strconv.Itoa(int(b.Line[i])))
		removed[i] = true
	}
	if len(removed) == 0 {
		return b
	}
	return b.Filter(func(i int) bool { return !removed[i] })
}
