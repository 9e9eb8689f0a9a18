package river

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/barograph/barograph/record"
)

// ingestRow is the row of ingestfilter that admits a series, as AWIPS makes it
// (shef_load_ingest): the first of its type-sources, for the second stage of
// precipitation where it is PC or PP.
func ingestRow(s series) string {
	stage2 := "F"
	if pe := string(s.pe[:]); pe == "PC" || pe == "PP" {
		stage2 = "T"
	}
	return fmt.Sprintf("ingestfilter (lid, pe, dur, ts, extremum, ts_rank, ingest, ofs_input, stg2_input) VALUES (%s, %s, %d, %s, %s, 1, 'T', 'F', '%s')",
		quote(s.lid.String()), quote(string(s.pe[:])), s.dur, quote(string(s.ts[:])), quote(string(s.ext)), stage2)
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// locationRow is the row of location that admits a station. A column that needs a value is a variable of psql.
func (r *reference) locationRow(lid string) string {
	columns, values := "lid, post", quote(lid)+", 1"
	for _, name := range r.required {
		columns += ", " + name
		values += ", :'" + name + "'"
	}
	return "location (" + columns + ") VALUES (" + values + ")"
}

// Unfilled are the tables that AWIPS fills and this poster, by its tokens, does not.
func (t *Tokens) Unfilled() []string {
	out := []string{"stnclass"}
	for table, filled := range map[string]bool{
		"riverstatus": t.MaxForecast, "alertalarmval": t.Alarm, "productlink": t.Link, "latestobsvalue": t.Latest != "OFF" && t.Latest != "",
		"hourlypp": t.Precipitation, "hourlypc": t.Precipitation, "dailypp": t.Precipitation, "textproduct": t.StoreText,
		"unkstn": t.Unknown != "NONE", "unkstnvalue": t.Unknown == "IDS_AND_DATA",
	} {
		if !filled {
			out = append(out, table)
		}
	}
	slices.Sort(out)
	return out
}

// Stranger is a series whose values the database keeps out.
type Stranger struct {
	Station    record.ID `json:"-"`
	Lid        string    `json:"lid"`
	PE         string    `json:"pe"`
	Duration   int16     `json:"dur"`
	TypeSource string    `json:"ts"`
	Extremum   string    `json:"ext"`
	Why        string    `json:"why"` // a Fate
	Values     int64     `json:"values"`
	FirstValue float64   `json:"first_value"`
	LastValue  float64   `json:"last_value"`
	First      time.Time `json:"first"` // time of the first observation
	Last       time.Time `json:"last"`
	Cure       string    `json:"cure"` // the SQL that admits it
}

// Strangers finds the series of products whose values the database keeps out, and what
// admits each. It posts nothing.
type Strangers struct {
	db   *IHFS
	seen map[series]*Stranger
}

// Strangers begins to look.
func (p *IHFS) Strangers() *Strangers {
	p.Tokens.LearnIngest = false // it would admit them
	return &Strangers{p, map[series]*Stranger{}}
}

// Look looks at a product's values.
func (x *Strangers) Look(p *Product) {
	one := &posting{IHFS: x.db, now: p.Issued, tables: map[string][]*row{}}
	for i := range p.Values {
		g := &p.Values[i]
		fate := new(Fate)
		if *fate = one.judge(p, g, fate); *fate != Unknown && *fate != Inactive && *fate != Filtered {
			continue
		}
		s := one.newRow(p, g, fate).series
		at := time.Unix(g.Time, 0).UTC()
		k := x.seen[s]
		if k == nil {
			k = &Stranger{Station: s.lid, Lid: s.lid.String(), PE: string(s.pe[:]), Duration: s.dur, TypeSource: string(s.ts[:]), Extremum: string(s.ext), Why: Fates()[*fate], First: at, FirstValue: g.Value}
			_, known := x.db.ref.ingest[s]
			switch {
			case *fate == Unknown:
				k.Cure = "INSERT INTO " + x.db.ref.locationRow(k.Lid) + "; "
			case *fate == Inactive:
				k.Cure = "UPDATE location SET post = 1 WHERE lid = " + quote(k.Lid) + "; "
			case known:
				k.Cure = fmt.Sprintf("UPDATE ingestfilter SET ingest = 'T' WHERE lid = %s AND pe = '%s' AND dur = %d AND ts = '%s' AND extremum = '%s'; ",
					quote(k.Lid), k.PE, k.Duration, k.TypeSource, k.Extremum)
			}
			if !known {
				k.Cure += "INSERT INTO " + ingestRow(s) + "; "
			}
			k.Cure = strings.TrimSpace(k.Cure)
			x.seen[s] = k
		}
		if k.Values++; at.Before(k.First) {
			k.First, k.FirstValue = at, g.Value
		}
		if !at.Before(k.Last) {
			k.Last, k.LastValue = at, g.Value
		}
	}
}

// All are the series that were found, those with the most values first.
func (x *Strangers) All() (out []*Stranger) {
	for _, k := range x.seen {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b *Stranger) int {
		return cmp.Or(cmp.Compare(b.Values, a.Values), strings.Compare(a.Lid, b.Lid), strings.Compare(a.Cure, b.Cure))
	})
	return out
}
