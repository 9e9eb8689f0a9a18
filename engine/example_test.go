package engine_test

import (
	"context"
	"fmt"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/archive"
	"github.com/barograph/barograph/engine/dry"
	"github.com/barograph/barograph/engine/posts"
)

// An engine is found by its URL; what it cannot do is nil.
func ExampleRegistry() {
	registry := engine.Registry{dry.Driver()}
	e, err := registry.Open(context.Background(), "dry:", engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer e.Close()
	about, err := e.About(context.Background())
	fmt.Println(about.Product, err, archive.DatabaseOf(e) != nil, posts.DatabaseOf(e) != nil)
	_, err = registry.Open(context.Background(), "dri:", engine.Options{})
	fmt.Println(err)
	// Output:
	// dry <nil> true false
	// engine dri is not known; did you mean dry?
}
