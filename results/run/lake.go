package run

import "time"

// LakeWorkload is the Workload of a run over Parquet files on an object store.
const LakeWorkload = "lake"

// Lake is the part of run.json about such a run.
type Lake struct {
	Store   string        `json:"store"`      // product and version
	Rate    float64       `json:"mb_per_s"`   // maximum rate of the store, in 10⁶ bytes per second; 0 = no limit
	Latency time.Duration `json:"latency_ns"` // delay of each response of the store
	Layouts []LakeLayout  `json:"layouts"`
}

// LakeLayout describes the Parquet files into which one partitioning divides the records. They have similar sizes.
type LakeLayout struct {
	Partition string  `json:"partition"` // none, day, model, variable
	FileMB    float64 `json:"mb"`        // requested size of a file, in 10⁶ bytes
	Files     int     `json:"files"`
	Bytes     int64   `json:"bytes"`
	Rows      int64   `json:"rows"`
}

// StoreTraffic is what an object store sent for an answer.
type StoreTraffic struct {
	Requests int64 `json:"store_requests"`
	Sent     int64 `json:"store_bytes"` // bytes of response bodies
}

// LakeCell is the cell of a question on an engine and a layout.
func LakeCell(engine string, l *LakeLayout, question string) Cell {
	return NewCell(LakeWorkload, engine, "partition", l.Partition, "mb", l.FileMB, "case", question)
}
