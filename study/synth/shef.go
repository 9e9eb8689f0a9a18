package synth

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/record"
)

// SHEF describes a feed of SHEF products: a backlog such as the one that NOAA's
// report of 14 April 2006 posts in its test 3, or days of a live feed. The zero
// value is that backlog.
//
// With the same description, a product depends only on its number. The value of a station, parameter and time is always
// the same, unless a product revises it. But each time that a value is sent, the feed draws anew whether it is missing, a
// trace or qualified. Therefore a value that is sent twice may differ.
type SHEF struct {
	Seed     uint64
	Messages int       // products; 0 = 55,338
	Mean     float64   // values of a product; 0 = 13.3 million over 55,338 products
	PerDay   int       // products of a day; 0 = 14,700
	From     time.Time // zero = 2006-03-09, the first day of the report's feed
	Offices  int       // forecast offices; 0 = 120
	Stations int       // of an office; 0 = 36
}

// The report's backlog and feed.
const (
	BacklogMessages = 55_338
	BacklogValues   = 13_300_000
	LiveMessages    = 14_700
	LiveMean        = 55 // values of a product; the report's days have 37 to 75
)

// The size of products is lognormal: most are small, and a few very large ones
// determine the longest time of a product.
const (
	sizeSigma = 1.667
	sizeLimit = 20_000
)

// maxFeedDays limits the days of a feed. A decoder completes a year of two digits to one at most 10 years after Now, the
// middle of the feed. Half of 6500 days, and the forecasts after the last product, are less.
const maxFeedDays = 6500

// withDefaults returns the feed with its zero fields filled in.
func (f SHEF) withDefaults() SHEF {
	set := func(v *int, to int) {
		if *v == 0 {
			*v = to
		}
	}
	set(&f.Messages, BacklogMessages)
	set(&f.PerDay, LiveMessages)
	set(&f.Offices, 120)
	set(&f.Stations, 36)
	if f.Mean == 0 {
		f.Mean = float64(BacklogValues) / BacklogMessages
	}
	if f.From.IsZero() {
		f.From = time.Date(2006, 3, 9, 0, 0, 0, 0, time.UTC)
	}
	return f
}

// Feed makes the products of a SHEF. It may be used by several goroutines.
type Feed struct {
	SHEF
	median float64
	stride int // of the permutation that distributes the sizes
}

// Feed checks the description and prepares it.
func (f SHEF) Feed() (*Feed, error) {
	f = f.withDefaults()
	bad := func(setting, problem, cure string) error {
		return &fault.Error{Setting: setting, Problem: problem, Cure: cure}
	}
	switch {
	case f.Messages < 1 || f.Messages > 100_000_000:
		return nil, bad("--messages", "is not between 1 and 100,000,000", "choose another number")
	case !(f.Mean >= 1 && f.Mean <= 5000):
		return nil, bad("--mean", "is not between 1 and 5000", "choose another number of values")
	case f.PerDay < 1 || f.PerDay > 10_000_000:
		return nil, bad("--per-day", "is not between 1 and 10,000,000", "choose another number of products")
	case f.Offices < 1 || f.Offices > 26*26*26:
		return nil, bad("--offices", "is not between 1 and 17,576", "choose another number")
	case f.Stations < 1 || f.Stations > 1000:
		return nil, bad("--stations-per-office", "is not between 1 and 1000", "choose another number")
	case f.Offices*f.Stations > stationNames:
		return nil, bad("--offices times --stations-per-office", "is more than 2,214,576: names of stations would repeat", "choose smaller numbers")
	case f.Messages/f.PerDay > maxFeedDays:
		problem := fmt.Sprintf("makes a feed of more than %d days: the years of SHEF dates have two digits", maxFeedDays)
		return nil, bad("--per-day", problem, "choose more products of a day, or fewer products")
	case f.From.Year() < 1950 || f.From.Year() > 2030:
		return nil, bad("--since", "is not between 1950 and 2030: the years of SHEF dates have two digits", "choose another day")
	}
	feed := &Feed{SHEF: f}
	feed.median = f.Mean / math.Exp(sizeSigma*sizeSigma/2)
	for range 20 { // correct the median, because the limit of sizes lowers the mean
		sum := 0.0
		const steps = 20_000
		for i := range steps {
			sum += feed.sizeAt((float64(i) + .5) / steps)
		}
		feed.median *= f.Mean / (sum / steps)
	}
	// A stride without a common divisor visits every size once.
	feed.stride = max(1, int(float64(f.Messages)*0.6180339887))
	for gcd(feed.stride, f.Messages) != 1 {
		feed.stride++
	}
	return feed, nil
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func (f *Feed) sizeAt(u float64) float64 {
	z := math.Sqrt2 * math.Erfinv(2*u-1)
	return min(max(1, math.Round(f.median*math.Exp(sizeSigma*z))), sizeLimit)
}

// Size is the number of values of product i, unless product i is a correction (see Make).
func (f *Feed) Size(i int) int {
	at := (i*f.stride + int(mix(f.Seed)%uint64(f.Messages))) % f.Messages
	return int(f.sizeAt((float64(at) + .5) / float64(f.Messages)))
}

// Issued is the time at which product i is issued, in Unix seconds.
func (f *Feed) Issued(i int) int64 {
	return f.From.Unix() + int64(float64(i)*86400/float64(f.PerDay))
}

// Now is the middle of the feed. A decoder derives the years and months of the products from it.
func (f *Feed) Now() time.Time { return time.Unix(f.Issued(f.Messages/2), 0).UTC() }

// stationNames is the number of names that Station can make: three letters, a digit and one of 14 letters.
const stationNames = 26 * 26 * 26 * 9 * 14

// Station names a station of an office.
func (f *Feed) Station(office, n int) (id record.ID) {
	n += office * f.Stations
	copy(id[:], fmt.Sprintf("%c%c%c%c%d", 'A'+n/(26*26)%26, 'A'+n/26%26, 'A'+n%26, "ACFGIKLMNOTUVW"[n/17576/9%14], 1+n/17576%9))
	return id
}

// office names an office.
func office(n int) string {
	return string([]byte{'A' + byte(n/676), 'A' + byte(n/26%26), 'A' + byte(n%26)})
}

// Message is a product: its text, and the values in it.
type Message struct {
	Number  int
	Text    []byte // with SOH, heading and ETX
	Heading string
	AWIPS   string
	Issued  int64
	Values  []record.Gauge
}

// corrections is the share of products that correct an earlier one.
const corrections = 0.05

// Make makes product i in m, and reuses its memory. A correction has the values of an earlier product, raised by 0.07,
// except missing values, traces and precipitation that stays 0. If the earlier product is a correction, too, Make takes
// the values that it would have if it were none.
func (f *Feed) Make(i int, m *Message) {
	source := rand.NewPCG(f.Seed, uint64(i))
	r := rand.New(source) //nolint:gosec // data, no secrets
	like, revised := i, r.Float64() < corrections && i > 0
	if revised {
		like = max(0, i-1-r.IntN(20*f.Offices))
		*source = *rand.NewPCG(f.Seed, uint64(like))
		r.Float64() // skip the draw that decided on a correction
	}
	w := writer{Feed: f, r: r, m: m, revised: revised, issued: f.Issued(like)}
	m.Number, m.Issued, m.Values, m.Text = i, f.Issued(i)/60*60, m.Values[:0], m.Text[:0]
	w.office = r.IntN(f.Offices)
	w.kind = r.Float64()
	kinds := []struct {
		below float64
		name  string
		write func(n int)
	}{{.55, "RR1", w.reports}, {.75, "RTP", w.tables}, {2, "RVF", w.series}}
	for _, k := range kinds {
		if w.kind >= k.below {
			continue
		}
		m.AWIPS = k.name + office(w.office)
		m.Heading = "SRUS" + fmt.Sprint(50+w.office%10) + " K" + office(w.office) + " " + time.Unix(m.Issued, 0).UTC().Format("021504")
		if revised {
			m.Heading += " CCA"
		}
		w.text("\x01\r\r\n", fmt.Sprintf("%03d ", i%1000), "\r\r\n", m.Heading, "\r\r\n", m.AWIPS, "\r\r\n\r\r\n")
		k.write(f.Size(like))
		break
	}
	w.text("\r\r\n\x03")
}

// Files divides the feed into files of the given number of products (at least 1). A file is named after the number of its
// first product.
func (f *Feed) Files(products int) []FileSpec {
	var out []FileSpec
	for first := 0; first < f.Messages; first += products {
		out = append(out, FileSpec{
			Path: fmt.Sprintf("shef/%08d.txt", first),
			Append: func(dst []byte) []byte {
				var m Message
				for i := first; i < min(first+products, f.Messages); i++ {
					f.Make(i, &m)
					dst = append(append(dst, m.Text...), '\n')
				}
				return dst
			},
		})
	}
	return out
}

// quantity is an observed or forecast parameter of a station.
type quantity struct {
	code     string // five characters
	duration int16
	low      float64 // of its values
	high     float64
}

var observed = [...]quantity{ //nolint:gochecknoglobals // a constant table
	{"HGIRG", 0, 1, 30},
	{"TAIRG", 0, -10, 95},
	{"PCIRG", 0, 0, 40},
	{"PPHRG", 1001, -.4, .6},
	{"QRIRG", 0, .05, 90},
	{"TWIRG", 0, 33, 80},
	{"SDIRG", 0, 0, 60},
	{"USIRG", 0, 0, 45},
}

var forecast = [...]quantity{{"HGIFF", 0, 1, 30}, {"QRIFF", 0, .05, 90}} //nolint:gochecknoglobals // a constant table

// writer writes one product.
type writer struct {
	*Feed
	r       *rand.Rand
	m       *Message
	revised bool
	issued  int64
	office  int
	kind    float64
}

func (w *writer) text(parts ...string) {
	for _, p := range parts {
		w.m.Text = append(w.m.Text, p...)
	}
}

// start writes the start of a message.
func (w *writer) start(format byte, id string, at time.Time) {
	w.m.Text = append(w.m.Text, '.', format)
	if w.revised {
		w.m.Text = append(w.m.Text, 'R')
	}
	w.m.Text = append(w.m.Text, ' ')
	w.text(id, at.Format(" 060102 Z DH1504"))
}

// gauge returns the value of a quantity, without a qualifier.
func (w *writer) gauge(id record.ID, q *quantity, at int64) record.Gauge {
	g := record.Gauge{Station: id, Quality: 'Z', Time: at, Created: record.NoTime, Duration: q.duration, Probability: -1, Revised: w.revised}
	copy(g.Code[:], q.code+"ZZ")
	key := fold(fold(mix(w.Seed), id.String()), q.code)
	x := .5 + .3*unit(mix(key)) + .2*wave(key, float64(at)/86400)
	hundredths := math.Round(100 * (q.low + (q.high-q.low)*x))
	if w.revised {
		hundredths += 7
	}
	if q.low < 0 && q.code[0] == 'P' {
		hundredths = max(hundredths, 0) // many values of precipitation are zero
	}
	g.Value = hundredths / 100
	return g
}

// add writes a value and adds it to the message. Some values are missing, traces or qualified.
func (w *writer) add(g record.Gauge) {
	hundredths := int64(math.Round(100 * g.Value))
	switch odd := w.r.IntN(1000); {
	case odd < 5:
		g.Value = record.NoValue
		w.text("M")
	case odd < 20 && g.Code[0] == 'P' && g.Code[1] == 'P':
		g.Value = .001
		w.text("T")
	default:
		if hundredths < 0 {
			hundredths = -hundredths
			w.text("-")
		}
		w.m.Text = fmt.Appendf(w.m.Text, "%d.%02d", hundredths/100, hundredths%100)
		if odd > 980 {
			g.Quality = "EFGV"[odd%4]
			w.m.Text = append(w.m.Text, g.Quality)
		}
	}
	w.m.Values = append(w.m.Values, g)
}

// reports writes n values as .A messages, one for each station and time, in backward
// steps of 15 minutes.
func (w *writer) reports(n int) {
	first, params := w.r.IntN(w.Stations), 2+w.r.IntN(len(observed)-2)
	from := w.r.IntN(len(observed) - params + 1)
	for k := 0; n > 0; k++ {
		id := w.Station(w.office, (first+k)%w.Stations)
		at := w.issued/900*900 - int64(k/w.Stations)*900
		if w.r.IntN(100) < 3 { // some stations report at irregular times
			at += 60 * int64(1+w.r.IntN(13))
		}
		w.start('A', id.String(), time.Unix(at, 0).UTC())
		for p := from; p < from+params && n > 0; p++ {
			w.text("/", observed[p].code, " ")
			w.add(w.gauge(id, &observed[p], at))
			n--
		}
		w.text("\r\r\n")
	}
}

// tables writes n values as .B messages, one for each hour, backward from the time of issue.
func (w *writer) tables(n int) {
	params := 1 + w.r.IntN(4)
	from := w.r.IntN(len(observed) - params + 1)
	source := "K" + office(w.office)
	var sender record.ID
	copy(sender[:], source)
	for hour := int64(0); n > 0; hour++ {
		at := w.issued/3600*3600 - hour*3600
		w.start('B', source, time.Unix(at, 0).UTC())
		for p := from; p < from+params; p++ {
			w.text("/", observed[p].code)
		}
		w.text("\r\r\n")
		for s := 0; s < w.Stations && n > 0; s++ {
			id := w.Station(w.office, s)
			w.text(id.String(), " ")
			for p := from; p < from+params && n > 0; p++ {
				if p > from {
					w.text("/ ")
				}
				g := w.gauge(id, &observed[p], at)
				g.Source = sender
				w.add(g)
				n--
			}
			w.text(" : ", strings.ToUpper(id.String()), " RIVER\r\r\n")
		}
		w.text(".END\r\r\n")
	}
}

// perMessage limits the values of a .E message, perLine those of a line.
const (
	perMessage = 96
	perLine    = 8
)

// series writes n values as .E messages: observations every 15 minutes before the
// time of issue, or forecasts every 6 hours after it.
func (w *writer) series(n int) {
	first := w.r.IntN(w.Stations)
	ahead := w.kind > .9
	for k := 0; n > 0; k++ {
		id := w.Station(w.office, (first+k)%w.Stations)
		count := min(n, perMessage, 12+4*w.r.IntN(22))
		n -= count
		q, step, interval := &observed[(k/w.Stations)%len(observed)], int64(900), "DIN15"
		at := w.issued/900*900 - int64(count-1)*step - 86400*int64(k/(w.Stations*len(observed)))
		created := int64(record.NoTime)
		if ahead {
			q, step, interval = &forecast[(k/w.Stations)%len(forecast)], 6*3600, "DIH6"
			created = w.issued / 3600 * 3600
			at = created + step*int64(1+k/(w.Stations*len(forecast)))
		}
		w.start('E', id.String(), time.Unix(at, 0).UTC())
		if ahead {
			w.text(time.Unix(created, 0).UTC().Format("/DC200601021504"))
		}
		w.text("/", q.code, "/", interval)
		for v := range count {
			if v%perLine == 0 && v > 0 {
				w.m.Text = append(w.m.Text, "\r\r\n.E"...)
				if w.revised {
					w.m.Text = append(w.m.Text, 'R')
				}
				w.m.Text = fmt.Append(w.m.Text, v/perLine)
				w.text(" ")
			}
			w.text("/")
			g := w.gauge(id, q, at+int64(v)*step)
			g.Created, g.Series = created, byte(1+min(v, 1))
			w.add(g)
		}
		w.text("\r\r\n")
	}
}
