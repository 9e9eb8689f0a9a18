package run_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"barograph/run"
)

// TestPostProof: what the tables' digest does not prove has no figures, neither
// in memory nor in the file, nor when an older run is read that has them.
func TestPostProof(t *testing.T) {
	p := &run.Posts{}
	figures := run.PostFigures{Wall: 123456789, Values: 10, Post: run.PostTimes{Total: 987654321}}
	days := []run.PostDay{{Phase: "x", Post: run.PostTimes{Total: 987654321}, Late: 77}}
	good, bad := run.ProvePosts("abc/1", "abc/1"), run.ProvePosts("abc/1", "abd/1")
	p.Add(run.PostCell{Test: "right"}, figures, good)
	p.AddDays(days, good)
	if p.Wrong() || p.Cells[0].Wall != 123456789 || p.Cells[0].Digest != "abc/1" || p.Days[0].Late != 77 {
		t.Errorf("%+v", p)
	}
	p = &run.Posts{}
	for _, proof := range []run.PostProof{bad, {}, run.ProvePosts("", "")} {
		p.Add(run.PostCell{Test: "wrong", Proof: "reference", PostFigures: &figures}, figures, proof)
		p.AddDays(days, proof)
	}
	dir := t.TempDir()
	if err := p.Save(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, run.PostFile)
	text, err := os.ReadFile(path)
	if err != nil || !p.Wrong() || strings.Contains(string(text), "123456789") || strings.Contains(string(text), "987654321") || strings.Contains(string(text), "77") {
		t.Errorf("%s: %v", text, err)
	}
	old := `{"cells":[{"test":"quiet","proof":"","wall_ns":5,"post":{"total_ns":5}}],"days":[{"phase":"x","post":{"total_ns":5}}]}`
	if err := os.WriteFile(path, []byte(old), 0o644); err != nil {
		t.Fatal(err)
	}
	if p, err = run.ReadPosts(dir); err != nil || p.Cells[0].PostFigures != nil || p.Days[0].Post.Total != 0 {
		t.Errorf("%+v: %v", p, err)
	}
	if r := (&run.PostFigures{Values: 6, Post: run.PostTimes{Total: 2 * time.Second}}).Rate(); r != 3 {
		t.Errorf("%v values a second", r)
	}
}
