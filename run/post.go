package run

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
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
	Read     PostRead          `json:"read"`
	Cells    []PostCell        `json:"cells"`
	Days     []PostDay         `json:"days,omitempty"`
	Warnings []string          `json:"warnings,omitempty"`
}

// PostRead is what decoding came to, of the products once.
type PostRead struct {
	Products int64 `json:"products"`
	Values   int64 `json:"values"`
	Lost     int64 `json:"lost"` // not decoded; barograph shef decode --problems says which
	Errors   int64 `json:"errors"`
	Warnings int64 `json:"warnings"`
}

// PostCell is one measurement: a test of the report, under a design, by a
// method. What is not proven has no figures.
type PostCell struct {
	Test     string `json:"test"`     // once, quiet, noise, queue, delete, bloat
	Scenario string `json:"scenario"` // insert, update; of bloat, the round
	Design   string `json:"design"`
	Method   string `json:"method"`
	Posters  int    `json:"posters"`
	Together int    `json:"messages_together"` // messages in a transaction
	Digest   string `json:"digest"`            // of station, parameter, time and value of what is stored
	Proof    string `json:"proof"`             // what the digest was held against; "" = it differs

	*PostFigures
}

// PostFigures is what was measured of a posting.
type PostFigures struct {
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
}

// Rate is values a second of posting, as the report has it: parsing left out.
func (f *PostFigures) Rate() float64 {
	if f.Post.Total <= 0 {
		return 0
	}
	return float64(f.Values) / f.Post.Total.Seconds()
}

// PostProof says that tables hold what they must. Nothing but ProvePosts makes
// one that is valid.
type PostProof struct{ digest string }

// ProvePosts holds the digest of what tables hold against the reference's.
func ProvePosts(stored, reference string) PostProof {
	if stored != reference {
		return PostProof{}
	}
	return PostProof{stored}
}

// proofByReference is PostCell.Proof and PostDay.Proof.
const proofByReference = "reference"

// Add adds a cell: with its figures where it is proven, else without.
func (p *Posts) Add(c PostCell, f PostFigures, proof PostProof) {
	if c.Proof, c.PostFigures = "", nil; proof.digest != "" {
		c.Proof, c.Digest, c.PostFigures = proofByReference, proof.digest, &f
	}
	p.Cells = append(p.Cells, c)
}

// AddDays adds days of the live feed that one proof is of: without it they have
// no times.
func (p *Posts) AddDays(days []PostDay, proof PostProof) {
	for _, d := range days {
		if d.Proof = proofByReference; proof.digest == "" {
			d.Proof, d.Post, d.Late = "", PostTimes{}, 0
		}
		p.Days = append(p.Days, d)
	}
}

// Wrong reports whether something is not proven.
func (p *Posts) Wrong() bool {
	return slices.ContainsFunc(p.Cells, func(c PostCell) bool { return c.Proof == "" }) ||
		slices.ContainsFunc(p.Days, func(d PostDay) bool { return d.Proof == "" })
}

// strip takes what an older build, or another program, wrote without a proof.
func (p *Posts) strip() {
	days := p.Days
	p.Days = nil
	for _, d := range days {
		p.AddDays([]PostDay{d}, PostProof{d.Proof})
	}
	for i := range p.Cells {
		if c := &p.Cells[i]; c.Proof == "" || c.PostFigures == nil {
			c.Proof, c.PostFigures = "", nil
		}
	}
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
	Proof    string    `json:"proof"`  // what the tables were held against at the end of the phase; "" = they differ
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
	p.strip()
	return p, nil
}
