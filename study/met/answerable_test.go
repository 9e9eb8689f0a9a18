package met_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/pebble"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/study/met"
)

// TestMain also is the process of a cold start: it returns its arguments in place of a digest.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || os.Args[1] != met.ColdCommand {
		os.Exit(m.Run()) //nolint:forbidigo // a test binary ends so
	}
	if strings.HasSuffix(os.Args[2], "#fails") {
		fmt.Fprintln(os.Stderr, " the archive is locked ")
		os.Exit(4) //nolint:forbidigo // the status of a locked archive
	}
	_ = json.NewEncoder(os.Stdout).Encode(met.ColdResult{Measured: run.Measured{Total: 7}, Rows: len(os.Args), Digest: strings.Join(os.Args[2:], " ")})
}

// TestColdProcess: a cold start queries one case of an archive in a process of its own, after it dropped the archive's
// files from the cache. Its errors have the text of that process.
func TestColdProcess(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.db")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	cold, to := met.ColdProcess("cases.yaml"), met.Target{URL: "sqlite:" + file, Subset: "s"}
	a, how, err := cold(t.Context(), to, run.MetCell("sqlite", "normalized", "test_3", "sql"))
	if err != nil || a.Total != 7 || a.Rows != 11 {
		t.Errorf("%+v, %v", a, err)
	}
	if want := "cases.yaml#test_3 --engine sqlite:" + file + " --design normalized --flavour sql --subset s"; a.Digest != want {
		t.Errorf("the process got %q, want %q", a.Digest, want)
	}
	if rest, ok := strings.CutPrefix(how, "new process per result; "); !ok || rest == "" {
		t.Errorf("%q", how)
	}
	if _, how, err = cold(t.Context(), to, run.MetCell("sqlite", "normalized", "fails", "sql")); err == nil || !strings.HasPrefix(how, "new process per result; ") ||
		err.Error() != "cold start: exit status 4: the archive is locked" {
		t.Errorf("%q, %v", how, err)
	}
	for _, url := range []string{"sqlite:" + file + ".missing", "%zz"} {
		if _, how, err = cold(t.Context(), met.Target{URL: url}, run.Cell{}); err == nil || how != "" {
			t.Errorf("%s: %q, %v", url, how, err)
		}
	}
}

// TestAnswerable: of several questions those with rows stay, in their order, whether files or an archive have the rows.
func TestAnswerable(t *testing.T) {
	files := day(t)
	candidates := func() []*question.Question {
		qs := cases(t, "test_3", "test_3", "test_5", "test_3")
		qs[0].Header[record.Model] = []string{"none"}
		qs[3].Valid = question.Times{}
		for i, q := range qs {
			q.Name = string(rune('a' + i))
		}
		qs[3].Lead = []int32{999 * 3600}
		return qs
	}
	names := func(qs []*question.Question) string {
		return strings.Join(lists.Map(qs, func(q *question.Question) string { return q.Name }), " ")
	}
	got, err := met.Answerable(t.Context(), files, load.ReadOptions{}, candidates())
	if err != nil || names(got) != "b c" {
		t.Errorf("files: %q, %v", names(got), err)
	}
	if got, err = met.Answerable(t.Context(), files, load.ReadOptions{}, candidates()[1:3]); err != nil || names(got) != "b c" {
		t.Errorf("all: %q, %v", names(got), err)
	}
	if got, err = met.Answerable(t.Context(), nil, load.ReadOptions{}, candidates()); err != nil || len(got) > 0 {
		t.Errorf("no files: %q, %v", names(got), err)
	}
	d := pebble.Driver()
	reg := engine.Registry{d}
	e, err := reg.Open(t.Context(), "pebble:"+filepath.Join(t.TempDir(), "a"), engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	a, err := archive.DatabaseOf(e).Open(t.Context(), design.KeyValue)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := load.Run(t.Context(), a, "s", files, load.Options{}); err != nil {
		t.Fatal(err)
	}
	if got, err = met.AnswerableIn(t.Context(), a, archive.Flavours(&d, design.KeyValue), "s", candidates()); err != nil || names(got) != "b c" {
		t.Errorf("archive: %q, %v", names(got), err)
	}
	if got, err = met.AnswerableIn(t.Context(), a, archive.Flavours(&d, design.KeyValue), "other", candidates()); err != nil || len(got) > 0 {
		t.Errorf("another subset: %q, %v", names(got), err)
	}
}

// TestDerivedCases: without cases a study derives them from the files, and uses at most twelve, all with rows.
func TestDerivedCases(t *testing.T) {
	files, reg := day(t), engine.Registry{pebble.Driver()}
	folder, err := run.Create(filepath.Join(t.TempDir(), "run"), run.Run{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := met.Run(t.Context(), folder, met.Options{
		Registry: reg, Targets: []met.Target{target(&reg[0], t.TempDir(), design.KeyValue)}, Files: files, Subset: "s", Reps: 1, Seed: 1,
	})
	if err != nil || out.Err() != nil {
		t.Fatal(err, out.Err())
	}
	n := len(folder.Run.Cases)
	if n == 0 || n > met.DerivedCases || out.Cases != n || out.Empty != 0 || slices.ContainsFunc(folder.Run.Cases, func(c run.Case) bool { return c.Rows == 0 }) {
		t.Errorf("%d cases: %+v, %+v", n, out, folder.Run.Cases)
	}
	if err := folder.Close(); err != nil {
		t.Error(err)
	}
}

// TestDamagedSource: a study of an archive whose records differ from its catalog ends with status 3, and names the problem.
func TestDamagedSource(t *testing.T) {
	files, dir := day(t), t.TempDir()
	reg := engine.Registry{pebble.Driver()}
	source := target(&reg[0], dir, design.KeyValue)
	source.Subset = "s"
	fill(t, source, files, damages()[0].apply)
	_, _, _, err := studyOf(t, met.Options{Registry: reg, Targets: []met.Target{source}, FirstIsSource: true, Subset: "s"})
	for _, want := range []string{"subset s", "is not intact: ", "`barograph verify pebble:", " --subset s` reports all problems"} {
		if fault.Code(err) != fault.Differs || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, status %d", err, fault.Code(err))
		}
	}
}
