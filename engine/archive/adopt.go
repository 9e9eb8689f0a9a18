package archive

import "context"

// Adopter is an Archive whose tables are another program's, too, and that can
// take over what that program has stored in them.
type Adopter interface {
	// Adopt reads all of a subset and tells what is wrong with it. With repair it
	// also makes the subset one of Barograph's, repaired: in copies of its tables,
	// which take their places all at once. Until then nothing is changed; the
	// tables as they were are kept in a place of their own.
	Adopt(ctx context.Context, subset string, repair bool) (*Adoption, error)

	// Forget drops what Adopt has kept.
	Forget(ctx context.Context, subset string) error
}

// Adoption tells what was found, and done.
type Adoption struct {
	Database string           `json:"database"`
	Read     map[string]int64 `json:"read"`    // rows, by line type
	Records  int64            `json:"records"` // that they are, each once
	Findings []Finding        `json:"findings"`
	Kept     string           `json:"kept,omitempty"` // the database that holds the tables as they were; "" = nothing was done
}

// Finding is something that is wrong with rows.
type Finding struct {
	Name   string `json:"name"`
	Rows   int64  `json:"rows"`
	Says   string `json:"says"`
	Repair string `json:"repair"` // what a repair does
	First  string `json:"first,omitempty"`
}

// Labeller is an Archive with a place for what METviewer's menus show of a
// database, and for who loaded it and why.
type Labeller interface {
	Label(ctx context.Context, subset string, l Label) error
}

// Label is what a load_spec says of its database; "" is not said.
type Label struct {
	Group, Description string // of the menu; of no use without the other
	User, Note, XML    string // of this load; nothing is kept of it where there is no XML
}
