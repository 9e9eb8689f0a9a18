package sqlengine

import (
	"context"
	"testing"

	"github.com/barograph/barograph/engine/posts"
)

// TestValuesLeftAfterCancellation: a caller may leave the values after a cancellation, of which the driver returns the
// error.
func TestValuesLeftAfterCancellation(t *testing.T) {
	layout, err := newPostLayout(posts.Tables{Design: posts.Single})
	if err != nil {
		t.Fatal(err)
	}
	direct := func(ctx context.Context, _ string, _ []any, each func([]any) error) (int64, error) {
		err := each(make([]any, len(layout.tables[0].Columns)))
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return 0, err
	}
	s := &postStore{layout: layout, PostEngine: &PostEngine{
		Dialect: &PostDialect{
			Quote: func(name string) string { return name },
			Cast:  func(column string, _ PostType) string { return column },
		},
		Connect: func(context.Context) (*PostConn, error) {
			return &PostConn{Direct: direct, Close: func() error { return nil }}, nil
		},
	}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	for _, err := range s.allValues(ctx) {
		if n++; err != nil {
			t.Error(err)
		}
		cancel()
		break
	}
	if n != 1 {
		t.Errorf("%d values", n)
	}
}
