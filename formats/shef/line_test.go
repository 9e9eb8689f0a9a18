package shef

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zone's own table, on every machine

	"github.com/barograph/barograph/record"
)

// TestPieces: counting pieces by words gives the same number as counting by bytes, for any
// neighbors.
func TestPieces(t *testing.T) {
	const letters = " /,.-+AZ09_ //  "
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		b := make([]byte, r.IntN(40))
		for i := range b {
			b[i] = letters[r.IntN(len(letters))]
		}
		if plain, text := isPlainText(b); !plain || !text {
			t.Fatalf("%q is plain", b)
		}
		if got, want := plainPieces(b), quotedPieces(b); got != want {
			t.Fatalf("%q: %d pieces, want %d", b, got, want)
		}
	}
}

// TestPlain: every byte that strip would change, and every quote, makes a line not plain, at any
// position.
func TestPlain(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			b := []byte("AAAAAAAAAAAAAAAAAAAA")
			b[at] = byte(c)
			special := c < 0x20 || c > 0x5f || c == ':' || c == '"' || c == '\''
			strange := c < 0x20 || c >= 0x7f
			if plain, text := isPlainText(b); plain == special || text == strange {
				t.Errorf("%q: plain is %t, text is %t", b, plain, text)
			}
		}
	}
}

// TestDated: local computes the same days as record.Days, for a new date and for a repeated one.
func TestDated(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	d := &Decoder{}
	for range 1000 {
		c := clock{year: 1753 + r.Int32N(447), month: int8(1 + r.IntN(12)), day: int8(1 + r.IntN(28)), hour: int8(r.IntN(25)), minute: int8(r.IntN(60)), second: int8(r.IntN(60))}
		want := record.Days(c.year, int32(c.month), int32(c.day))*86400 + int64(c.hour)*3600 + int64(c.minute)*60 + int64(c.second)
		for range 2 {
			if got := d.local(&c); got != want {
				t.Fatalf("%+v: %d, want %d", c, got, want)
			}
		}
	}
}

// TestSavingDays: in every year, daylight time changes on the days of the zone's own table (5.2.3).
func TestSavingDays(t *testing.T) {
	zone, err := time.LoadLocation("America/Chicago")
	if err != nil {
		t.Fatal(err)
	}
	for year := 1976; year <= 2037; year++ {
		var changes []int64
		_, before := time.Date(year, 1, 1, 12, 0, 0, 0, zone).Zone()
		for day := 1; day <= 365; day++ {
			at := time.Date(year, 1, day, 12, 0, 0, 0, zone)
			if _, offset := at.Zone(); offset != before {
				before = offset
				changes = append(changes, record.Days(int32(year), int32(at.Month()), int32(at.Day()))*86400+2*3600)
			}
		}
		s := saving{}
		if s.setYear(int32(year)); !s.known || len(changes) != 2 || s.start != changes[0] || s.end != changes[1] {
			t.Errorf("%d: %+v, want %v", year, s, changes)
		}
	}
}

// TestQuotedEndsAtBlanks: a retained comment ends at its quote or at 15 blanks in a row, not at 14.
func TestQuotedEndsAtBlanks(t *testing.T) {
	for text, open := range map[string]bool{
		`'`:                            true,
		`'a'`:                          false,
		`'a"`:                          true,
		`'a` + strings.Repeat(" ", 14): true,
		`'a` + strings.Repeat(" ", 15): false,
		`'` + strings.Repeat(" ", 14) + "b" + strings.Repeat(" ", 14): true,
		`'` + strings.Repeat(" ", 15) + `"`:                           true, // closed by the blanks, then opened again
		`'` + strings.Repeat(" ", 5) + `''` + strings.Repeat(" ", 14): true, // the blanks of the first comment do not count
	} {
		var q quoted
		for i := range len(text) {
			q.step(text[i])
		}
		if (q.mark != 0) != open {
			t.Errorf("%q: open %v, want %v", text, q.mark != 0, open)
		}
	}
}
