package report

import (
	"math"
	"regexp"
	"strings"
	"testing"
)

// TestShortenPage: the parts that a page repeats become shorter, and keep their meaning.
func TestShortenPage(t *testing.T) {
	for long, want := range map[string]string{
		`<path d="M735.6,519.16A2.6,2.6 0 1 1 730.4,519.16A2.6,2.6 0 1 1 735.6,519.16Z" ` +
			`style="fill:#0072B2;fill-opacity:0.6" />`: `<path d="M733.0,519.2h0" ` +
			`style="stroke:#0072B2;stroke-width:5.2;stroke-linecap:round;stroke-opacity:0.6" />`,
		`<path d="M254.67,110.48L866.98,110.48" style="x" />`: `<path d="M254.7,110.5H867" style="x" />`,
		`<path d="M763.82,125.08L763.82,132.08" style="x" />`: `<path d="M763.8,125.1V132.1" style="x" />`,
		`<path d="M1.5,2.5L3.5,4.5" style="x" />`:             `<path d="M1.5,2.5L3.5,4.5" style="x" />`,
		`<path d="M9.5,12345.67L99.5,12345.67" style="x" />`:  `<path d="M9.5,12345.7H99.5" style="x" />`,
	} {
		if got := string(shortenPaths([]byte(long))); got != want {
			t.Errorf("%s\nis %s\nnot %s", long, got, want)
		}
	}
	page := `<td class="">a="b" &#34;x&#34;</td><td class="n " data-v="0.5">.5</td><td class="n dim">` +
		`<path d="M1,2h0" class=p1/></td></tr><script>x="y"; '</td>'</script>`
	want := `<td>a="b" &#34;x&#34;<td class=n data-v=0.5>.5<td class="n dim">` +
		`<path d=M1,2h0 class=p1/></tr><script>x="y"; '</td>'</script>`
	if got := string(shortenPage([]byte(page))); got != want {
		t.Errorf("%s\nnot %s", got, want)
	}
	for text, value := range map[string]float64{"0.311": 0.310601, "1,300": 1300.2, "-4": -4} {
		if s := (Cell{Text: text, Value: value, Known: true}).Sort(); s != "" {
			t.Errorf("%s has the redundant sort value %s", text, s)
		}
	}
	for text, want := range map[string]string{"1.2 s": "1200", "1.2": "1200", "12 MB": "1200"} {
		if s := (Cell{Text: text, Value: 1200, Known: true}).Sort(); s != want {
			t.Errorf("%s is sorted by %q", text, s)
		}
	}
	if s := (Cell{Text: "none"}).Sort() + (Cell{Text: "x", Value: math.NaN()}).Sort(); s != "" {
		t.Error(s)
	}
}

// TestPageSize limits the size of the golden study's page. The quickstart's page thus stays below 1 MB and can be
// mailed. An unquoted value must not end in the slash that closes its element.
func TestPageSize(t *testing.T) {
	r, cells := makeRun()
	page := html(t, writeRun(t, r, cells, reps))
	if n := len(page); n > 145_000 || !strings.Contains(page, "h0 class=p") {
		t.Errorf("%d bytes", n)
	}
	if bad := regexp.MustCompile(`=[^"\s>]+/>`).FindString(page); bad != "" {
		t.Errorf("the slash belongs to the value: %s", bad)
	}
}
