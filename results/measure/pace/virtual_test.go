package pace

import (
	"container/heap"
	"sync"
	"time"
)

// virtual is a clock whose time passes only while every worker sleeps: then it
// jumps to the next one's end of sleep. A run of hours takes as long as its
// bookkeeping, and gives the same numbers each time.
type virtual struct {
	mu      sync.Mutex
	now     time.Duration
	awake   int
	made    int
	waiting sleepers
}

type sleeper struct {
	at   time.Duration
	made int // of two that end at once the first to lie down wakes first
	wake chan struct{}
}

type sleepers []sleeper

func (s sleepers) Len() int { return len(s) }
func (s sleepers) Less(i, k int) bool {
	return s[i].at < s[k].at || s[i].at == s[k].at && s[i].made < s[k].made
}
func (s sleepers) Swap(i, k int) { s[i], s[k] = s[k], s[i] }
func (s *sleepers) Push(x any)   { *s = append(*s, x.(sleeper)) }
func (s *sleepers) Pop() any {
	old := *s
	x := old[len(old)-1]
	*s = old[:len(old)-1]
	return x
}

// newVirtual is the clock of so many workers.
func newVirtual(workers int) *virtual { return &virtual{awake: workers} }

func (v *virtual) clock() *Clock {
	return &Clock{Now: v.Now, SleepUntil: func(t time.Duration, _ <-chan struct{}) { v.until(t) }, WorkerDone: v.leave}
}

func (v *virtual) Now() time.Duration {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

func (v *virtual) until(t time.Duration) {
	v.mu.Lock()
	if t <= v.now {
		v.mu.Unlock()
		return
	}
	s := sleeper{t, v.made, make(chan struct{})}
	v.made++
	heap.Push(&v.waiting, s)
	v.awake--
	v.wakeNext()
	v.mu.Unlock()
	<-s.wake
}

func (v *virtual) leave() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.awake--
	v.wakeNext()
}

func (v *virtual) wakeNext() {
	if v.awake > 0 || len(v.waiting) == 0 {
		return
	}
	s := heap.Pop(&v.waiting).(sleeper)
	v.now = s.at
	v.awake++
	close(s.wake)
}
