package river

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/internal/fault"
)

// Tokens are the settings of the poster. A site writes them into its file .Apps_defaults_site, where AWIPS
// calls them tokens. Start with DefaultTokens, because the zero value has no time window.
type Tokens struct {
	Past, Future time.Duration // shef_winpast, shef_winfuture
	Policy       posts.Policy  // shef_duplicate
	Unknown      string        // shef_post_unk: NONE, IDS_ONLY, IDS_AND_DATA
	KeepBad      bool          // shef_post_baddata = PE: bad values are posted, too
	ProcObs      bool          // shef_procobs: processed values are posted like observed ones
	Latest       string        // shef_post_latest: OFF, ON, VALID_ONLY, VALID_OR_MISSING
	Link         bool          // shef_post_link
	MaxForecast  bool          // shef_load_maxfcst: the highest forecasts are written into riverstatus
	Alarm        bool          // shef_alertalarm: values beyond alarm limits are written into alertalarmval
	LearnIngest  bool          // shef_load_ingest: the poster admits a series that ingestfilter lacks, and adds its row
	OldestBasis  time.Duration // basis_hours_filter: riverstatus ignores older forecasts
	StoreText    bool          // shef_storetext: texts are stored in textproduct

	Precipitation     bool           // gage_pp_enable: hourlypc, hourlypp and dailypp are filled
	PCWindow          time.Duration  // intpc: largest distance of a PC from the hour
	PPBefore, PPAfter time.Duration  // intlppp, intuppp: largest distance of an hourly PP before and after the hour
	SixHours          time.Duration  // intppq: largest distance of a PP of six hours from their end
	Daily             time.Duration  // ppp_ppd_local_7am_window: largest distance of a PP of a day from 12 UTC
	Zone              *time.Location // time zone of the 7 a.m. at which the period of a PPP starts
}

// DefaultTokens returns the defaults of AWIPS, except for the policy: it is that of SHEF's manual (5.1.6).
func DefaultTokens() Tokens {
	return Tokens{
		Past:        240 * time.Hour,
		Future:      30 * time.Minute,
		Policy:      posts.GoodStays,
		Unknown:     "NONE",
		Latest:      "OFF",
		OldestBasis: 72 * time.Hour,
		PCWindow:    10 * time.Minute,
		PPBefore:    10 * time.Minute,
		PPAfter:     10 * time.Minute,
		SixHours:    2 * time.Hour,
		Daily:       3 * time.Hour,
		Zone:        time.Local,
	}
}

// duplicates maps the values of shef_duplicate to policies.
func duplicates() map[string]posts.Policy {
	return map[string]posts.Policy{
		"ALWAYS_OVERWRITE":         posts.Overwrite,
		"USE_REVCODE":              posts.RevisedOnly,
		"IF_DIFFERENT":             posts.IfDifferent,
		"IF_DIFFERENT_OR_REVCODE":  posts.IfDifferentOrRevised,
		"IF_DIFFERENT_AND_REVCODE": posts.IfDifferent, // AWIPS's code ignores the revision, too
	}
}

// supportedTokens are the tokens that set reads.
const supportedTokens = "shef_winpast shef_winfuture shef_duplicate shef_post_unk shef_post_baddata shef_post_latest " +
	"shef_procobs shef_post_link shef_load_maxfcst basis_hours_filter shef_load_ingest shef_alertalarm shef_storetext " +
	"gage_pp_enable intpc intlppp intuppp intppq ppp_ppd_local_7am_window"

// ignoredTokens are other tokens of AWIPS's decoder, which have no effect here.
const ignoredTokens = "shef_post_precip shef_load_shefpe shef_perflog shef_data_log shef_out shef_in_dir shef_error_dir " +
	"shef_sleep"

// Read reads a file of tokens with lines "token : value # comment". It ignores the tokens of other programs. It returns
// an error for a token that requests an unsupported function, and calls report for one that seems misspelt.
func (t *Tokens) Read(r io.Reader, file string, report func(error)) error {
	lines, hasText, hasTokens := bufio.NewScanner(r), false, false
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		name, value, ok := strings.Cut(text, ":")
		name = strings.TrimSpace(name)
		if hasText = hasText || name != ""; !ok {
			continue
		}
		hasTokens = hasTokens || tokenName.MatchString(name)
		if problem, cure := t.set(name, strings.Trim(strings.TrimSpace(value), `"'`)); problem != "" {
			return &fault.Error{File: file, Line: n, Problem: name + " " + problem, Cure: cure}
		}
		if near := misspelt(name); near != "" {
			problem := name + " is not a token of the decoder, and is ignored"
			report(&fault.Error{File: file, Line: n, Problem: problem, Cure: "did you mean " + near + "?"})
		}
	}
	if hasText && !hasTokens && lines.Err() == nil {
		cure := "name a file like .Apps_defaults_site, with lines such as shef_winpast : 10"
		return &fault.Error{File: file, Problem: "has no line of tokens", Cure: cure}
	}
	return lines.Err()
}

// tokenName matches the name of a token.
var tokenName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*$`)

// misspelt returns the token that an unknown name may mean; "" = none. Files of AWIPS contain hundreds of
// other names.
func misspelt(name string) string {
	supported := strings.Fields(supportedTokens)
	if slices.Contains(supported, name) || slices.Contains(strings.Fields(ignoredTokens), name) {
		return ""
	}
	suffix, isSHEF := strings.CutPrefix(strings.ToLower(name), "shef_")
	if !isSHEF { // the name may be of another program: it must not differ by more than two letters at the end
		for _, token := range supported {
			difference := max(len(name)-len(token), len(token)-len(name))
			if (strings.HasPrefix(name, token) || strings.HasPrefix(token, name)) && difference <= 2 {
				return token
			}
		}
		return ""
	}
	var suffixes []string
	for _, token := range supported {
		if s, ok := strings.CutPrefix(token, "shef_"); ok {
			suffixes = append(suffixes, s)
		}
	}
	if near := fault.Nearest(suffix, suffixes); near != "" {
		return "shef_" + near
	}
	return ""
}

// set sets a token. It returns the problem of the value, and the cure; "" = none.
func (t *Tokens) set(name, value string) (problem, cure string) {
	upper := strings.ToUpper(value)
	word := func(out *string, allowed ...string) {
		problem, cure = strconv.Quote(value)+" is not known", "write one of "+strings.Join(allowed, ", ")
		for _, k := range allowed {
			if k == upper {
				*out, problem = upper, ""
			}
		}
	}
	toggle := func(out *bool) {
		var state string
		if word(&state, "ON", "OFF", ""); problem != "" {
			cure = "write ON or OFF"
		}
		*out = state == "ON"
	}
	number := func(out *time.Duration, unit time.Duration, unitName string) {
		n, err := strconv.Atoi(value)
		if *out = time.Duration(n) * unit; err != nil || n < 0 || n > int(math.MaxInt64/unit) {
			problem, cure = strconv.Quote(value)+" is no number", "write a number of "+unitName+", such as 10"
		}
	}
	window := func(out *time.Duration, limit time.Duration, unitName string) { // AWIPS reads intppq as a real number
		unit := map[string]time.Duration{"minutes": time.Minute, "hours": time.Hour}[unitName]
		n, err := strconv.ParseFloat(value, 64)
		if err != nil || !(n >= 0 && n <= float64(limit/unit)) {
			problem = strconv.Quote(value) + " is no window"
			cure = fmt.Sprintf("write a number of %s from 0 to %d", unitName, limit/unit)
			return
		}
		*out = time.Duration(n * float64(unit))
	}
	switch name {
	case "shef_winpast":
		number(&t.Past, 24*time.Hour, "days")
	case "shef_winfuture":
		number(&t.Future, time.Minute, "minutes")
	case "shef_duplicate":
		word(new(string), "ALWAYS_OVERWRITE", "USE_REVCODE", "IF_DIFFERENT", "IF_DIFFERENT_OR_REVCODE",
			"IF_DIFFERENT_AND_REVCODE")
		t.Policy = duplicates()[upper]
	case "shef_post_unk":
		word(&t.Unknown, "NONE", "IDS_ONLY", "IDS_AND_DATA")
	case "shef_post_baddata":
		word(new(string), "REJECT", "PE")
		t.KeepBad = upper == "PE"
	case "shef_post_latest":
		word(&t.Latest, "OFF", "ON", "VALID_ONLY", "VALID_OR_MISSING")
	case "shef_procobs":
		toggle(&t.ProcObs)
	case "shef_post_link":
		toggle(&t.Link)
	case "shef_load_maxfcst":
		toggle(&t.MaxForecast)
	case "shef_load_ingest":
		toggle(&t.LearnIngest)
	case "basis_hours_filter":
		number(&t.OldestBasis, time.Hour, "hours")
	case "shef_alertalarm":
		toggle(&t.Alarm)
	case "shef_storetext":
		toggle(&t.StoreText)
	case "gage_pp_enable":
		toggle(&t.Precipitation)
	case "intpc":
		window(&t.PCWindow, 30*time.Minute, "minutes")
	case "intlppp":
		window(&t.PPBefore, 30*time.Minute, "minutes")
	case "intuppp":
		window(&t.PPAfter, 30*time.Minute, "minutes")
	case "intppq":
		window(&t.SixHours, 3*time.Hour, "hours")
	case "ppp_ppd_local_7am_window":
		window(&t.Daily, 12*time.Hour, "hours")
	}
	return problem, cure
}
