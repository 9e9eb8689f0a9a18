package run

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/answer"
	"github.com/barograph/barograph/fault"
	"github.com/barograph/barograph/measure"
)

// landedSamples reads a folder that a version before events.jsonl wrote. What its
// samples do not say of their proof follows from their workload.
func landedSamples(dir string, r *Run) (samples []Sample, err error) {
	switch r.Workload {
	case Mixed:
		samples, err = landedMixes(filepath.Join(dir, "points.json"), r.Started)
	case Scanned:
		samples, err = landedScans(filepath.Join(dir, "scan.json"), r)
	case Posted:
		samples, err = landedPosts(filepath.Join(dir, "post.json"))
	case "faults":
		samples, err = landedKills(filepath.Join(dir, "kills.json"))
	default:
		samples, err = landedAnswers(filepath.Join(dir, "results.csv"))
	}
	if errors.Is(err, os.ErrNotExist) {
		err = &fault.Error{File: dir, Problem: "has no samples", Err: err, Cure: "name a folder that barograph wrote"}
	}
	return samples, err
}

// landedMixes reads points.json of the workload ycsb, but for the histograms,
// without which it is not merged.
func landedMixes(path string, began time.Time) ([]Sample, error) {
	var points []struct {
		Mix, Engine, Layout, Shard string
		Threads                    int
		Target                     float64 `json:"target_ops_s"`
		Started                    time.Time
		Elapsed                    time.Duration `json:"elapsed_ns"`
		plainSample
		landedMix
		Used
	}
	if err := readJSON(path, &points); err != nil {
		return nil, err
	}
	var out []Sample
	for i := range points {
		p := &points[i]
		s := Sample(p.plainSample)
		s.Cell = MixCell(p.Engine, p.Layout, p.Mix, p.Threads, p.Target, p.Shard)
		if s.Verdict == Equal {
			s.Proof = answer.KeysAndCounts
			if s.Answers != nil && s.Answers.Values >= s.Answers.Found {
				s.Proof = answer.EveryValue
			}
			mix := Mix(p.landedMix)
			s.measured = &Measured{Start: p.Started.Sub(began), Total: p.Elapsed, Mix: &mix, Used: &p.Used}
		}
		out = append(out, s)
	}
	return out, nil
}

// landedPosts reads post.json of the workload post.
func landedPosts(path string) ([]Sample, error) {
	var p struct {
		Product string
		Cells   []struct {
			Test, Scenario, Design, Method, Digest, Proof string

			Posters  int
			Together int           `json:"messages_together"`
			Wall     time.Duration `json:"wall_ns"`
			CPU      time.Duration `json:"client_cpu_ns"`
			*Posting
		}
		Days []struct {
			Phase, Design, Method, Proof string

			Day time.Time
			Posting
		}
	}
	if err := readJSON(path, &p); err != nil {
		return nil, err
	}
	var out []Sample
	keep := func(c Cell, proof, digest string, m *Measured) {
		s := Sample{Cell: c, Rep: 1, Digest: digest, Verdict: Wrong, Problem: "what the tables hold differs from the reference"}
		if proof != "" && m.Posting != nil {
			s.Verdict, s.Problem, s.Proof, s.measured = Equal, "", answer.DigestAlone, m
		}
		out = append(out, s)
	}
	for _, c := range p.Cells {
		keep(PostCell(p.Product, c.Test, c.Scenario, c.Design, c.Method, "posters", c.Posters, "together", c.Together), c.Proof, c.Digest, &Measured{Total: c.Wall, CPU: c.CPU, Posting: c.Posting})
	}
	for i := range p.Days {
		d := &p.Days[i]
		keep(PostCell(p.Product, "live", d.Phase, d.Design, d.Method, "day", d.Day.Format(time.DateOnly)), d.Proof, "", &Measured{Posting: &d.Posting})
	}
	return out, nil
}

// landedScans reads the points of scan.json of the workload scan. One that was
// wrong takes the times of all of its cell.
func landedScans(path string, r *Run) ([]Sample, error) {
	var in struct {
		Points []struct {
			Config int `json:"configuration"`
			Query  string
			plainSample
			Used
			Server *measure.ProcessLoad
			Time   time.Duration `json:"time_ns"`
			CPU    time.Duration `json:"client_cpu_ns"`
		}
	}
	if err := readJSON(path, &in); err != nil {
		return nil, err
	}
	f := &Folder{}
	for i := range in.Points {
		p := &in.Points[i]
		s := Sample(p.plainSample)
		if p.Config >= 0 && p.Config < len(r.Scan.Configs) {
			s.Cell = r.ScanCell(p.Config, p.Query)
		}
		if s.Verdict == Equal {
			if p.Server != nil {
				p.Used.Server = &ServerLoad{Local: true, Used: *p.Server}
			}
			s.Proof, s.measured = answer.EveryValue, &Measured{Total: p.Time, CPU: p.CPU, Used: &p.Used}
		}
		if err := f.Add(s); err != nil {
			return nil, err
		}
	}
	return f.Samples(), nil
}

type landedMix Mix // its own name would hide that of the mix

// landedHead reads what stood at the head of post.json, before there was a
// run.json beside it.
func landedHead(dir string, r *Run) error {
	path := filepath.Join(dir, "scan.json")
	if err := readJSON(path, r); !errors.Is(err, os.ErrNotExist) {
		r.Scan, r.Archives = &Scan{}, make([]Archive, 1)
		err = errors.Join(err, readJSON(path, r.Scan), readJSON(path, &r.Archives[0]))
		r.ID, r.Workload, r.Ended = filepath.Base(dir), Scanned, r.Started
		return err
	}
	var p struct {
		Feed, Product, Version string

		Settings map[string]string
		Read     Decoded
		*Run
	}
	p.Run = r
	err := readJSON(filepath.Join(dir, "post.json"), &p)
	r.ID, r.Workload, r.Ended, r.Data.Source, r.Data.Decoded = filepath.Base(dir), Posted, r.Started, p.Feed, &p.Read
	r.Archives = []Archive{{Engine: p.Product, Product: p.Product, Version: p.Version, Settings: p.Settings}}
	return err
}

// landedAnswers reads results.csv of the workload met.
func landedAnswers(path string) ([]Sample, error) {
	text, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer text.Close() //nolint:errcheck // nothing was written
	in := csv.NewReader(text)
	in.FieldsPerRecord = 18
	rows, err := in.ReadAll()
	if err != nil {
		return nil, &fault.Error{File: path, Err: err}
	}
	var out []Sample
	for line, row := range rows[min(1, len(rows)):] {
		n := func(i int) int64 {
			v, e := strconv.ParseInt(row[i], 10, 64)
			err = errors.Join(err, e)
			return v
		}
		s := Sample{Cell: AnswerCell(row[0], row[1], row[2], row[3]), Phase: Phase(row[4]), Rep: int(n(5)), Verdict: Verdict(row[6]), Problem: row[7], Rows: int(n(14)), Digest: row[17]}
		m := &Measured{Start: time.Duration(n(8)), First: time.Duration(n(9)), Total: time.Duration(n(10)), Inside: time.Duration(n(11)), CPU: time.Duration(n(12)), Derive: time.Duration(n(13)), Bytes: n(15), Keys: int(n(16))}
		if err != nil {
			return nil, &fault.Error{File: path, Line: line + 2, Err: err}
		}
		if s.Verdict == Equal {
			if s.Proof = answer.EveryValue; s.Phase == Cold {
				s.Proof = answer.DigestAlone
			}
			if m.Total > 0 {
				s.measured = m
			}
		}
		out = append(out, s)
	}
	return out, nil
}

// landedKills reads kills.json of the workload faults.
func landedKills(path string) ([]Sample, error) {
	var kills []struct {
		Engine, Design, During, Problem string
		Kill
		Back      time.Duration `json:"back_ns"`
		Recovered time.Duration `json:"recovered_ns"`
		Silence   time.Duration `json:"silence_ns"`
	}
	if err := readJSON(path, &kills); err != nil {
		return nil, err
	}
	var out []Sample
	for i := range kills {
		k := &kills[i]
		s := Sample{Cell: NewCell("faults", k.Engine, "design", k.Design, "during", k.During), Rep: i + 1, Verdict: Equal, Proof: answer.EveryValue, Kill: &k.Kill}
		if k.During == DuringLoad {
			s.Proof = answer.DigestAlone
		}
		if s.measured = (&Measured{Total: k.Back, Recovered: k.Recovered, Silence: k.Silence}); k.Problem != "" {
			s.Verdict, s.Problem, s.Proof, s.measured = Wrong, k.Problem, "", nil
		}
		out = append(out, s)
	}
	return out, nil
}

// landedPlan is the cell of a plan whose file does not have it as one; of the
// oldest it is read from the name, in which only the case may contain points.
func landedPlan(base string) Cell {
	var in struct{ Engine, Design, Case, Flavour string }
	if text, err := os.ReadFile(base + ".json"); err == nil && json.Unmarshal(text, &in) == nil && in.Engine != "" {
		return AnswerCell(in.Engine, in.Design, in.Case, in.Flavour)
	}
	parts := strings.Split(filepath.Base(base), ".")
	if len(parts) < 4 {
		return Cell{}
	}
	n := len(parts) - 3
	return AnswerCell(parts[n], parts[n+1], strings.Join(parts[:n], "."), parts[n+2])
}
