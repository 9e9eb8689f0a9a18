package post_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/study/post"
)

// TestDeleteOlderHalf: the test delete removes the values before the start of the day that divides the values into two
// halves most evenly, also if a forecast extends the range of their times.
func TestDeleteOlderHalf(t *testing.T) {
	for _, d := range posts.Designs() {
		source := files(t, ".A AAA 20060308 Z DH06/HG 1\n.A AAA 20060309 Z DH06/HG 2\n.A AAA 20060310 Z DH06/HG 3\n"+
			".A AAA 20060311 Z DH06/HG 4\n.A AAA 20060410 Z DH06/HGIFF 5\n")
		p := post.Programme{
			Store: openStore(t, d), Design: d, Policy: posts.Overwrite, Source: source, References: references(t, source),
			Folder: folder(t), Progress: func(string) {}, Options: post.Options{Method: posts.MultiRow},
		}
		if err := errors.Join(p.Admit(t.Context(), false), p.Run(t.Context(), post.Delete)); err != nil {
			t.Fatal(err)
		}
		s := p.Folder.Samples()[0]
		if got := s.Cell.Value("scenario"); got != "older than 2006-03-10" || s.Measured() == nil || s.Measured().RowsUpdated != 2 {
			t.Errorf("%s: %s, %+v, %q", d, got, s.Measured(), p.Folder.Run.Warnings)
		}
	}
}

// TestDeleteOfNothing: if all observations are of one day, the test delete deletes nothing, and the run warns.
func TestDeleteOfNothing(t *testing.T) {
	for _, d := range posts.Designs() {
		source := files(t, ".A AAA 20060310 Z DH06/HG 1/DH12/HG 2\n.A AAA 20060310 Z DH18/HG 3\n")
		p := post.Programme{
			Store: openStore(t, d), Design: d, Policy: posts.Overwrite, Source: source, References: references(t, source),
			Folder: folder(t), Progress: func(string) {}, Options: post.Options{Method: posts.MultiRow},
		}
		if err := errors.Join(p.Admit(t.Context(), false), p.Run(t.Context(), post.Delete)); err != nil {
			t.Fatal(err)
		}
		const warning = "no row is older than 2006-03-10, the day in the middle of the observations, so nothing was deleted"
		if w := fmt.Sprint(p.Folder.Run.Warnings); !strings.Contains(w, warning) {
			t.Errorf("%s: %s", d, w)
		}
	}
}
