package asterixdb

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/barograph/barograph/design"
	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/docengine"
	"github.com/barograph/barograph/fault"
)

// state is what the archive says of a subset: the number of its last commit,
// and of the one that was begun last.
type state struct {
	exists  bool
	version int64
	catalog *design.Catalog
	begun   int64    // number of the commit that was begun last
	token   string   // of its lock
	writes  []string // the datasets that it writes
	astral  bool     // there are texts with letters beyond U+FFFF
}

func newState(subset string) state { return state{catalog: design.NewCatalog(subset)} }

// broken reports whether a commit was begun and has not been made to count: it
// is under way, or has died.
func (s *state) broken() bool { return s.begun > s.version }

func catalogID(subset string) string { return "catalog/" + subset }
func begunID(subset string) string   { return "begun/" + subset }

func (a *archive) stateQuery(subset string) string {
	return "SELECT VALUE s FROM " + a.dataset(stateDataset) + " AS s WHERE s.id IN [" +
		quote(catalogID(subset)) + ", " + quote(begunID(subset)) + "]"
}

// row takes a record of the state.
func (s *state) row(row []byte) (err error) {
	r := gjson.ParseBytes(row)
	switch r.Get("kind").String() {
	case "catalog":
		s.exists, s.version = true, r.Get("version").Int()
		s.astral = r.Get("astral").Bool()
		s.catalog, err = design.ParseCatalog([]byte(r.Get("catalog").String()))
	case "begun":
		s.begun, s.token = r.Get("commit").Int(), r.Get("token").String()
		for _, w := range r.Get("writes").Array() {
			s.writes = append(s.writes, w.String())
		}
	}
	return err
}

// catalogStatement is the statement that makes a commit count: it replaces one
// record, which is all that AsterixDB does at once.
func (a *archive) catalogStatement(subset string, version int64, s *state) (string, error) {
	text, err := s.catalog.Encode()
	if err != nil {
		return "", err
	}
	record, err := json.Marshal(map[string]any{"id": catalogID(subset), "kind": "catalog", "subset": subset, "version": version, "astral": s.astral, "catalog": string(text)})
	if err != nil {
		return "", err
	}
	return "UPSERT INTO " + a.dataset(stateDataset) + " (" + string(record) + ");\n", nil
}

// state reads the state of a subset; it is empty where the subset does not
// exist. What a load that died has left is taken back first, once for each
// subset and archive.
func (a *archive) state(ctx context.Context, subset string) (state, error) {
	_, seen := a.seen.Load(subset)
	for {
		s := newState(subset)
		_, err := a.db.client.run(ctx, request{text: a.stateQuery(subset), row: s.row})
		if absent(err) {
			return newState(subset), nil
		}
		if err != nil {
			return s, err
		}
		if !seen && s.broken() {
			if err := a.settle(ctx, subset); err != nil {
				return s, err
			}
			seen = true
			continue
		}
		a.seen.Store(subset, true)
		return s, nil
	}
}

// settle waits until no commit of a subset is under way, and takes back what
// one that died has left.
func (a *archive) settle(ctx context.Context, subset string) error {
	if a.db.readOnly {
		return a.settled(ctx, subset)
	}
	s := newState(subset)
	l, err := a.acquire(ctx, subset, newToken(), &s)
	if err != nil {
		return err
	}
	if err := a.recover(ctx, subset, &s); err != nil {
		l.abandon()
		return err
	}
	return l.release(ctx, "")
}

// settled waits for the commit that is under way. A reader changes nothing.
func (a *archive) settled(ctx context.Context, subset string) error {
	for {
		h, err := a.holder(ctx, subset)
		if err != nil || h.token == "" {
			return err
		}
		if h.dead(ctx) {
			if again, err := a.holder(ctx, subset); err != nil || again.token != h.token {
				return err
			}
			return &fault.Error{
				Setting: a.db.shown + ", subset " + strconv.Quote(subset), Problem: "a load was broken off and left something behind", Err: engine.ErrReadOnly,
				Cure: "open it once without --read-only",
			}
		}
		if err := engine.Pause(ctx, poll); err != nil {
			return err
		}
	}
}

// recover takes back a commit that was begun and does not count. The lock is
// held, and nothing of that commit is under way. Every step may be done twice.
func (a *archive) recover(ctx context.Context, subset string, s *state) error {
	if !s.broken() {
		return nil
	}
	if err := a.db.client.quiet(ctx, s.token); err != nil {
		return err
	}
	states, n := a.dataset(stateDataset), strconv.FormatInt(s.begun, 10)
	of := ".subset = " + quote(subset)
	for _, name := range s.writes {
		// What was there before comes back; then the rest can be told by its number.
		text := fmt.Sprintf("UPSERT INTO %s (SELECT VALUE u.doc FROM %s AS u WHERE u.kind = \"undo\" AND u.`commit` = %s AND u%s AND u.`dataset` = %s);\n",
			a.dataset(name), states, n, of, quote(name)) +
			fmt.Sprintf("DELETE FROM %s AS d WHERE d.%s = %s AND d%s", a.dataset(name), commitMember, n, of)
		if _, err := a.db.client.run(ctx, request{text: text}); err != nil {
			return err
		}
	}
	_, err := a.db.client.run(ctx, request{
		text: fmt.Sprintf("DELETE FROM %s AS u WHERE u.`commit` = %s AND u%s AND u.kind IN [\"undo\", \"mark\"];\n", states, n, of) +
			fmt.Sprintf("DELETE FROM %s AS b WHERE b.id = %s", states, quote(begunID(subset))),
	})
	if err != nil {
		return err
	}
	a.db.log.Info("a load that was broken off was taken back", "subset", subset, "commit", s.begun)
	s.begun = 0
	return nil
}

// marked is a mark as it is stored.
type marked struct {
	ID     string      `json:"id"`
	Kind   string      `json:"kind"`
	Subset string      `json:"subset"`
	Commit int64       `json:"commit"`
	Seq    int         `json:"seq"` // within the commit
	Mark   engine.Mark `json:"mark"`
}

func newMarked(subset string, commit int64, seq int, m engine.Mark) marked {
	return marked{fmt.Sprintf("mark/%d/%s/%s", commit, m.Digest, subset), "mark", subset, commit, seq, m}
}

// Marks lists those of commits that count; of two of one file the later.
func (a *archive) Marks(ctx context.Context, subset string) ([]engine.Mark, error) {
	s, err := a.state(ctx, subset)
	if err != nil || !s.exists {
		return nil, err
	}
	return a.marks(ctx, subset, s.version)
}

// marks lists those of commits up to a version, also while the next is under way.
func (a *archive) marks(ctx context.Context, subset string, version int64) ([]engine.Mark, error) {
	var all []marked
	_, err := a.db.client.run(ctx, request{
		text: "SELECT VALUE m FROM " + a.dataset(stateDataset) + " AS m WHERE m.kind = \"mark\" AND m.subset = " + quote(subset) +
			" AND m.`commit` <= " + strconv.FormatInt(version, 10),
		row: func(row []byte) error {
			var m marked
			err := json.Unmarshal(row, &m)
			all = append(all, m)
			return err
		},
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(x, y marked) int { return cmp.Or(cmp.Compare(x.Commit, y.Commit), cmp.Compare(x.Seq, y.Seq)) })
	out := make([]engine.Mark, len(all))
	for i := range all {
		out[i] = all[i].Mark
	}
	return docengine.Latest(out), nil
}

func (a *archive) Catalog(ctx context.Context, subset string) (*design.Catalog, error) {
	s, err := a.state(ctx, subset)
	return s.catalog, err
}

// Subsets lists those that a commit has counted for.
func (a *archive) Subsets(ctx context.Context) ([]string, error) {
	subsets := []string{}
	_, err := a.db.client.run(ctx, request{
		text: "SELECT VALUE s.subset FROM " + a.dataset(stateDataset) + " AS s WHERE s.kind = \"catalog\"",
		row:  func(row []byte) error { subsets = append(subsets, gjson.ParseBytes(row).String()); return nil },
	})
	if absent(err) {
		return []string{}, nil
	}
	slices.Sort(subsets)
	return subsets, err
}
