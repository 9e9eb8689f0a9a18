package enginetest

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/lab"
	"github.com/barograph/barograph/query/answer"
	"github.com/barograph/barograph/query/question"
)

// RunCluster tests an engine of several nodes. Every case must have the correct answer in every flavour,
// and the failure of a node during a load must not lose acknowledged records. If the archive has copies,
// all records must be available while the node is down. Otherwise questions must be answered correctly or
// fail until the node is back. cfg.URL names databases of l.
func RunCluster(t *testing.T, cfg Config, l *lab.Lab, copies bool) {
	for _, d := range slices.Sorted(maps.Keys(archive.OfferOf(&cfg.Driver).Designs)) {
		s := &suite{Config: cfg, design: d, flavours: archive.Flavours(&cfg.Driver, d), root: t.Name()}
		t.Run("design="+string(d), func(t *testing.T) {
			t.Run("cases", s.loadAndProveCases)
			t.Run("a killed node", func(t *testing.T) { s.killedNode(t, l, copies) })
		})
	}
}

// killedNode kills a node, not the one to which the client first connected, at a random moment of a load. The load must
// continue or return an error.
func (s *suite) killedNode(t *testing.T, l *lab.Lab, copies bool) {
	files, url := crashFiles(), s.URL(t)
	duration := s.timeLoad(t, files)
	h := s.open(t, url, engine.Options{})
	var acknowledged []File
	ended := make(chan error, 1)
	go func() {
		var err error
		acknowledged, err = storeEach(t.Context(), h, "a", files)
		ended <- err
	}()
	time.Sleep(time.Duration(rand.Int64N(int64(duration) + 1)))
	victim := 1 + rand.IntN(len(l.State().Cluster.Nodes)-1)
	if err := l.Kill(victim); err != nil {
		t.Fatal(err)
	}
	failed := <-ended
	t.Logf("node %d killed: %d of %d files were acknowledged; the load returned: %v",
		victim+1, len(acknowledged), len(files), failed)
	if failed == nil && len(acknowledged) < len(files) {
		t.Error("the load returned no error for files that it did not store")
	}
	if copies {
		s.checkAcknowledged(t, h, acknowledged, files)
	} else {
		s.correctOrFailed(t, h, files, len(acknowledged))
	}
	if err := l.Restart(t.Context(), victim); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	s.checkAcknowledged(t, h, acknowledged, files)
	if err := s.resume(t.Context(), url, files); err != nil {
		t.Fatal(err)
	}
	t.Logf("complete again %v after the node was back", time.Since(began).Round(time.Millisecond))
	checkDigest(t, h, "a", expect(files))
	checkMarks(t, h, "a", files)
	checkCatalog(t, h, "a", files)
	s.prove(t, h, files, everything("a", lineType("PCT")))
}

// correctOrFailed asks while data may be unavailable, in all flavours at once, because each may wait for the
// node. An answer must be that of the acknowledged files, or of one more file, whose commit had an unknown
// outcome.
func (s *suite) correctOrFailed(t *testing.T, h *opened, files []File, acknowledged int) {
	q := everything("a", lineType("PCT"))
	least := references(files[:acknowledged], []*question.Question{q})[0]
	largest := references(files[:min(acknowledged+1, len(files))], []*question.Question{q})[0]
	var all sync.WaitGroup
	for _, f := range s.flavours {
		all.Go(func() {
			p, err := h.Phrase(t.Context(), q, f)
			var got *answer.Answer
			if err == nil {
				got, err = ask(t.Context(), h, p)
			}
			if err != nil {
				t.Logf("%s: without the node: %v", f, err)
				return
			}
			_, err = answer.Compare(least, got)
			if _, largestErr := answer.Compare(largest, got); err != nil && largestErr != nil {
				t.Errorf("%s: without the node the answer is wrong: %v", f, err)
			}
		})
	}
	all.Wait()
}

// checkAcknowledged checks that the archive contains complete files, among them all acknowledged ones.
func (s *suite) checkAcknowledged(t *testing.T, h *opened, acknowledged, files []File) {
	t.Helper()
	for _, f := range s.checkWholeFiles(t, h, "a", files) {
		if slices.ContainsFunc(acknowledged, func(o File) bool { return o.Path == f.Path }) {
			t.Errorf("%s was acknowledged and is missing", f.Path)
		}
	}
}

// storeEach loads files, one per commit, until one fails. It returns the acknowledged files.
func storeEach(ctx context.Context, a archive.Archive, subset string, files []File) (acknowledged []File, err error) {
	for _, f := range files {
		if _, err := store(ctx, a, subset, []File{f}, 1); err != nil {
			return acknowledged, err
		}
		acknowledged = append(acknowledged, f)
	}
	return acknowledged, nil
}
