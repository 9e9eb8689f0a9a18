package run

import (
	"time"

	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/results/measure"
)

// Run is run.json. Fields may be added, but no field ever changes its meaning.
type Run struct {
	ID       string    `json:"id"`       // folder name: 20261120-235959-met
	Workload string    `json:"workload"` // "met"
	Version  string    `json:"barograph_version"`
	Args     []string  `json:"args"` // the command line, without passwords
	Seed     uint64    `json:"seed"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished" old:"ended"` // zero if the run was interrupted

	Machine measure.Machine    `json:"machine"`
	Client  measure.ClientLoad `json:"client"`

	Data     Data         `json:"data"`
	Policy   string       `json:"policy,omitempty"`  // post only: what happens to a value whose key exists
	Archives []Archive    `json:"archives"`          // in the order of the report's tables
	Skipped  []fault.Skip `json:"skipped,omitempty"` // engines of the default set that are not installed
	Scan     *Scan        `json:"scan,omitempty"`    // scan only
	Own      *Own         `json:"own,omitempty"`     // own only
	Lake     *Lake        `json:"lake,omitempty"`    // lake only
	Cases    []Case       `json:"cases"`             // in the order of the report's tables

	Reps        int `json:"repetitions"`                   // timed warm repetitions of each cell
	PlannedReps int `json:"repetitions_planned,omitempty"` // requested repetitions; 0 = not recorded
	// repetitions of each cell before the timed ones; they are not in the results
	Warmups int `json:"warmups"`
	// how cold starts were made; empty = none was measured
	ColdMethod string   `json:"cold_method,omitempty" old:"cold_how"`
	Warnings   []string `json:"warnings,omitempty"`
	Findings   []string `json:"findings,omitempty"` // sentences about what the run itself detected
}

// Data describes the loaded data.
type Data struct {
	Source string   `json:"source"`          // "preset seed, seed 1", or the paths
	Paths  []string `json:"paths,omitempty"` // files and folders that can be loaded again
	Subset string   `json:"subset"`
	// copies of the data in every archive, under other subset names; 0 = 1
	Copies      int              `json:"copies,omitempty"`
	Files       int              `json:"files"`
	Bytes       int64            `json:"bytes"`
	Lines       int64            `json:"lines"`       // data lines read
	Records     int64            `json:"records"`     // distinct records
	Quarantined int64            `json:"quarantined"` // lines that could not be read
	ByType      map[string]int64 `json:"records_by_line_type"`
	Digest      string           `json:"digest"`            // digest of all records; every archive must have it
	Decoded     *DecodeCounts    `json:"decoded,omitempty"` // SHEF products only
}

// Archive is one engine under one design, with the costs of its load.
type Archive struct {
	Engine   string            `json:"engine"` // scheme
	Design   string            `json:"design"`
	URL      string            `json:"url"`   // redacted
	Place    string            `json:"place"` // embedded, server, memory
	Product  string            `json:"product"`
	Version  string            `json:"version"`
	Settings map[string]string `json:"settings,omitempty"`
	// nil = no server, or one that the lab of this machine did not start
	Server   *Server `json:"server,omitempty"`
	License  string  `json:"license,omitempty" old:"licence"`
	Install  string  `json:"install,omitempty"`  // the packages of its server
	Unranked string  `json:"unranked,omitempty"` // why reports show its times but do not rank it

	// what an acknowledged write guarantees, in words; "" = the server does not report it
	Acknowledged string `json:"acknowledged,omitempty"`

	Table *Table `json:"table,omitempty"` // the table of key-value records; nil = the engine does not describe it

	// Load is the time from the call to the last durable commit. It excludes parsing if the data fit into memory,
	// because they were then parsed before the load. 0 = the archive was loaded before this run.
	Load       time.Duration `json:"load_ns"`
	Commits    int           `json:"load_commits"`
	Bytes      int64         `json:"bytes_on_disk"`
	Objects    int64         `json:"objects"`
	ObjectKind string        `json:"object"` // documents, pairs, rows
	Digest     string        `json:"digest"` // digest of the archive's records
	// Complete reports whether Digest equals the digest of the data. Queries of an incomplete archive are not timed.
	Complete bool   `json:"complete" old:"whole"`
	Problem  string `json:"problem,omitempty"`
}

// Table describes the table on which a mix of operations runs.
type Table struct {
	Name string `json:"name"`
	// a schema that Barograph created for this table; "" = the default schema
	Schema string `json:"schema,omitempty"`
	// the user's script that created the table; "" = Barograph created it, or its origin is not known
	DDLFile   string `json:"ddl_file,omitempty"`
	DDLDigest string `json:"ddl_sha256,omitempty"` // of the script
	DDL       string `json:"ddl,omitempty"`
	// the definition of the table as the server reports it before the run, in SQL
	Definition string `json:"definition,omitempty" old:"described"`
}

// Server describes a server that the lab started.
type Server struct {
	Nodes    int               `json:"nodes"`
	Profile  string            `json:"profile"`            // name of the settings profile
	Settings map[string]string `json:"settings,omitempty"` // settings that the profile changes
	Memory   int64             `json:"memory"`             // bytes per node for which the profile is designed

	// Isolation is nil if the nodes are processes on loopback that share the machine and its network.
	Isolation *Isolation `json:"isolation,omitempty"`
}

// Isolation separates the nodes of a server, each in a network namespace and a control group; 0 =
// no limit.
type Isolation struct {
	CPUs    float64       `json:"cpus"`       // cores per node
	Memory  int64         `json:"memory"`     // bytes per node
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
	// how often it is queried, relative to the other cases; 0, from earlier versions, means 1
	Weight int `json:"weight"`
}
