package run

import (
	"time"

	"github.com/barograph/barograph/measure"
)

// Posted is the Workload of a run that posts SHEF values.
const Posted = "post"

// PostCell is a test of the report of 2006, under a design, by a method. What is
// beside these: posters, together (messages in a transaction); of the live feed the day.
func PostCell(engine, test, scenario, design, method string, more ...any) Cell {
	return NewCell(Posted, engine, append([]any{"test", test, "scenario", scenario, "design", design, "method", method}, more...)...)
}

// Decoded is what decoding came to, of the products once.
type Decoded struct {
	Products int64 `json:"products"`
	Values   int64 `json:"values"`
	Lost     int64 `json:"lost"` // not decoded; barograph shef decode --problems says which
	Errors   int64 `json:"errors"`
	Warnings int64 `json:"warnings"`
}

// Posting is what was measured of a posting.
type Posting struct {
	Products int64     `json:"products"`
	Values   int64     `json:"values"`
	Parse    PostTimes `json:"parse"`
	Post     PostTimes `json:"post"`

	RowsRead     int64 `json:"rows_read"`
	RowsInserted int64 `json:"rows_inserted"` // −1 = not told, as below
	RowsUpdated  int64 `json:"rows_updated"`
	Retries      int64 `json:"retries"`
	TableBytes   int64 `json:"table_bytes"`
	IndexBytes   int64 `json:"index_bytes"`
	DeadRows     int64 `json:"dead_rows"`
	LogBytes     int64 `json:"log_bytes"` // of the write-ahead log, written meanwhile, by others too

	Late   int64 `json:"late,omitempty"`   // products of a day of the live feed that were begun more than a minute of the feed's time after their time
	Upkeep bool  `json:"upkeep,omitempty"` // maintenance followed
}

// PostTimes are times of products. Of products that were posted together each
// has the time of all.
type PostTimes struct {
	Total time.Duration `json:"total_ns"`
	Latency
	Times measure.Packed `json:"times,omitempty" table:"-"`
}

// Rate is values a second of posting, as the report has it: parsing left out.
func (f *Posting) Rate() float64 {
	if f.Post.Total <= 0 {
		return 0
	}
	return float64(f.Values) / f.Post.Total.Seconds()
}
