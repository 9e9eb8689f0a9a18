package load

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// TestPlanOfRetention compares the cutoff, the days, the gap and the future valid times with values computed by
// hand.
func TestPlanOfRetention(t *testing.T) {
	days := func(n float64) time.Duration { return time.Duration(n * 24 * float64(time.Hour)) }
	now := time.Unix(20*daySeconds, 0)
	for name, x := range map[string]struct {
		have   []float64
		before []float64 // nil = there was no earlier load
		lead   int32
		keep   time.Duration
		want   string
	}{
		"nothing":               {nil, nil, 0, days(3), "goes 0, from -, days 0, added 0, gap , later 0"},
		"all stay":              {[]float64{1, 2, 3}, nil, 0, days(2), "goes 0, from 1, days 0, added 0, gap , later 0"},
		"one goes":              {[]float64{1, 2, 3}, nil, 0, days(1), "goes 1, from 2, days 1, added 0, gap , later 0"},
		"two of a day":          {[]float64{1, 1.5, 2, 3, 4}, nil, 0, days(1), "goes 3, from 3, days 2, added 0, gap , later 0"},
		"before the epoch":      {[]float64{-1.5, -1, -0.5, 3}, nil, 0, days(3), "goes 3, from 0, days 2, added 0, gap 84h, later 0"},
		"a gap as long as kept": {[]float64{1, 3, 4}, nil, 0, days(2), "goes 1, from 2, days 1, added 0, gap , later 0"},
		"a gap":                 {[]float64{1, 5, 6}, nil, 0, days(2), "goes 1, from 4, days 1, added 0, gap 4d, later 0"},
		"added":                 {[]float64{1, 2, 3, 3.5}, []float64{1, 2}, 0, days(1), "goes 2, from 2.5, days 2, added 1, gap , later 0"},
		"the future":            {[]float64{18, 19, 20.5, 21}, nil, 0, days(0.5), "goes 1, from 18.5, days 1, added 0, gap 1d, later 2"},
		"of now":                {[]float64{18, 20}, nil, 0, days(1), "goes 1, from 19, days 1, added 0, gap 2d, later 0"},
		"within the lead":       {[]float64{18, 19, 20.5, 21}, nil, 43200, days(1), "goes 2, from 19.5, days 2, added 0, gap 36h, later 1"},
		"only the future":       {[]float64{30, 31}, nil, 0, days(1), "goes 0, from -, days 0, added 0, gap , later 2"},
		"a year ahead":          {[]float64{18, 386}, nil, math.MaxInt32, days(1), "goes 1, from 385, days 1, added 0, gap 368d, later 0"},
		"more than a year":      {[]float64{18, 387}, nil, math.MaxInt32, days(1), "goes 0, from 17, days 0, added 0, gap , later 1"},
		"minutes of a long gap": {[]float64{1, 3 + 1./48, 4}, nil, 0, days(1), "goes 1, from 3, days 1, added 0, gap 2d, later 0"},
		"minutes of a gap":      {[]float64{1, 3 - 1./48, 3.75}, nil, 0, days(1), "goes 1, from 2.75, days 1, added 0, gap 47h30m0s, later 0"},
		"a lead of centuries":   {[]float64{18, 400}, nil, math.MaxInt32, days(1), "goes 0, from 17, days 0, added 0, gap , later 1"},
	} {
		r := Retention{MaxAge: x.keep, Now: now}
		if x.before != nil {
			r.Before = catalogOf(datedRows("a", x.lead, 1, x.before...))
		}
		m := r.plan(catalogOf(datedRows("a", x.lead, 1, x.have...)))
		from := "-"
		if !m.Cutoff.IsZero() {
			from = fmt.Sprint(float64(m.Cutoff.Unix()) / daySeconds)
			if want := x.have[len(x.have)-1-m.Later]; float64(m.Newest.Unix())/daySeconds != want {
				t.Errorf("%s: the newest is %v, want day %g", name, m.Newest, want)
			}
		}
		gone := 0
		for _, d := range x.have {
			if !m.Cutoff.IsZero() && int64(d*daySeconds) < m.Cutoff.Unix() {
				gone++
			}
		}
		got := fmt.Sprintf("goes %d, from %s, days %d, added %d, gap %s, later %d", len(m.before), from, m.Days, m.Added, m.Gap, m.Later)
		if got != x.want || len(m.before) != gone || m.Total != int64(len(x.have)) {
			t.Errorf("%s: %s (%d of %d records), want %s", name, got, gone, m.Total, x.want)
		}
		if m.Later > 0 && float64(m.Latest.Unix())/daySeconds != x.have[len(x.have)-1] {
			t.Errorf("%s: the last is %v", name, m.Latest)
		}
	}
}

// TestRemovalIsRefused: a removal is refused only if the load does not explain it and it is above the limit.
func TestRemovalIsRefused(t *testing.T) {
	for _, x := range []struct {
		m       Removal
		suspect bool
		refused bool
	}{
		{Removal{Days: 2, Added: 1, Records: 11, Total: 100, limit: 10, before: []int64{1}}, true, true},
		{Removal{Days: 2, Added: 1, Records: 10, Total: 100, limit: 10, before: []int64{1}}, true, false},
		{Removal{Days: 1, Added: 1, Records: 11, Total: 100, limit: 10, before: []int64{1}}, false, false},
		{Removal{Days: 1, Added: 1, Gap: "3d", Records: 11, Total: 100, limit: 10, before: []int64{1}}, true, true},
		{Removal{Days: 2, Added: 1, Records: 11, Total: 100, limit: 10}, false, false},
	} {
		x.m.check()
		if x.m.isSuspicious() != x.suspect || x.m.Refused != x.refused || (x.m.Err() != nil) != x.refused {
			t.Errorf("%+v: suspect %v, refused %v, %v", x.m, x.m.isSuspicious(), x.m.Refused, x.m.Err())
		}
	}
	day := time.Unix(0, 0)
	m := &Removal{Cutoff: day, Newest: day.Add(24 * time.Hour), Days: 3, Added: 1, Records: 5, Total: 9, Refused: true, maxAge: 48 * time.Hour, limit: 10}
	for want, change := range map[string]func(){
		"--retain 2d: nothing was removed: 5 of 9 records are before 1970-01-01T00:00:00Z; they are more than 10 %, and cover 3 days of valid time, but this load added only 1; " +
			"check the newest date (1970-01-02T00:00:00Z) with --dry-run; then add --force, or raise --retain-limit": func() {},
		"the removal would be refused: 5 of 9 records are before 1970-01-01T00:00:00Z; they are more than 10 %, and there is a gap of 9d without records before the remaining ones; " +
			"check the newest date (1970-01-02T00:00:00Z); then add": func() { m.Gap, m.preview = "9d", true },
	} {
		m.Gap, m.preview = "", false
		if change(); !strings.Contains(m.Err().Error(), want) || fault.Code(m.Err()) != fault.Incomplete {
			t.Errorf("%v, want %s", m.Err(), want)
		}
	}
	m = &Removal{Cutoff: day, Newest: day, Days: 1, Records: 1, Total: 16960, Refused: true}
	const one = "1 of 16,960 records is before 1970-01-01T00:00:00Z; it is more than 0 %, and covers 1 day of valid time, but"
	if !strings.Contains(m.Err().Error(), one) {
		t.Errorf("%v, want %s", m.Err(), one)
	}
	if (*Removal)(nil).Err() != nil {
		t.Error("no removal is no error")
	}
}

// TestRemovalCounts: the removed records are counted by line type and model, with the first and last time.
func TestRemovalCounts(t *testing.T) {
	m := &Removal{Cutoff: time.Unix(5*daySeconds, 0).UTC(), Newest: time.Unix(9*daySeconds, 0), Days: 4, Added: 1, Total: 7, Later: 1, Latest: time.Unix(40*daySeconds, 0)}
	m.count(datedRows("a", 0, 1, 3, 1, 4, 5, 9))
	other := datedRows("a", 0, 1, 2, 6)
	other.Headers[0][record.Model] = "ECM"
	m.count(other)
	var text bytes.Buffer
	if err := m.Text(&text); err != nil || m.Records != 4 || len(m.Groups) != 2 {
		t.Errorf("%v, %+v", err, m)
	}
	want := "would remove   4 of 7 records: those with fcst_valid_beg before 1970-01-06T00:00:00Z, because the newest is 1970-01-10T00:00:00Z; this removes 4 days of valid time and adds 1\n" +
		"  SL1L2 ECM    1 record, 1970-01-03T00:00:00Z to 1970-01-03T00:00:00Z\n" +
		"  SL1L2 GFS    3 records, 1970-01-02T00:00:00Z to 1970-01-05T00:00:00Z\n" +
		"in the future  1 valid time, the last 1970-02-10T00:00:00Z: --retain ignores them\n"
	if text.String() != want {
		t.Errorf("%s\nwant\n%s", text.String(), want)
	}
	text.Reset()
	if err := (&Removal{}).Text(&text); err != nil || text.String() != "would remove  nothing\n" {
		t.Errorf("%q, %v", text.String(), err)
	}
}

func TestSpans(t *testing.T) {
	for d, want := range map[time.Duration]string{
		24 * time.Hour: "1d", 48 * time.Hour: "2d", 25 * time.Hour: "25h", 60 * time.Hour: "60h", 90 * time.Minute: "1h30m0s",
		48*time.Hour + time.Minute: "48h1m0s", 48*time.Hour - time.Minute: "47h59m0s", 72*time.Hour + time.Second: "72h0m1s", 73 * time.Hour: "73h",
	} {
		if got := formatSpan(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
	for seconds, want := range map[int64]string{86400: "24 h", -10800: "-3 h", 5400: "1:30:00 h", -5400: "-1:30:00 h", -1: "-0:00:01 h", math.MinInt32: "-596523:14:08 h"} {
		if got := leadHours(seconds); got != want {
			t.Errorf("%d s: %s, want %s", seconds, got, want)
		}
	}
	for at, want := range map[int64]int64{0: 0, 1: 0, daySeconds - 1: 0, daySeconds: 1, -1: -1, -daySeconds: -1, -daySeconds - 1: -2} {
		if got := dayOf(at); got != want*daySeconds {
			t.Errorf("the day of second %d starts at %d, want day %d", at, got, want)
		}
	}
}

// TestPrunedLimit: the limit itself is allowed.
func TestPrunedLimit(t *testing.T) {
	for lost, want := range map[int64]bool{0: true, 10: true, 11: false} {
		if err := (&PruneResult{Lost: lost, Total: 100}).Err(10, false); (err == nil) != want || err != nil && fault.Code(err) != fault.Differs {
			t.Errorf("%d of 100: %v", lost, err)
		}
	}
}

// TestLacksInWords: one sentence with one exit status reports all missing lines.
func TestLacksInWords(t *testing.T) {
	for want, s := range map[string]struct {
		s       Summary
		refused int64
	}{
		"": {Summary{Stored: 1}, 0},
		"1 line of these files was quarantined; all other lines were stored":                                                        {Summary{Stored: 1, Quarantined: 1}, 0},
		"3 lines of these files were quarantined; nothing was stored":                                                               {Summary{Quarantined: 1, SkippedWithQuarantine: []archive.Mark{{Quarantined: 2}}}, 0},
		"1 file could not be read; all other lines were stored":                                                                     {Summary{Duplicates: 1, Failed: []error{errors.New("x")}}, 0},
		"1 line was refused, because it conflicts with an existing record (choose with --on-conflict); all other lines were stored": {Summary{Stored: 1}, 1},
		"1 line of these files was quarantined, 2 files could not be read, 2 lines were refused, because they conflict with existing records (choose with --on-conflict); nothing was stored": {
			Summary{Quarantined: 1, Failed: []error{errors.New("x"), errors.New("y")}}, 2,
		},
	} {
		err := s.s.Incomplete(s.refused)
		if (err == nil) != (want == "") || err != nil && (err.Error() != want || fault.Code(err) != fault.Incomplete) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := (&Summary{Conflicts: 1, Quarantined: 1}).Incomplete(0); err == nil || !strings.HasSuffix(err.Error(), "all other lines were stored") {
		t.Errorf("a line that was stored instead of another one: %v", err)
	}
	l := Shortfall{}
	b := &record.Batch{}
	b.Reject("a", 3, "why", []byte("text"))
	b.Reject("a", 4, "why", []byte("text"))
	var lines []uint32
	if err := l.Reject(b, func(_ string, line uint32, _, _ string) error { lines = append(lines, line); return nil }); err != nil || l.Quarantined != 2 || !slices.Equal(lines, []uint32{3, 4}) {
		t.Errorf("%+v, lines %v, %v", l, lines, err)
	}
	broken := errors.New("x")
	if err := l.Reject(b, func(string, uint32, string, string) error { return broken }); !errors.Is(err, broken) {
		t.Error(err)
	}
	if err := l.Incomplete(); err == nil || err.Error() != "4 lines of these files were quarantined; the result covers only the other lines" {
		t.Error(err)
	}
	if err := (Shortfall{Refused: 2}).Incomplete(); err == nil || err.Error() != "2 lines conflict with earlier lines; the result covers only the other lines" {
		t.Errorf("conflicts in the files of a study, which has no --on-conflict: %v", err)
	}
	if (Shortfall{}).Incomplete() != nil {
		t.Error("nothing is lacking")
	}
}

// TestRefusedLines: the lines of this load count, and those of skipped files.
func TestRefusedLines(t *testing.T) {
	c := design.NewCatalog("s")
	for i, one := range []design.Conflict{{Refused: true, Dropped: design.Line{File: "skipped"}}, {Dropped: design.Line{File: "skipped"}}, {Refused: true, Dropped: design.Line{File: "other"}}} {
		one.Dropped.Line = uint32(i) //nolint:gosec // few
		c.AddConflict(one)
	}
	for name, x := range map[string]struct {
		s       Summary
		by      OnConflict
		want    int64
		reports int
	}{
		"of this load":   {Summary{Conflicts: 2}, Refuse, 2, 0},
		"by default":     {Summary{Conflicts: 2}, "", 2, 0},
		"by choice":      {Summary{Conflicts: 2}, Last, 0, 0},
		"skipped":        {Summary{Conflicts: 2, Skipped: []string{"skipped"}}, Refuse, 3, 1},
		"skipped, first": {Summary{Conflicts: 2, Skipped: []string{"skipped", "new"}}, First, 1, 1},
	} {
		reports := 0
		x.s.Catalog = c
		n := x.s.Refused(x.by, func(design.Conflict) { reports++ })
		if n != x.want || reports != x.reports || len(x.s.IncompleteFiles) != x.reports {
			t.Errorf("%s: %d, %d reported; want %d, %d", name, n, reports, x.want, x.reports)
		}
	}
}

// TestResultText: the table has a line for each value that is present, and no other line.
func TestResultText(t *testing.T) {
	at := time.Unix(0, 0)
	plain := "archive        duckdb:a.db, design wide, subset s\nfiles          1 loaded, 2 skipped (in the archive already), 0 failed\n" +
		"lines          9 read = 4 stored + 3 duplicates + 1 conflicts + 1 quarantined\narchive total  4 rows, 1.00 kB on disk\n  SL1L2        4 records\n"
	result := func() *Result {
		return &Result{
			Archive: "duckdb:a.db", Design: "wide", Subset: "s", Files: 1, Skipped: 2, Read: 9, Stored: 4, Duplicates: 3, Conflicts: 1, Quarantined: 1,
			Objects: 4, Object: "rows", BytesOnDisk: 1000, Records: map[string]int64{"SL1L2": 4, "CTC": 0},
		}
	}
	for want, change := range map[string]func(r *Result){
		"": func(*Result) {},
		"database       d (named after the URL's": func(r *Result) { r.Database = "d" },
		"kept           1 of the stored records":  func(r *Result) { r.Kept = 1 },
		"in quarantine  2 of 5 lines of f, which was loaded at 1970-01-01 00:00:00 UTC": func(r *Result) {
			r.SkippedWithQuarantine = []archive.Mark{{Path: "f", Quarantined: 2, Read: 5, Loaded: at}}
		},
		"not loaded     3 lines of MPR":                                                 func(r *Result) { r.NotAccepted = map[string]int64{"MPR": 3} },
		"omitted        MPR: X: no design stores these columns (3 lines)":               func(r *Result) { r.OmittedColumns = map[string]int64{"MPR: X": 3} },
		"shortened      3 texts are too long":                                           func(r *Result) { r.ShortenedTexts = map[string]int64{"model": 3} },
		"not removed    5 of 7 records with fcst_valid_beg before 1970-01-01T00:00:00Z": func(r *Result) { r.Retention = &Removal{Refused: true, Records: 5, Total: 7, Cutoff: at} },
		"removed        5 records with fcst_valid_beg before 1970-01-01T00:00:00Z":      func(r *Result) { r.Retention = &Removal{Records: 5, Total: 7, Cutoff: at} },
		"in the future  1 valid time":                                                   func(r *Result) { r.Retention = &Removal{Later: 1, Latest: at} },
		"digest         abc":                                                            func(r *Result) { r.Digest = "abc" },
		"failed         x":                                                              func(r *Result) { r.Failed = []string{"x"} },
	} {
		r := result()
		change(r)
		var text bytes.Buffer
		if err := r.Text(&text); err != nil {
			t.Error(err)
		}
		lines := strings.Split(text.String(), "\n")
		if len(r.Failed) > 0 {
			lines = strings.Split(strings.Replace(text.String(), "1 failed", "0 failed", 1), "\n")
		}
		more := slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return strings.Contains(plain, l+"\n") })
		if want == "" && text.String() != plain || want != "" && (len(more) != 1 || !strings.HasPrefix(more[0], want)) {
			t.Errorf("%q,\nwant %q", text.String(), want)
		}
	}
}

// TestRejectsAreShown: the list prints ten lines and mentions the others, or writes all into a file.
func TestRejectsAreShown(t *testing.T) {
	var out bytes.Buffer
	r, err := NewRejectList("", &out, func(s string) string { return s })
	if err != nil {
		t.Fatal(err)
	}
	for i := range 13 {
		r.Reject(record.Reject{File: "a", Line: uint32(i + 1), Reason: "why", Text: "text"}) //nolint:gosec // few
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 11 || lines[9] != "a:10: why; line quarantined" || !strings.HasPrefix(lines[10], "… further lines") || r.Close() != nil {
		t.Errorf("%q", lines)
	}
	path := filepath.Join(t.TempDir(), "q.csv")
	if r, err = NewRejectList(path, &out, strings.ToUpper); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	r.Reject(record.Reject{File: "a", Line: 3, Reason: "why", Text: "text"})
	r.Conflict(design.Conflict{Existing: design.Line{File: "b", Line: 1}, Dropped: design.Line{File: "c", Line: 2}, What: "w"})
	r.Conflict(design.Conflict{Dropped: design.Line{File: "c", Line: 2}, What: "w", Kept: true})
	r.Conflict(design.Conflict{Existing: design.Line{File: "b", Line: 1}, What: "w"})
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(path)
	want := "file,line,reason,text\nA,3,WHY,TEXT\nC,2,\"CONFLICTS WITH B:1, WHOSE VALUES ARE STORED\",W\nC,2,CONFLICTS WITH A RECORD OF THE ARCHIVE; BOTH ARE STORED,W\n" +
		"THE ARCHIVE,0,\"CONFLICTS WITH B:1, WHOSE VALUES ARE STORED\",W\n"
	if err != nil || string(text) != want || out.Len() > 0 {
		t.Errorf("%s, %v; shown: %s\nwant %s", text, err, out.String(), want)
	}
	if _, err := NewRejectList(t.TempDir(), &out, strings.ToUpper); err == nil {
		t.Error("a folder is no file")
	}
}
