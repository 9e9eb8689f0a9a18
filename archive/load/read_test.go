package load

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/barograph/barograph/record"
)

// big is a file of one batch, larger than all that may wait.
type big struct{ left int }

func (b *big) BytesRead() int64 { return 0 }

func (b *big) Next(into *record.Batch) error {
	if b.left == 0 {
		return io.EOF
	}
	b.left--
	t, _ := record.TypeByName("SL1L2")
	into.Reset(t, "")
	h := into.AddHeader(record.DefaultHeader())
	for range maxWaitingBytes / 100 {
		into.AppendTimes(h, 0, 0, 1)
	}
	return nil
}

func (*big) Close() error { return nil }

// Read must not parse many files completely while the archive is busy.
func TestFilesAreNotReadFarAhead(t *testing.T) {
	var paths []string
	for i := range 50 {
		path := filepath.Join(t.TempDir(), fmt.Sprint(i))
		if err := os.WriteFile(path, []byte{byte(i)}, 0o644); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	const workers = 2
	var opened, taken atomic.Int64
	o := ReadOptions{Workers: workers, open: func(string) (recordReader, error) { opened.Add(1); return &big{1}, nil }}
	err := Read(t.Context(), paths, o, func(_ *File, b *record.Batch) error {
		time.Sleep(time.Millisecond) // a busy archive
		// this batch's file, the files that workers parse, and those that were admitted before they
		// had counted any bytes
		if n := opened.Load() - taken.Load(); n > 2+2*workers {
			return fmt.Errorf("%d files are open that are not taken", n)
		}
		release(b)
		return nil
	}, func(f *File) error { taken.Add(1); return f.Err })
	if err != nil {
		t.Error(err)
	}
	if opened.Load() != 50 || taken.Load() != 50 {
		t.Errorf("%d files opened, %d taken, want 50", opened.Load(), taken.Load())
	}
}

// A modification time identifies a version of a file only if a later change cannot have the same time. What counts is
// when the file was read, not when its load finished.
func TestTimeOfAnotherChange(t *testing.T) {
	dir, hour := t.TempDir(), time.Now().Add(-time.Hour).Truncate(time.Second)
	for name, modified := range map[string]time.Time{"old.vsdb": hour, "new.vsdb": hour.Add(2 * time.Hour)} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.WriteFile(path, []byte("V01 x\n"), 0o600), os.Chtimes(path, modified, modified)); err != nil {
			t.Fatal(err)
		}
		want := modified
		if name == "new.vsdb" {
			want = time.Time{}
		}
		err := Read(t.Context(), []string{path}, ReadOptions{}, func(*File, *record.Batch) error { return nil }, func(f *File) error {
			if !f.Time.Equal(want) {
				t.Errorf("%s: %s, want %s", name, f.Time, want)
			}
			return f.Err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
