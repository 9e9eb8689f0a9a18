package met_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/archive/load"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/dry"
	"github.com/barograph/barograph/engine/pebble"
	"github.com/barograph/barograph/engine/sqlite"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/study/met"
)

// TestStudyOfAnArchive: a study of an existing archive does not change it. Its copies have the same records and marks of
// files, whether the study reads the archive once or several times.
func TestStudyOfAnArchive(t *testing.T) {
	files, dir := day(t)[:1], t.TempDir()
	reg := engine.Registry{dry.Driver(), pebble.Driver(), sqlite.Driver()}
	source := target(&reg[1], dir, design.KeyValue)
	source.Subset = "s"
	loaded, _, _, err := studyOf(t, met.Options{Registry: reg, Targets: []met.Target{source}, Files: files, Subset: "s"})
	if err != nil || loaded.IncompleteArchives > 0 {
		t.Fatal(loaded, err)
	}
	for memory, copied := range map[int]string{0: "small", 1: "large"} {
		targets := []met.Target{
			source,
			{Driver: &reg[0], Design: design.Memory, URL: "dry:"},
			target(&reg[2], filepath.Join(dir, copied), design.Normalized), target(&reg[2], filepath.Join(dir, copied), design.Document),
		}
		out, r, _, err := studyOf(t, met.Options{Registry: reg, Targets: targets, FirstIsSource: true, Subset: "s", Memory: memory})
		if err != nil || out.Err() != nil || out.Equal == 0 {
			t.Fatalf("%+v, %v, %v", out, out.Err(), err)
		}
		for _, a := range r.Archives {
			if !a.Complete || (a.Digest != r.Data.Digest && a.Engine != "dry") {
				t.Errorf("%s %s: %+v, want digest %s", a.Engine, a.Design, a, r.Data.Digest)
			}
		}
		if n := r.Archives[1].Objects; (memory == 1) != (n < r.Data.Records) {
			t.Errorf("memory %d: the dry engine has %d of %d records", memory, n, r.Data.Records)
		}
		e, err := reg.Open(t.Context(), targets[2].URL, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		a, err := archive.DatabaseOf(e).Open(t.Context(), design.Normalized)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := load.Run(t.Context(), a, "s", files, load.Options{})
		if err != nil || len(sum.Skipped) != len(files) {
			t.Errorf("the copy knows %d of %d files: %v", len(sum.Skipped), len(files), err)
		}
		if v, err := load.Verify(t.Context(), a, "s"); err != nil || len(v.Problems) > 0 {
			t.Errorf("the copy: %+v, %v", v, err)
		}
	}
}

// TestOtherDataInTheSubset: other data of an earlier run in the subset do not make an archive incomplete.
func TestOtherDataInTheSubset(t *testing.T) {
	files, dir := day(t), t.TempDir()
	reg := engine.Registry{sqlite.Driver()}
	targets := []met.Target{target(&reg[0], dir, design.Document)}
	for _, some := range [][]string{files[:1], files[1:2], files[:1]} {
		out, r, samples, err := studyOf(t, met.Options{Registry: reg, Targets: targets, Files: some, Subset: "s"})
		if err != nil || out.Wrong+out.IncompleteArchives > 0 || !r.Archives[0].Complete || len(samples) == 0 {
			t.Errorf("%+v, %+v, %v", out, r.Archives, err)
		}
	}
	_, _, _, err := studyOf(t, met.Options{Registry: reg, Targets: targets, Files: files[1:2], Subset: "s", SubsetRequired: true})
	if fault.Code(err) != fault.Usage || !strings.Contains(err.Error(), "--subset s") || !strings.Contains(err.Error(), "1 file of other data") {
		t.Error(err)
	}
}
