package pace

import (
	"container/heap"
	"sync"
	"time"
)

// virtual is a clock that stands still while a worker runs. When all workers sleep, it jumps to the time at which the
// first of them wants to wake. A run of hours takes milliseconds, and gives the same numbers each time.
type virtual struct {
	mu      sync.Mutex
	now     time.Duration
	awake   int // workers that do not sleep
	slept   int // number of sleeps so far
	waiting sleepers
}

type sleeper struct {
	at    time.Duration // when it wakes
	order int           // of its sleep among all; the earlier one wakes first if two wake at the same time
	wake  chan struct{}
}

type sleepers []sleeper

func (s sleepers) Len() int { return len(s) }
func (s sleepers) Less(i, k int) bool {
	return s[i].at < s[k].at || s[i].at == s[k].at && s[i].order < s[k].order
}
func (s sleepers) Swap(i, k int) { s[i], s[k] = s[k], s[i] }
func (s *sleepers) Push(x any)   { *s = append(*s, x.(sleeper)) }
func (s *sleepers) Pop() any {
	old := *s
	x := old[len(old)-1]
	*s = old[:len(old)-1]
	return x
}

// newVirtual returns a clock for a number of workers, which are all awake.
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
	s := sleeper{t, v.slept, make(chan struct{})}
	v.slept++
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
