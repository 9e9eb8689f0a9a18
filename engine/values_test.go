package engine_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
)

// TestValues: parameters have their defaults, and the first that is not
// understood is reported with what to write.
func TestValues(t *testing.T) {
	d := engine.Driver{Scheme: "x", Params: []engine.Param{
		{Name: "batch", Default: "256"}, {Name: "tls", Default: "false"}, {Name: "wait", Default: "10s"}, {Name: "seeds"}, {Name: "level", Default: "one"},
	}}
	for _, tc := range []struct{ query, says string }{
		{"", ""},
		{"batch=7&tls=true&wait=1m&seeds=a,b&level=two", ""},
		{"batch=0", "from 1 to 9"},
		{"batch=many", "x URL, parameter batch"},
		{"tls=perhaps", "tls=true"},
		{"wait=1ms", "at least 100ms"},
		{"level=three&tls=x", "choose one of one, two"},
	} {
		v := d.Values(&url.URL{Scheme: "x", RawQuery: tc.query})
		level := engine.Choice(v, "level", map[string]int{"one": 1, "two": 2})
		batch, tls, wait, seeds := v.Int("batch", 1, 999), v.Bool("tls"), v.Duration("wait", 100*time.Millisecond), v.List("seeds")
		switch {
		case (v.Err == nil) != (tc.says == "") || v.Err != nil && !strings.Contains(v.Err.Error(), tc.says):
			t.Errorf("%s: %v, want %q", tc.query, v.Err, tc.says)
		case tc.query == "" && (level != 1 || batch != 256 || tls || wait != 10*time.Second || seeds != nil):
			t.Errorf("by default: %d %d %v %v %q", level, batch, tls, wait, seeds)
		case strings.HasPrefix(tc.query, "batch=7") && (level != 2 || batch != 7 || !tls || wait != time.Minute || len(seeds) != 2):
			t.Errorf("as given: %d %d %v %v %q", level, batch, tls, wait, seeds)
		}
	}
}
