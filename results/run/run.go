package run

import (
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/measure"
)

// Run is run.json. It grows by fields; a field is never given another meaning.
type Run struct {
	ID       string    `json:"id"`       // folder name: 20261120-235959-met
	Workload string    `json:"workload"` // "met"
	Version  string    `json:"barograph_version"`
	Args     []string  `json:"args"` // the command line, passwords replaced
	Seed     uint64    `json:"seed"`
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended"` // zero where the run was interrupted

	Machine measure.Machine    `json:"machine"`
	Client  measure.ClientLoad `json:"client"`

	Data     Data         `json:"data"`
	Policy   string       `json:"policy,omitempty"`  // of posting: what becomes of a value whose key is taken
	Archives []Archive    `json:"archives"`          // in the order of the tables
	Skipped  []fault.Skip `json:"skipped,omitempty"` // engines of the default set that are not installed
	Scan     *Scan        `json:"scan,omitempty"`    // of the workload scan
	Own      *Own         `json:"own,omitempty"`     // of the workload own
	Lake     *Lake        `json:"lake,omitempty"`    // of the workload lake
	Cases    []Case       `json:"cases"`             // likewise

	Reps     int      `json:"repetitions"`                   // timed repetitions of each cell, warm
	Planned  int      `json:"repetitions_planned,omitempty"` // that were asked for; 0 = not recorded
	Warmups  int      `json:"warmups"`                       // repetitions before, not in the results
	ColdHow  string   `json:"cold_how,omitempty"`            // how a cold start was made; empty = none was measured
	Warnings []string `json:"warnings,omitempty"`
	Findings []string `json:"findings,omitempty"` // what the run itself looked for and found, in words
}

// Data says what was loaded.
type Data struct {
	Source      string           `json:"source"`          // "preset seed, seed 1", or the paths
	Paths       []string         `json:"paths,omitempty"` // of files and folders that can be loaded again
	Subset      string           `json:"subset"`
	Copies      int              `json:"copies,omitempty"` // of the data in every archive, under other subset names; 0 = 1
	Files       int              `json:"files"`
	Bytes       int64            `json:"bytes"`
	Lines       int64            `json:"lines"`       // read
	Records     int64            `json:"records"`     // distinct
	Quarantined int64            `json:"quarantined"` // lines
	ByType      map[string]int64 `json:"records_by_line_type"`
	Digest      string           `json:"digest"`            // of all records; every archive must have it
	Decoded     *Decoded         `json:"decoded,omitempty"` // of SHEF products
}

// Archive is one engine under one design, and what loading it cost.
type Archive struct {
	Engine   string            `json:"engine"` // scheme
	Design   string            `json:"design"`
	URL      string            `json:"url"`   // redacted
	Place    string            `json:"place"` // embedded, server, memory
	Product  string            `json:"product"`
	Version  string            `json:"version"`
	Settings map[string]string `json:"settings,omitempty"`
	Server   *Server           `json:"server,omitempty"` // nil = no server, or none that this machine's lab started
	Licence  string            `json:"licence,omitempty"`
	Install  string            `json:"install,omitempty"`  // the packages of its server
	Unranked string            `json:"unranked,omitempty"` // why its times are shown but stand in no ranking

	Acknowledged string `json:"acknowledged,omitempty"` // what has become of a write that is acknowledged, in words; "" = the server does not tell

	Table *Table `json:"table,omitempty"` // of records under keys; nil = the engine describes none

	Load    time.Duration `json:"load_ns"` // from the first record, parsed before where the data fit into memory, to the last durable commit; 0 = it was loaded before this run
	Commits int           `json:"load_commits"`
	Bytes   int64         `json:"bytes_on_disk"`
	Objects int64         `json:"objects"`
	Object  string        `json:"object"` // documents, pairs, rows
	Digest  string        `json:"digest"` // of what the archive holds
	Whole   bool          `json:"whole"`  // the digest is that of the data; an archive that is not whole is not timed
	Problem string        `json:"problem,omitempty"`
}

// Table is the table that a mix of operations was run on.
type Table struct {
	Name   string `json:"name"`
	Schema string `json:"schema,omitempty"`     // that it has for itself; "" = the usual one
	File   string `json:"ddl_file,omitempty"`   // of the user's script that made it; "" = Barograph made it, or nobody knows
	Digest string `json:"ddl_sha256,omitempty"` // of the script
	DDL    string `json:"ddl,omitempty"`
	Form   string `json:"described,omitempty"` // the table as the server described it before the run, in SQL
}

// Server is what the lab knows of a server that it started.
type Server struct {
	Nodes    int               `json:"nodes"`
	Profile  string            `json:"profile"`            // of settings
	Settings map[string]string `json:"settings,omitempty"` // that the profile changes
	Memory   int64             `json:"memory"`             // bytes that the profile counts on for a node

	// Isolation is nil where the nodes are processes on loopback that share the
	// machine and its network.
	Isolation *Isolation `json:"isolation,omitempty"`
}

// Isolation is what keeps the nodes of a server apart, each in a network
// namespace and a control group; 0 = no limit.
type Isolation struct {
	CPUs    float64       `json:"cpus"`       // cores of a node
	Memory  int64         `json:"memory"`     // bytes of a node
	Latency time.Duration `json:"latency_ns"` // added to each packet that a node sends
}

// Case is one question of the run.
type Case struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	LineType string   `json:"line_type"`
	Rows     int      `json:"rows"`  // of the reference
	Bytes    int64    `json:"bytes"` // of the reference, in canonical types
	Digest   string   `json:"digest"`
	Columns  []string `json:"columns"`
	Weight   int      `json:"weight"` // how often it is asked beside the others; 0, of earlier versions, is 1
}
