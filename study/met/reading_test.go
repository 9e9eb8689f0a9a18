package met

import (
	"errors"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
)

// newRunner returns a runner with a folder in memory. It appends the steps and notes of its progress to notes.
func newRunner(t *testing.T, o Options, notes *[]string) *runner {
	t.Helper()
	folder, err := run.Create("", run.Run{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := folder.Close(); err != nil {
			t.Error(err)
		}
	})
	o.Log = slog.New(slog.DiscardHandler)
	o.Progress = func(p Progress) {
		if notes != nil {
			*notes = append(*notes, strings.TrimPrefix(p.Step+": "+p.Note, ": "))
		}
	}
	return &runner{options: o, folder: folder}
}

// TestProjectionOfReading: after two seconds and two percent of the data, the study projects the time of reading and the
// memory of the cases, once. A record needs 120 bytes, a number 8, a text 16.
func TestProjectionOfReading(t *testing.T) {
	orank, _ := record.TypeByName("ORANK")
	const records, projected = 500_000, 2
	q := &question.Question{Name: "q", Type: orank}
	var notes []string
	s := newRunner(t, Options{}, &notes)
	s.caseRecords = answer.NewReference(q)
	b := s.caseRecords.Rows()[0]
	b.HeaderIndex = make([]uint32, records)
	perRecord := 120 + 8*len(b.Num) + 16*len(b.Text)
	if len(b.Num) == 0 || len(b.Text) == 0 {
		t.Fatal("the type must have numbers and texts")
	}
	p := &projection{}
	p.report(t.Context(), s, Progress{Done: 50, Of: 100})
	if time.Since(p.began) > time.Hour || p.done || notes != nil {
		t.Fatalf("began %v, %q after no time", p.began, notes)
	}
	p.began = time.Now().Add(-1000 * time.Second)
	if p.report(t.Context(), s, Progress{Done: 1, Of: 51}); notes != nil {
		t.Errorf("%q after less than 2 percent", notes)
	}
	for range 2 {
		p.report(t.Context(), s, Progress{Done: 50, Of: 50 * projected})
	}
	if len(notes) != 1 {
		t.Fatalf("%q", notes)
	}
	m := regexp.MustCompile(`^about ([\d.]+) s to read; the cases need (\d+) MB of memory$`).FindStringSubmatch(notes[0])
	if m == nil {
		t.Fatalf("%q", notes)
	}
	if took, err := strconv.ParseFloat(m[1], 64); err != nil || took < 1000*projected || took > 1100*projected {
		t.Errorf("%q: half of the data took 1000 s", notes)
	}
	if want := strconv.Itoa(projected * records * perRecord / 1e6); m[2] != want {
		t.Errorf("%q, want %s MB", notes, want)
	}
	early := &projection{began: time.Now()}
	if early.report(t.Context(), s, Progress{Done: 1, Of: 50}); len(notes) != 1 {
		t.Errorf("%q at once", notes)
	}
	late := &projection{began: time.Now().Add(-projectionAfter)}
	if late.report(t.Context(), s, Progress{Done: 1, Of: 50}); len(notes) != 2 {
		t.Errorf("%q after 2 seconds and 2 percent", notes)
	}
}

// The study warns of cases that need more than half of the free memory, if the system reports it.
func TestMemoryWarning(t *testing.T) {
	for _, c := range []struct {
		needed, free float64
		want         string
	}{
		{1e9, 2e9, ""},
		{1.1e9, 2e9, "the cases need about 1.1 GB of memory, but only 2.0 GB are free; choose fewer or smaller cases with --case"},
		{1e12, 0, ""},
		{0, 2e9, ""},
	} {
		if got := memoryWarning(c.needed, c.free); got != c.want {
			t.Errorf("%g of %g: %q", c.needed, c.free, got)
		}
	}
}

// TestChooseCases: a study keeps the first cases with rows, and only a study of all cases warns of the others.
func TestChooseCases(t *testing.T) {
	const warning = "2 of 4 questions have no rows in this data and are excluded"
	for _, c := range []struct {
		rows    []int
		most    int
		want    string
		warning string
	}{
		{[]int{0, 3, 0, 2}, 4, "b d", warning},
		{[]int{0, 3, 0, 2}, 1, "b", ""},
		{[]int{0, 3, 0, 2}, 2, "b d", ""},
		{[]int{1, 1, 1, 1}, 4, "a b c d", ""},
		{[]int{0, 0, 0, 0}, 3, "", ""},
	} {
		s := newRunner(t, Options{MaxCases: c.most}, nil)
		var qs []*question.Question
		for i, rows := range c.rows {
			q := &question.Question{Name: string(rune('a' + i))}
			qs, s.options.Cases = append(qs, q.InSubset("s")), append(s.options.Cases, q)
			s.reference = append(s.reference, &answer.Answer{Rows: rows})
		}
		names := func(qs []*question.Question) string {
			var all []string
			for _, q := range qs {
				all = append(all, q.Name)
			}
			return strings.Join(all, " ")
		}
		chosen := s.chooseCases(qs)
		if names(chosen) != c.want || names(s.options.Cases) != c.want || len(s.reference) != len(chosen) {
			t.Errorf("%v, at most %d: %q, %q, %d answers", c.rows, c.most, names(chosen), names(s.options.Cases), len(s.reference))
		}
		for i, a := range s.reference {
			if a.Rows == 0 || a.Rows != c.rows[chosen[i].Name[0]-'a'] {
				t.Errorf("%v: the answer of %s has %d rows", c.rows, chosen[i].Name, a.Rows)
			}
		}
		if got := strings.Join(s.folder.Run.Warnings, "|"); got != c.warning {
			t.Errorf("%v, at most %d: warnings %q", c.rows, c.most, got)
		}
	}
}

// conflicting returns a batch with one record whose value is v. All have the same identity.
func conflicting(v float64) *record.Batch {
	lt, _ := record.TypeByName("SAL1L2")
	b := &record.Batch{}
	b.Reset(lt, "a.vsdb")
	b.AppendTimes(b.AddHeader(record.DefaultHeader()), 0, 86400, 1)
	for k := range b.Num {
		b.Num[k] = append(b.Num[k], v)
	}
	return b
}

// TestWarnOfLosses: the study warns of conflicting lines, quarantined lines, and columns without a place.
func TestWarnOfLosses(t *testing.T) {
	r := &reader{runner: newRunner(t, Options{}, nil), unstoredColumns: map[string]int{}}
	if r.warnOfLosses(); r.folder.Run.Warnings != nil {
		t.Errorf("%q without losses", r.folder.Run.Warnings)
	}
	for _, v := range []float64{1, 2, 1} {
		r.fingerprint.Add(conflicting(v))
	}
	if _, _, err := r.fingerprint.Sum(); err != nil {
		t.Fatal(err)
	}
	r.out.Quarantined, r.folder.Run.Data.Lines = 3, 40
	r.unstoredColumns["MPR: b"], r.unstoredColumns["CNT: a"] = 5, 7
	r.warnOfLosses()
	want := []string{
		"1 conflicting line: archives keep the line that comes first by the path of its file; `barograph load` lists them",
		"3 of 40 lines could not be read; they are in quarantine.csv, not in the archives",
		"no design stores these columns of 7 lines: CNT: a",
		"no design stores these columns of 5 lines: MPR: b",
	}
	if !slices.Equal(r.folder.Run.Warnings, want) || r.out.Refused != 1 || r.folder.Run.Data.Quarantined != 3 {
		t.Errorf("%q, %+v, %+v", r.folder.Run.Warnings, r.out, r.folder.Run.Data)
	}
}

// TestReadsToTheEnd: batches and files add up, and the progress follows them. An unreadable file is a warning, an
// unreadable archive ends the study.
func TestReadsToTheEnd(t *testing.T) {
	r := &reader{runner: newRunner(t, Options{}, nil), unstoredColumns: map[string]int{}}
	r.files, r.caseRecords, r.folder.Run.Data.Files = map[string]bool{}, answer.NewReference(), 3
	var at []int64
	r.options.Progress = func(p Progress) { at = append(at, p.Done) }
	b := conflicting(1)
	b.Lines, b.OmittedColumns = 4, map[string]int{"x y": 2}
	broken := &load.File{Path: "b", Digest: "db", Bytes: 50, Err: errors.New("b ends early")}
	for _, err := range []error{
		r.add(t.Context(), &load.File{Offset: 30}, b), r.add(t.Context(), &load.File{Offset: 90}, b), r.end(&load.File{Path: "a", Digest: "da", Bytes: 100}),
		r.add(t.Context(), &load.File{Offset: 20}, b), r.end(broken),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	d := &r.folder.Run.Data
	if !slices.Equal(at, []int64{30, 90, 100, 120, 150}) || d.Lines != 12 || d.Bytes != 150 || d.Files != 2 || r.unstoredColumns["SAL1L2: x y"] != 6 {
		t.Errorf("progress %v, data %+v, columns %v", at, d, r.unstoredColumns)
	}
	if want := "a file is missing from the data, or incomplete: b ends early"; !slices.Equal(r.folder.Run.Warnings, []string{want}) || r.out.Unread != 1 {
		t.Errorf("%q, %+v", r.folder.Run.Warnings, r.out)
	}
	if !r.files["da"] || !r.files["db"] || len(r.files) != 2 {
		t.Errorf("files %v", r.files)
	}
	r.origin = &load.Origin{}
	if err := r.end(broken); !errors.Is(err, broken.Err) || r.out.Unread != 1 || d.Bytes != 150 {
		t.Errorf("of an archive: %v, %+v, %+v", err, r.out, d)
	}
}

// TestForeignSource: a study does not check the archive of another program, and says why its copies are queried.
func TestForeignSource(t *testing.T) {
	s := newRunner(t, Options{FirstIsSource: true}, nil)
	s.origin = &load.Origin{Name: "mariadb://h/mv", Subset: "mv", Catalog: &design.Catalog{AdoptedOnly: true}}
	if err := s.verifySource(t.Context()); err != nil {
		t.Error(err)
	}
	want := "another program loaded mariadb://h/mv, subset mv, so this study queries only copies of it; " +
		"`barograph adopt` of that database reports and repairs its faults, and then met can query it"
	if !slices.Equal(s.folder.Run.Warnings, []string{want}) {
		t.Errorf("%q", s.folder.Run.Warnings)
	}
	if !s.isForeign(0) || s.isForeign(1) {
		t.Error("only the first target is foreign")
	}
	if s.origin.Catalog.AdoptedOnly = false; s.isForeign(0) {
		t.Error("an archive of Barograph is foreign")
	}
}

// TestTimingNote: the study projects a timing of at least a minute, unless the user limited it.
func TestTimingNote(t *testing.T) {
	for _, c := range []struct {
		warmups, reps  int
		proving, limit time.Duration
		want           string
	}{
		{1, 5, 10 * time.Second, 0, "timing: up to 1m0s (6 repetitions); limit it by --time-limit"},
		{1, 5, 9999 * time.Millisecond, 0, ""},
		{0, 11, 30600 * time.Millisecond, 0, "timing: up to 5m37s (11 repetitions); limit it by --time-limit"},
		{0, 11, 30 * time.Second, time.Nanosecond, ""},
	} {
		s := &runner{options: Options{Warmups: c.warmups, Reps: c.reps, Limit: c.limit}, proving: c.proving}
		if got := s.timingNote(); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// TestOutcomes: the worst part of a study decides its status.
func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		o     Outcome
		code  int
		text  string
		proof string
	}{
		{Outcome{Equal: 1}, 0, "", "1 of 1 result equal the reference"},
		{Outcome{Equal: 5, Wrong: 1, Failed: 2, IncompleteArchives: 1}, fault.Differs, "1 of 8 cells returned a wrong result", "5 of 8 results equal the reference, 1 wrong, 2 failed"},
		{Outcome{IncompleteArchives: 2, Failed: 1}, fault.Incomplete, "2 archives incomplete or different from the data, and not timed", "0 of 1 result equal the reference, 1 failed"},
		{Outcome{Equal: 1, Failed: 1}, fault.Failed, "1 cell returned no result", "1 of 2 results equal the reference, 1 failed"},
		{Outcome{Cases: 2, Empty: 1}, 0, "", "0 of 0 results equal the reference"},
		{Outcome{Cases: 2, Empty: 2}, fault.Incomplete, "none of 2 questions has rows in this data, so nothing was timed", "0 of 0 results equal the reference"},
	} {
		err := c.o.Err()
		if fault.Code(err) != c.code || (err == nil) != (c.text == "") || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: status %d, %v", c.o, fault.Code(err), err)
		}
		if got := c.o.proof(); got != c.proof {
			t.Errorf("%+v: %q", c.o, got)
		}
	}
	sum := Outcome{Equal: 1, Wrong: 2, Failed: 3, IncompleteArchives: 4, Cases: 9}
	if sum.Add(Outcome{Equal: 10, Wrong: 20, Failed: 30, IncompleteArchives: 40, Cases: 5}); sum.Equal != 11 || sum.Wrong != 22 || sum.Failed != 33 || sum.IncompleteArchives != 44 || sum.Cases != 5 {
		t.Errorf("%+v", sum)
	}
}

// TestDefaults: options without a value get the documented ones, and given ones stay.
func TestDefaults(t *testing.T) {
	if o := (Options{}).defaults(); o.Copies != 1 || o.Reps != 11 || o.Duration != 2*time.Second || o.Rounds != 1 || o.Log == nil || o.Progress == nil {
		t.Errorf("%+v", o)
	}
	given := Options{Copies: 2, Reps: 1, Duration: 1, Rounds: 3, Targets: []Target{{Name: "a"}}}
	o := given.defaults()
	if o.Copies != 2 || o.Reps != 1 || o.Duration != 1 || o.Rounds != 3 || len(o.Targets) != 1 {
		t.Errorf("%+v", o)
	}
	if o.Targets[0].Subset = "s"; given.Targets[0].Subset != "" {
		t.Error("a study changes the targets of its caller")
	}
	if CopyName("s", 0) != "s" || CopyName("s", 1) != "s_2" || CopyName("s", 9) != "s_10" {
		t.Errorf("copies are named %s, %s, %s", CopyName("s", 0), CopyName("s", 1), CopyName("s", 9))
	}
}

// TestCausesAreCounted: cells that failed for the same reason on one engine count together.
func TestCausesAreCounted(t *testing.T) {
	s := newRunner(t, Options{}, nil)
	var log strings.Builder
	s.options.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	for _, c := range []cause{{"a", "x", 0}, {"b", "x", 0}, {"a", "x", 0}, {"a", "y", 0}} {
		s.countCause(c.engine, c.text)
	}
	s.logCauses()
	s.logCauses()
	want := `level=ERROR msg="2 cells without a correct result" engine=a cause=x` + "\n" +
		`level=ERROR msg="1 cell without a correct result" engine=b cause=x` + "\n" +
		`level=ERROR msg="1 cell without a correct result" engine=a cause=y` + "\n"
	if log.String() != want {
		t.Errorf("%s", log.String())
	}
}

// TestMostCells: the largest number of cells of one case is that of the cells which the report compares.
func TestMostCells(t *testing.T) {
	s := &runner{}
	if s.mostCells() != 0 {
		t.Error("no cells")
	}
	for _, name := range []string{"a", "b", "b", "c", "b", "a"} {
		s.cells = append(s.cells, &cell{Cell: run.MetCell("e", "wide", name, "f")})
	}
	if n := s.mostCells(); n != 3 {
		t.Errorf("%d cells, want the 3 of case b", n)
	}
}
