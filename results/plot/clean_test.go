package plot

import "testing"

// clean replaces the anchors of this package in labels, because encode would interpret them.
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
