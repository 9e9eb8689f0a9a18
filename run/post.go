package run

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"barograph/fault"
	"barograph/measure"
)

// PostFile is the file of a run of the workload post.
const PostFile = "post.json"

// Posts is a run of the workload post: what was posted into which tables, how
// long it took, and what proves that the tables hold it.
type Posts struct {
	Started  time.Time         `json:"started"`
	Args     []string          `json:"args"`
	Seed     uint64            `json:"seed"`
	Feed     string            `json:"feed"` // in words
	Policy   string            `json:"policy"`
	Product  string            `json:"product"` // of the engine
	Version  string            `json:"version"`
	Settings map[string]string `json:"settings"`
	Machine  measure.Machine   `json:"machine"`
	Cells    []PostCell        `json:"cells"`
	Days     []PostDay         `json:"days,omitempty"`
	Warnings []string          `json:"warnings,omitempty"`
}

// PostCell is one measurement: a test of the report, under a design, by a method.
type PostCell struct {
	Test     string `json:"test"`     // quiet, noise, queue, live, delete, bloat
	Scenario string `json:"scenario"` // insert, update; of bloat and live, the round
	Design   string `json:"design"`
	Method   string `json:"method"`
	Posters  int    `json:"posters"`
	Together int    `json:"messages_together"` // messages in a transaction

	Products int64         `json:"products"`
	Values   int64         `json:"values"`
	Wall     time.Duration `json:"wall_ns"`
	Parse    PostTimes     `json:"parse"`
	Post     PostTimes     `json:"post"`

	RowsRead     int64 `json:"rows_read"`
	RowsInserted int64 `json:"rows_inserted"` // −1 = not told, as below
	RowsUpdated  int64 `json:"rows_updated"`
	Retries      int64 `json:"retries"`
	TableBytes   int64 `json:"table_bytes"`
	IndexBytes   int64 `json:"index_bytes"`
	DeadRows     int64 `json:"dead_rows"`
	LogBytes     int64 `json:"log_bytes"` // of the write-ahead log, written meanwhile, by others too

	ClientCPU time.Duration `json:"client_cpu_ns"`
	Digest    string        `json:"digest"` // of station, parameter, time and value of what is stored
	Proof     string        `json:"proof"`  // what the digest was held against; "" = nothing
	Wrong     bool          `json:"wrong,omitempty"`
}

// Rate is values a second of posting, as the report has it: parsing left out.
func (c *PostCell) Rate() float64 {
	if c.Post.Total <= 0 {
		return 0
	}
	return float64(c.Values) / c.Post.Total.Seconds()
}

// PostTimes are times of products. Of products that were posted together each
// has the time of all.
type PostTimes struct {
	Total time.Duration `json:"total_ns"`
	Mean  time.Duration `json:"mean_ns"` // total over products
	measure.Percentiles
	Buckets []measure.Bucket `json:"buckets,omitempty"`
}

// PostDay is a day of the live feed.
type PostDay struct {
	Phase    string    `json:"phase"` // maintenance on, off, after a full vacuum
	Day      time.Time `json:"day"`
	Design   string    `json:"design"`
	Method   string    `json:"method"`
	Products int64     `json:"products"`
	Values   int64     `json:"values"`
	Post     PostTimes `json:"post"`
	Late     int64     `json:"late"`   // products that were begun more than a minute of the feed's time after their time
	Upkeep   bool      `json:"upkeep"` // maintenance followed
}

// Rate is values a second of posting.
func (d *PostDay) Rate() float64 {
	if d.Post.Total <= 0 {
		return 0
	}
	return float64(d.Values) / d.Post.Total.Seconds()
}

// Save writes the run into a folder, which is made.
func (p *Posts) Save(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return writeJSON(dir, PostFile, p)
}

// ReadPosts reads a run of the workload post.
func ReadPosts(dir string) (*Posts, error) {
	path := filepath.Join(dir, PostFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	p := &Posts{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, &fault.Error{File: path, Err: err}
	}
	return p, nil
}
