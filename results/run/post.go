package run

import (
	"time"

	"github.com/barograph/barograph/results/measure"
)

// PostWorkload is the Workload of a run that posts SHEF values, with the tests of NOAA's 2006 report.
const PostWorkload = "post"

// PostCell is the cell of a test of NOAA's 2006 report, under a design, by a method. moreAxes are alternating names and
// values: posters, together (messages per transaction) and, for the live feed, the day.
func PostCell(engine, test, scenario, design, method string, moreAxes ...any) Cell {
	axes := []any{"test", test, "scenario", scenario, "design", design, "method", method}
	return NewCell(PostWorkload, engine, append(axes, moreAxes...)...)
}

// DecodeCounts counts the result of decoding all products once.
type DecodeCounts struct {
	Products int64 `json:"products"`
	Values   int64 `json:"values"`
	// values that could not be decoded; barograph shef decode --problems lists them
	Lost     int64 `json:"lost"`
	Errors   int64 `json:"errors"`
	Warnings int64 `json:"warnings"`
}

// Posting is the measurement of posting a set of SHEF products.
type Posting struct {
	Products int64     `json:"products"`
	Values   int64     `json:"values"`
	Parse    PostTimes `json:"parse"`
	Post     PostTimes `json:"post"`

	RowsRead     int64 `json:"rows_read"`
	RowsInserted int64 `json:"rows_inserted"` // −1 = not reported, likewise below
	RowsUpdated  int64 `json:"rows_updated"`  // of the test delete: the deleted rows
	Retries      int64 `json:"retries"`
	TableBytes   int64 `json:"table_bytes"`
	IndexBytes   int64 `json:"index_bytes"`
	DeadRows     int64 `json:"dead_rows"`
	// growth of the write-ahead log during the posting, including writes of other clients
	LogBytes int64 `json:"log_bytes"`

	// Live feed only: products that were more than one minute late on the feed's clock. The methods of the study count
	// from when a product was due to the start of its posting. The service counts to the commit, from the last moment at
	// which it can have noticed the file.
	Late       int64 `json:"late,omitempty"`
	Maintained bool  `json:"maintained,omitempty" old:"upkeep"` // the database was maintained after the posting
}

// PostTimes are times of products. The time of products that were posted together counts for each of them.
type PostTimes struct {
	Total time.Duration `json:"total_ns"`
	Latency
	Times measure.EncodedHistogram `json:"times,omitempty" table:"-"`
}

// Rate is values per second of posting, without parsing, as in NOAA's 2006 report.
func (p *Posting) Rate() float64 {
	if p.Post.Total <= 0 {
		return 0
	}
	return float64(p.Values) / p.Post.Total.Seconds()
}
