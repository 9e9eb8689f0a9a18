package run

import "time"

// Laked is the Workload of a run over Parquet files on an object store.
const Laked = "lake"

// Lake is what run.json has of such a run.
type Lake struct {
	Store   string        `json:"store"`      // product and version
	Rate    float64       `json:"mb_per_s"`   // 10⁶ bytes a second that the store sends at most; 0 = no limit
	Latency time.Duration `json:"latency_ns"` // that each answer of the store begins later
	Layouts []LakeLayout  `json:"layouts"`
}

// LakeLayout is the records under one partitioning, in files of about one size.
type LakeLayout struct {
	Partition string  `json:"partition"` // none, day, model, variable
	MB        float64 `json:"mb"`        // 10⁶ bytes of a file, as asked for
	Files     int     `json:"files"`
	Bytes     int64   `json:"bytes"`
	Rows      int64   `json:"rows"`
}

// Stored is what an object store sent for an answer.
type Stored struct {
	Requests int64 `json:"store_requests"`
	Sent     int64 `json:"store_bytes"` // of bodies
}

// LakeCell is a question that an engine is asked of a layout.
func LakeCell(engine string, l *LakeLayout, question string) Cell {
	return NewCell(Laked, engine, "partition", l.Partition, "mb", l.MB, "case", question)
}
