package post_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/barograph/barograph/engine/posts"
	"github.com/barograph/barograph/record"
	"github.com/barograph/barograph/study/post"
	"github.com/barograph/barograph/study/synth"
)

// noisy returns a programme on a small feed, for the test noise.
func noisy(t *testing.T, s *posts.Store) *post.Programme {
	t.Helper()
	feed := smallFeed(t, synth.SHEF{Seed: 4, Messages: 5, Mean: 10, Offices: 1, Stations: 3})
	p := &post.Programme{
		Store: s, Design: posts.Single, Policy: posts.Overwrite, Source: feed, References: references(t, feed),
		Folder: folder(t), Progress: func(string) {}, Options: post.Options{Method: posts.MultiRow},
	}
	if err := p.Admit(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestNoiseCounts: an interrupted part of the noise does not count, and the warning has a singular.
func TestNoiseCounts(t *testing.T) {
	s := *openStore(t, posts.Single)
	s.Read = func(ctx context.Context, _ record.ID, _, _ int64) (int64, error) {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	vacuums, counted := 0, make(chan struct{}) // counted: the noise has counted the first vacuum
	s.Maintain = func(ctx context.Context, kind posts.Maintenance) error {
		if kind != posts.Vacuum {
			return nil
		}
		if vacuums++; vacuums == 1 {
			return nil
		}
		close(counted)
		<-ctx.Done()
		return ctx.Err()
	}
	poster := s.Poster
	s.Poster = func(ctx context.Context, m posts.Method) (posts.Poster, error) {
		<-counted
		return poster(ctx, m)
	}
	p := noisy(t, &s)
	if err := p.Run(t.Context(), post.Noise); err != nil {
		t.Fatal(err)
	}
	w := fmt.Sprint(p.Folder.Run.Warnings)
	if !strings.Contains(w, "maintenance ran 1 time,") || !strings.Contains(w, "a reader read 0 times") {
		t.Error(w)
	}
}

// waitingPoster posts after the posting of the noise has ended.
type waitingPoster struct {
	posts.Poster
	posting    chan<- struct{}
	noiseEnded <-chan struct{}
	end        func() // closes noiseEnded
}

func (w *waitingPoster) Post(ctx context.Context, messages []posts.Message) (posts.PostResult, error) {
	select {
	case w.posting <- struct{}{}:
	case <-w.noiseEnded:
	}
	select {
	case <-ctx.Done():
		w.end()
		return posts.PostResult{}, ctx.Err()
	case <-w.noiseEnded:
	}
	return w.Poster.Post(ctx, messages)
}

// TestNoiseFails: if the noise fails, the posting during it has no cell.
func TestNoiseFails(t *testing.T) {
	s := *openStore(t, posts.Single)
	posting, noiseEnded := make(chan struct{}), make(chan struct{})
	end := sync.OnceFunc(func() { close(noiseEnded) })
	poster := s.Poster
	s.Poster = func(ctx context.Context, m posts.Method) (posts.Poster, error) {
		p, err := poster(ctx, m)
		return &waitingPoster{p, posting, noiseEnded, end}, err
	}
	errRead := errors.New("the reader failed")
	s.Read = func(context.Context, record.ID, int64, int64) (int64, error) {
		<-posting // the measured poster and that of the noise
		<-posting
		return 0, errRead
	}
	p := noisy(t, &s)
	if err := p.Run(t.Context(), post.Noise); !errors.Is(err, errRead) || len(p.Folder.Samples()) > 0 {
		t.Errorf("%v, %d cells", err, len(p.Folder.Samples()))
	}
}
