package run

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// KillsFile is the file of a run folder that holds what became of killed nodes.
const KillsFile = "kills.json"

// Phase names of a Kill: what the cluster was doing.
const (
	DuringLoad      = "load"
	DuringQuestions = "questions"
)

// Kill is one node of a cluster that was killed (SIGKILL) and started again
// later, and what a client saw of it. Durations count from the kill.
type Kill struct {
	Engine string `json:"engine"`
	Design string `json:"design"`
	During string `json:"during"` // DuringLoad or DuringQuestions
	Nodes  int    `json:"nodes"`
	Node   int    `json:"node"` // the one killed, from 1; clients are told of node 1

	// Of a load: records whose commit was acknowledged by the time the node was
	// back, those of them that were found in the end without being loaded again,
	// and whether the load, resumed where it had failed, ended in the archive
	// that an undisturbed one makes.
	Acknowledged int64 `json:"acknowledged,omitempty"`
	Found        int64 `json:"found,omitempty"`
	Whole        bool  `json:"whole,omitempty"`

	// Of questions: answers that were right, wrong, and given while the node was
	// down.
	Right int `json:"right,omitempty"`
	Wrong int `json:"wrong,omitempty"`
	Amid  int `json:"right_while_down,omitempty"`

	Errors   int            `json:"errors"`             // calls that failed
	Messages map[string]int `json:"messages,omitempty"` // how often by what they said, first line

	// Nothing that was lost or wrong has times.
	Back      Time   `json:"back_ns"`      // the node was back: started, and serving by its own word
	Recovered Time   `json:"recovered_ns"` // the first success after the last error; 0 = there was no error
	Silence   Time   `json:"silence_ns"`   // longest time without a success, from the kill on
	Problem   string `json:"problem,omitempty"`
}

// WriteKills writes the kills of a run folder.
func WriteKills(dir string, kills []Kill) error {
	return writeJSON(dir, KillsFile, kills)
}

// ReadKills reads them; the error wraps os.ErrNotExist where there are none.
func ReadKills(dir string) ([]Kill, error) {
	text, err := os.ReadFile(filepath.Join(dir, KillsFile))
	if err != nil {
		return nil, err
	}
	var kills []Kill
	return kills, json.Unmarshal(text, &kills)
}
