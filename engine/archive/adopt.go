package archive

import "context"

// Adopter is an Archive whose tables another program also uses. It can take over the records
// that the program has stored in them.
type Adopter interface {
	// Adopt reads all of a subset and reports what is wrong with it. With repair it also
	// makes the subset one of Barograph's: it repairs copies of the tables, which then
	// replace the originals in one step. The originals stay in another database.
	Adopt(ctx context.Context, subset string, repair bool) (*Adoption, error)

	// Forget drops the originals that Adopt kept.
	Forget(ctx context.Context, subset string) error
}

// Adoption reports what Adopt found and did.
type Adoption struct {
	Database string           `json:"database"`
	Read     map[string]int64 `json:"read"`    // rows by line type
	Records  int64            `json:"records"` // distinct records in these rows
	Findings []Finding        `json:"findings"`
	Kept     string           `json:"kept,omitempty"` // the database with the original tables; "" = Adopt changed nothing
}

// Finding is one kind of fault in the rows of a subset.
type Finding struct {
	Name    string `json:"name"`
	Rows    int64  `json:"rows"`
	Problem string `json:"problem"`
	Repair  string `json:"repair"` // what the repair does
	First   string `json:"first,omitempty"`
}

// Labeller is an Archive that can store what METviewer's menus show about a database, and
// who loaded it and why.
type Labeller interface {
	Label(ctx context.Context, subset string, l Label) error
}

// Label is what a load_spec states about its database; "" = not stated.
type Label struct {
	Group, Description string // of the menu; both or neither
	User, Note, XML    string // of this load; without XML nothing is stored
}
