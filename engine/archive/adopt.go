package archive

import "context"

// Adopter is an Archive whose tables another program also uses. It can take over the records
// that the program has stored in them.
type Adopter interface {
	// Adopt reads all of a subset and reports what is wrong with it. With repair it also
	// turns the subset into a Barograph archive: it repairs copies of the tables, which then
	// replace the originals in one step. The originals stay in another database.
	Adopt(ctx context.Context, subset string, repair bool) (*Adoption, error)

	// Forget drops the originals that Adopt kept. It first passes the archive to verify, without the records that another
	// program has added to it. If verify returns an error, or Forget finds another loss, it drops nothing.
	Forget(ctx context.Context, subset string, verify func(own Archive) error) error
}

// Adoption reports what Adopt found and did.
type Adoption struct {
	Database          string           `json:"database"`
	Read              map[string]int64 `json:"read"`    // rows by line type
	Records           int64            `json:"records"` // distinct records in these rows
	Findings          []Finding        `json:"findings"`
	OriginalsDatabase string           `json:"kept,omitempty"` // the database with the original tables; "" = Adopt changed nothing
}

// Finding is one kind of defect that Adopt found.
type Finding struct {
	Name    string `json:"name"`
	Count   int64  `json:"rows"` // affected rows; of missing tables, columns or indexes: their number
	Problem string `json:"problem"`
	Repair  string `json:"repair"`          // what the repair does
	First   string `json:"first,omitempty"` // where the defect occurs first
}

// Labeler is an Archive that can store what METviewer's menus show about a database, and
// who loaded it and why.
type Labeler interface {
	Label(ctx context.Context, subset string, l Label) error
}

// Label is what a load_spec states about its database; "" = not stated.
type Label struct {
	Group, Description string // shown in METviewer's menu; stored only if both are set
	User, Note, XML    string // of this load; stored only if XML is set
}
