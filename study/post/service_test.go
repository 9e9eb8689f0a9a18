package post

import (
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/record"
)

// messages is a source of products.
type messages []*Message

func (m messages) Products() iter.Seq2[*Message, error] {
	return func(yield func(*Message, error) bool) {
		for _, x := range m {
			if !yield(x, nil) {
				return
			}
		}
	}
}

func (messages) Words() string     { return "messages" }
func (messages) Moment() time.Time { return time.Time{} }

// TestFillAFullDisk: a product that cannot be written completely does not appear in the spool. The temporary file of the
// second product is a link to /dev/full, which is always full.
func TestFillAFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("/dev/full", filepath.Join(dir, "000000001.tmp")); err != nil {
		t.Fatal(err)
	}
	product := &Message{Message: posts.Message{Values: make([]record.Gauge, 1)}, Text: []byte("text")}
	n, err := fill(t.Context(), dir, messages{product, product}, Pace{})
	if n != 1 || err == nil {
		t.Errorf("%d products, %v", n, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "000000000")); err != nil || string(text) != "text" {
		t.Errorf("the first product is %q, %v", text, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "000000001")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the second product: %v", err)
	}
}
