package plot

import "testing"

// A label never begins with one of the anchors of this package: encode would read it as such.
func TestClean(t *testing.T) {
	for _, a := range []anchor{atCenter, atRight, atTooltip} {
		if got := clean(string(rune(a)) + "x"); got != "\uFFFDx" {
			t.Errorf("%U stays: %q", rune(a), got)
		}
	}
	if got := clean("a\tb\xffc"); got != "a b\uFFFDc" {
		t.Errorf("%q", got)
	}
}
