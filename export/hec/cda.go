package hec

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/record"
)

// Aliases name series by LID.PE.TSE.DURATION, as CWMS has them in its group
// "SHEF Data Acquisition", and files of criteria:
//
//	KEYO2.HP.RZZ.0=KEYO2.Elev.Inst.1Hour.0.Raw;Units=ft
type Aliases struct {
	Versions bool // forecasts are kept by when they were made
	Office   string

	series map[string]Where
}

// ReadAliases reads a file of aliases, one a line; # begins a comment.
func ReadAliases(name string) (*Aliases, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	a := &Aliases{series: map[string]Where{}}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\uFEFF"))
		if line == "" || line[0] == '#' {
			continue
		}
		if err := a.add(line); err != nil {
			return nil, &fault.Error{File: name, Line: n, Problem: "is no alias", Err: err, Cure: "write such as KEYO2.HP.RZZ.0=KEYO2.Elev.Inst.1Hour.0.Raw;Units=ft"}
		}
	}
	return a, lines.Err()
}

// add reads an alias. Its options stand behind the alias or behind the series.
func (a *Aliases) add(line string) error {
	before, series, ok := aliased(line)
	alias, more, _ := strings.Cut(before, ":")
	parts := strings.Split(strings.TrimSpace(alias), ".")
	series, options, _ := strings.Cut(strings.TrimSpace(series), ";")
	options += ";" + more
	words := strings.Split(series, ".")
	if !ok || len(parts) != 4 || len(parts[1]) != 2 || len(parts[2]) != 3 || len(words) != 6 {
		return errors.New("not LID.PE.TSE.DURATION=Location.Parameter.Type.Interval.Duration.Version")
	}
	if _, err := strconv.ParseInt(parts[3], 10, 16); err != nil {
		return err
	}
	w := Where{Name: series, Type: words[2], Step: cwmsStep(words[3]), Version: record.NoTime}
	for option := range strings.SplitSeq(options, ";") {
		switch name, value, _ := strings.Cut(option, "="); name {
		case "Units":
			w.Unit = value
		case "", "TZ", "DLTime": // times are UTC here, whatever a message had
		default:
			return fmt.Errorf("option %q is not known", name)
		}
	}
	a.series[strings.Join(parts, ".")] = w
	return nil
}

// aliased parts an alias and its series: at the = before the word of six parts, as
// options have one too.
func aliased(line string) (alias, series string, ok bool) {
	for at := 0; at < len(line); at++ {
		if line[at] != '=' {
			continue
		}
		word, _, _ := strings.Cut(line[at+1:], ";")
		if strings.Count(word, ".") == 5 && !strings.Contains(word, "=") {
			return line[:at], line[at+1:], true
		}
	}
	return line, "", false
}

// cwmsStep is CWMS's interval in seconds: "6Hours"; 0 and ~ are irregular.
func cwmsStep(interval string) int64 {
	digits := strings.TrimRight(interval, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0
	}
	return n * map[string]int64{"Minute": 60, "Hour": 3600, "Day": 86400, "Week": week}[strings.TrimSuffix(interval[len(digits):], "s")]
}

// Of finds the alias of a value.
func (a *Aliases) Of(g *record.Gauge) (Where, float64, error) {
	name := fmt.Sprintf("%s.%s.%s.%d", g.Station, g.Code.PE(), g.Code[3:6], g.Duration)
	w, ok := a.series[name]
	if !ok {
		return w, 0, fmt.Errorf("%s is no alias", name)
	}
	w.Office, w.Unit = a.Office, cmp.Or(w.Unit, ofManual(g.Code.PE()).unit)
	if a.Versions && g.Code[3] == 'F' {
		w.Version = g.Created
	}
	return w, g.Value, nil
}

// CDA is a CWMS Data API.
type CDA struct {
	URL       string // such as https://cwms-data.usace.army.mil/cwms-data
	Key       string
	StoreRule string // "" = REPLACE WITH NON MISSING
	Attempts  int    // of a request that the server cannot take at the moment; 0 = 5
	Wait      time.Duration
}

const (
	chunk       = 1344 // values of a request, as cwms-python has it
	connections = 10
)

// body is a request of POST /timeseries, version 2.
type body struct {
	Name    string  `json:"name"`
	Office  string  `json:"office-id"`
	Unit    string  `json:"units"`
	Version string  `json:"version-date,omitempty"`
	Values  [][]any `json:"values"` // milliseconds, value or null, quality
}

// StoreCDA sends what was collected to a CWMS Data API, a series after the other
// in requests of at most 1,344 values, ten at once; regular series are cut at
// their gaps. What the server refuses is told and left out; what it cannot take
// now is sent again.
func (c *Collection) StoreCDA(ctx context.Context, api CDA) error {
	target, err := url.Parse(api.URL)
	if err != nil || target.Host == "" {
		return &fault.Error{Setting: "--out " + fault.Redact(api.URL), Problem: "is no URL of a CWMS Data API", Cure: "write such as https://cwms-data.usace.army.mil/cwms-data"}
	}
	target = target.JoinPath("timeseries")
	target.RawQuery = url.Values{"store-rule": {cmp.Or(api.StoreRule, "REPLACE WITH NON MISSING")}, "override-protection": {"false"}}.Encode()
	var lock sync.Mutex
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(connections)
	for _, s := range c.settled() {
		stored := false
		for _, points := range requests(s) {
			work.Go(func() error {
				err := api.post(ctx, target.String(), s, points)
				lock.Lock()
				defer lock.Unlock()
				if r, refused := errors.AsType[*refusal](err); err != nil && (!refused || r.key) {
					return err
				} else if refused {
					c.Refused += len(points)
					c.Told(&fault.Error{Setting: s.Name, Problem: fmt.Sprintf("%d values are not stored", len(points)), Err: err})
					return nil
				}
				c.Stored += len(points)
				if !stored {
					stored = true
					c.Series++
				}
				return nil
			})
		}
	}
	return work.Wait()
}

// requests parts a series.
func requests(s *Series) (out [][]Point) {
	from := 0
	for i := 1; i <= len(s.Points); i++ {
		if i == len(s.Points) || i-from == chunk || s.Step > 0 && s.Points[i].Time != s.Points[i-1].Time+s.Step {
			out = append(out, s.Points[from:i])
			from = i
		}
	}
	return out
}

// refusal is an answer that will not change; of the key, it is so for all.
type refusal struct {
	error
	key bool
}

// post sends a request until it is stored or refused.
func (a *CDA) post(ctx context.Context, target string, s *Series, points []Point) error {
	b := body{Name: s.Name, Office: s.Office, Unit: s.Unit, Values: make([][]any, len(points))}
	if s.Version != record.NoTime {
		b.Version = time.Unix(s.Version, 0).UTC().Format("2006-01-02T15:04:05+0000[UTC]")
	}
	for i, p := range points {
		value := any(p.Value)
		if p.Missing {
			value = nil
		}
		b.Values[i] = []any{p.Time * 1000, value, quality(p)}
	}
	text, err := json.Marshal(&b)
	if err != nil {
		return err
	}
	wait := cmp.Or(a.Wait, time.Second)
	for attempt := 1; ; attempt++ {
		err := a.once(ctx, target, text)
		if _, refused := errors.AsType[*refusal](err); err == nil || refused || ctx.Err() != nil {
			return err
		}
		if attempt == cmp.Or(a.Attempts, 5) {
			return &fault.Error{Setting: "--out " + fault.Redact(a.URL), Problem: fmt.Sprintf("did not take the values of %s, %d times", s.Name, attempt), Err: err, Cure: "run it again when it answers: what is stored already stays the same"}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		wait *= 2
	}
}

func (a *CDA) once(ctx context.Context, target string, text []byte) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json;version=2")
	if a.Key != "" {
		request.Header.Set("Authorization", "apikey "+a.Key)
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer reply.Body.Close() //nolint:errcheck // it was read
	said, _ := io.ReadAll(io.LimitReader(reply.Body, 300))
	answer := strings.TrimSpace(reply.Status + ": " + string(said))
	if a.Key != "" {
		answer = strings.ReplaceAll(answer, a.Key, "xxxxx")
	}
	switch {
	case reply.StatusCode < 300:
		return nil
	case reply.StatusCode == http.StatusTooManyRequests || reply.StatusCode == http.StatusRequestTimeout || reply.StatusCode >= 500:
		return errors.New(answer)
	case reply.StatusCode == http.StatusUnauthorized || reply.StatusCode == http.StatusForbidden: // and so of all others
		return &refusal{&fault.Error{Setting: "--out " + fault.Redact(a.URL), Problem: "refuses the key", Err: errors.New(answer), Cure: "give a key that may write with --key-file"}, true}
	}
	return &refusal{errors.New(answer), false}
}

// quality is CWMS's code of a qualifier: screened, and missing, okay,
// questionable or rejected; 0 where nobody looked.
func quality(p Point) int {
	const screened, okay, missing, questionable, rejected = 1, 2, 4, 8, 16
	switch {
	case p.Missing:
		return screened | missing
	case strings.IndexByte("GMSVP", p.Quality) >= 0:
		return screened | okay
	case p.Quality == 'Q' || p.Quality == 'F':
		return screened | questionable
	case p.Quality == 'R' || p.Quality == 'B':
		return screened | rejected
	}
	return 0
}
