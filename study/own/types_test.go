package own

import "testing"

// TestTimesWithComma: a text with a comma before its fraction is not a time, although time.Parse accepts it.
func TestTimesWithComma(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{"2024-02-29 10:00:00.5", true},
		{"2024-02-29 10:00:00,5", false},
		{"2024-02-29 10:00:00,123456789", false},
		{"2024-02-29T10:00:00,25Z", false},
	} {
		if _, _, ok := parseTime(c.text); ok != c.want {
			t.Errorf("%s: %v", c.text, ok)
		}
	}
}
