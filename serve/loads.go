package serve

import (
	"context"
	"encoding/csv"
	"errors"
	"io/fs"
	"net/http"
	"path/filepath"
	"slices"
	"sync"

	"github.com/barograph/barograph/archive/design"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/internal/fault"
	"github.com/barograph/barograph/query/question"
	"github.com/barograph/barograph/results/run"
	"github.com/barograph/barograph/stat"
)

// Home lists what is served.
type Home struct {
	Version  string    `json:"version"`
	Archives []Holding `json:"archives"`
	Folders  []string  `json:"folders"`
	Cases    []Case    `json:"cases"`
	Stats    []Stat    `json:"stats"`

	Pictures map[string][]string `json:"pictures"` // the line types that each kind of picture shows completely
}

// Holding is a subset of an archive in a design.
type Holding struct {
	Archive string `json:"archive"`
	Engine  string `json:"engine"`
	Design  string `json:"design,omitempty"`
	Subset  string `json:"subset,omitempty"`
	Records int64  `json:"records"`
	Digest  string `json:"digest,omitempty"`
	Problem string `json:"problem,omitempty"` // why it cannot be queried now
	Rank    int    `json:"rank,omitempty"`    // in the newest finished run: 1 = recommended; 0 = not ranked
}

// Case is a question that the program knows.
type Case struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	LineType string `json:"line_type"`
}

// Stat is a statistic of a line type.
type Stat struct {
	Name     string `json:"name"`
	LineType string `json:"line_type"`
	Summary  string `json:"summary"`
}

func (s *Server) home(w http.ResponseWriter, r *http.Request) error {
	out := Home{Version: s.o.Version, Archives: []Holding{}, Pictures: question.LineTypesOfPictures()}
	out.Archives = append(out.Archives, s.holdings(r.Context(), s.latest())...)
	for _, f := range s.folders {
		out.Folders = append(out.Folders, f.name)
	}
	cases, err := question.Cases()
	if err != nil {
		return err
	}
	for _, q := range cases {
		out.Cases = append(out.Cases, Case{q.Name, q.Title, q.Type.Name})
	}
	for _, st := range stat.Table() {
		out.Stats = append(out.Stats, Stat{st.Name, st.LineType, st.Summary})
	}
	return writeJSON(w, &out)
}

// holdings returns the holdings of all archives, in their order. It reads them in parallel, because each server that is
// down answers only after a timeout.
func (s *Server) holdings(ctx context.Context, latest ranking) []Holding {
	all := make([][]Holding, len(s.archives))
	var reading sync.WaitGroup
	for i, a := range s.archives {
		reading.Go(func() { all[i] = a.holdings(ctx, latest) })
	}
	reading.Wait()
	return slices.Concat(all...)
}

// holdings returns the subsets of all designs. If the archive cannot be read, the last holding has the
// reason.
func (a *servedArchive) holdings(ctx context.Context, latest ranking) (out []Holding) {
	for _, n := range archive.Designs(a.driver) {
		err := a.with(ctx, n, func(in archive.Archive) error {
			subsets, err := in.Subsets(ctx)
			for i := 0; i < len(subsets) && err == nil; i++ {
				var c *design.Catalog
				if c, err = in.Catalog(ctx, subsets[i]); err == nil {
					digest := c.Digest()
					out = append(out, Holding{
						Archive: a.name, Engine: a.driver.Scheme, Design: string(n), Subset: subsets[i],
						Records: digest.Records, Digest: digest.String(), Rank: latest.rankOf(a, n),
					})
				}
			}
			return err
		})
		if err != nil {
			return append(out, Holding{Archive: a.name, Engine: a.driver.Scheme, Problem: fault.Redact(err.Error())})
		}
	}
	if len(out) == 0 {
		out = append(out, Holding{Archive: a.name, Engine: a.driver.Scheme, Problem: "contains no records yet"})
	}
	return out
}

// Inventory lists the possible values of the selectors.
type Inventory struct {
	Contents string             `json:"data"` // see contentsID
	Digest   string             `json:"digest"`
	Types    []design.Inventory `json:"line_types"`
	Groups   []Group            `json:"groups"`
}

// Group describes the records of a line type, version, model, observation type and variable.
type Group struct {
	*design.Group
	Thresholds []string `json:"fcst_thresh"`
}

func (s *Server) inventory(w http.ResponseWriter, r *http.Request) error {
	return s.catalog(w, r, func(c *design.Catalog, _ []archive.Mark, contents string) error {
		out := Inventory{Contents: contents, Digest: c.Digest().String(), Types: c.Inventory()}
		for _, g := range c.Groups {
			out.Groups = append(out.Groups, Group{g, g.Thresholds()})
		}
		return writeJSON(w, &out)
	})
}

// catalog calls f with the catalog, the marks and the contentsID of the subset that a URL names, unless the
// browser already has the response.
func (s *Server) catalog(
	w http.ResponseWriter, r *http.Request, f func(c *design.Catalog, marks []archive.Mark, contents string) error,
) error {
	a, err := s.parsePlace(r.URL.Query())
	if err != nil {
		return err
	}
	ctx := r.Context()
	return a.archive.with(ctx, a.design, func(in archive.Archive) error {
		contents, err := contentsID(ctx, in, a.subset)
		if err != nil || s.notModified(w, r, contents) {
			return err
		}
		c, err := in.Catalog(ctx, a.subset)
		if err != nil {
			return err
		}
		marks, err := in.Marks(ctx, a.subset)
		if err != nil {
			return err
		}
		return f(c, marks, contents)
	})
}

// Loads lists the result of each file's load, and the times that have data.
type Loads struct {
	Files      []archive.Mark      `json:"files"`
	Types      []design.Inventory  `json:"line_types"`
	Quarantine []design.Quarantine `json:"quarantine"`
	Conflicts  []design.Conflict   `json:"conflicts"`
}

func (s *Server) loads(w http.ResponseWriter, r *http.Request) error {
	return s.catalog(w, r, func(c *design.Catalog, marks []archive.Mark, _ string) error {
		return writeJSON(w, &Loads{marks, c.Inventory(), c.Quarantine, c.Conflicts})
	})
}

// quarantine sends the lines that a study could not read, from quarantine.csv of its run folder. If there are
// more than maxQuarantinedLines, it sends one line more than that.
func (s *Server) quarantine(w http.ResponseWriter, r *http.Request) error {
	dir, err := s.path(r.URL.Query().Get("folder"), r.URL.Query().Get("name"))
	if err != nil {
		return err
	}
	file, err := run.Open(dir, "quarantine.csv")
	if errors.Is(err, fs.ErrNotExist) {
		return writeJSON(w, []string{}) // nothing was quarantined
	}
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // only read
	in := csv.NewReader(file)
	in.FieldsPerRecord = -1
	out := []map[string]string{}
	// An error ends the list: the last line of a run in progress may be incomplete.
	for row, err := in.Read(); err == nil && len(out) <= maxQuarantinedLines; row, err = in.Read() {
		if len(row) == 4 && row[1] != "line" { // not the header
			out = append(out, map[string]string{
				"file": filepath.Base(row[0]), "line": row[1], "reason": row[2], "text": row[3],
			})
		}
	}
	return writeJSON(w, out)
}

// maxQuarantinedLines is the maximum number of quarantined lines that the page shows.
const maxQuarantinedLines = 1000
