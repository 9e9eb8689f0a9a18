package formats

import (
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// TestSilence: a pipe that has said something and then nothing is read as
// empty, once; a slow reader loses nothing.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		h := &cancellableReader{ctx: t.Context(), r: r}
		go func() {
			time.Sleep(time.Hour) // it has said nothing yet: that is no silence
			io.WriteString(w, "abc")
			time.Sleep(time.Hour)
			io.WriteString(w, "d")
			w.Close()
		}()
		var got []string
		p := make([]byte, 8)
		for {
			n, err := h.Read(p)
			got = append(got, string(p[:n]))
			p = p[:2]
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if len(got) < 3 || got[0] != "abc" || got[1] != "" || got[2] != "d" {
			t.Errorf("%q", got)
		}
	})
}

func TestLeftAlone(t *testing.T) {
	for path, want := range map[string]bool{
		"/a": false, "/b/RR1": false, "/.a": true, "/b/.c/d": true, "/a.tmp": true, "/a.part": true, "/done/20261110/a": true, "/failed/a": true, "/adone": false,
	} {
		if got := IsIgnored(path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}
