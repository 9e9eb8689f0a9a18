package report

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"

	"github.com/barograph/barograph/internal/lists"
	"github.com/barograph/barograph/results/measure"
	"github.com/barograph/barograph/results/run"
)

// The score of a cause is the share of the cores, of the sessions or of the time that its evidence covers. The report
// names a cause from minScore on. It names a second cause if that has at least secondShare of the first one's score.
const (
	minScore    = 0.4
	secondShare = 0.6
)

// Thresholds of the evidence.
const (
	fullShare      = 0.85                 // busy share of the cores; CPU is scarce beyond it
	oneCoreMargin  = 0.15                 // maximum distance from one core for serial work
	noLaw          = -1.0                 // sigma if no scalability law was fitted
	minSessions    = 0.5                  // number of active sessions below which their waits are not evidence
	minLatency     = 2 * time.Millisecond // smallest median that can be a latency of the network
	minIdleThreads = 0.75                 // minimum share of threads without an active session for a network latency
	maxFixedRatio  = 1.25                 // maximum ratio of the 95th percentile to the median of a fixed latency
	minSamples     = 5                    // number of samples of the sessions below which idle sessions are not evidence
)

// coreUsage is the CPU usage during a point, in cores; busy is the share of the machine's cores.
type coreUsage struct {
	cores, client, server, busy float64
	serverKnown                 bool
}

// usageOf returns the CPU usage of a point. The usage of a server is known only if it runs on this machine.
func usageOf(p *point) coreUsage {
	u := coreUsage{cores: float64(p.Machine.Cores), busy: p.Machine.Busy}
	if wall := p.Client.Wall.Seconds(); wall > 0 {
		u.client = (p.Client.User + p.Client.System).Seconds() / wall
		if p.Server != nil && p.Server.Local {
			u.server, u.serverKnown = p.Server.Used.CPU.Seconds()/wall, true
		}
	}
	return u
}

// evidence is what was measured during a point.
type evidence struct {
	*point
	coreUsage
	sigma    float64            // of the scalability law over the threads; noLaw = no law was fitted
	sessions float64            // active sessions of the server, on average; 0 = not sampled
	waiting  map[string]float64 // sessions by the cause of their wait
	topEvent map[string]string  // the most frequent wait event of each cause
	embedded bool
}

// The states that a server's sessions report: causes for which they wait, and serverWork, which is no wait.
const (
	locks      = "Locks"
	logWrites  = "Log writes"
	diskReads  = "Reads from disk"
	peerWaits  = "Network"
	serverWork = "at work"
)

// logEvent matches the disk waits for a log of writes.
var logEvent = regexp.MustCompile(`(?i)wal|log|redo|flush|sync|commit`)

// newEvidence collects the evidence of a point; sigma is that of the scalability law, or noLaw.
func newEvidence(p *point, sigma float64) *evidence {
	e := &evidence{
		point: p, coreUsage: usageOf(p), sigma: sigma, embedded: p.Place == "embedded",
		waiting: map[string]float64{}, topEvent: map[string]string{},
	}
	if p.Server == nil {
		return e
	}
	for _, w := range p.Server.Waits { // the most frequent first
		cause := map[string]string{"lock": locks, "network": peerWaits, "cpu": serverWork}[w.Kind]
		if w.Kind == "disk" {
			cause = diskReads
			if logEvent.MatchString(w.Event) {
				cause = logWrites
			}
		}
		e.sessions += w.Sessions
		e.waiting[cause] += w.Sessions
		e.topEvent[cause] = cmp.Or(e.topEvent[cause], w.Event)
	}
	return e
}

// cause is a possible bottleneck. score is the share that its evidence covers, see minScore; details is the evidence in
// words.
type cause struct {
	name    string
	score   float64
	details string
}

// causes lists every candidate with its own evidence; a score of 0 means no evidence.
func (e *evidence) causes() []cause {
	all := slices.Concat([]cause{
		e.silent(), e.connections(), e.serial(), e.fixedLatency(),
		e.waits(locks, "waited for other sessions"), e.waits(logWrites, "waited for the log"),
		e.waits(diskReads, "waited for a disk"), e.waits(peerWaits, "waited for the network"),
	}, e.cpu(), []cause{e.idleForDisk()})
	slices.SortStableFunc(all, func(a, b cause) int { return cmp.Compare(b.score, a.score) })
	return all
}

// waits returns the share of the server's active sessions that wait for one thing.
func (e *evidence) waits(name, words string) cause {
	if e.sessions < minSessions {
		return cause{}
	}
	n := e.waiting[name]
	details := fmt.Sprintf("on average %s sessions were active, and %s %s, most of them for %s",
		number(e.sessions), number(n), words, e.topEvent[name])
	return cause{name, n / e.sessions, details}
}

// cpu returns the shares of client, server and other processes in the busy cores. It returns none if cores were idle.
func (e *evidence) cpu() []cause {
	busy := e.busy * e.cores
	if e.busy < fullShare || busy == 0 {
		return nil
	}
	user := func(name string, n float64, details string) cause {
		return cause{name, n / busy, fmt.Sprintf(details, cores(n))}
	}
	others := max(busy-e.client-e.server, 0)
	switch {
	case e.embedded:
		return []cause{
			user("CPU", e.client, "the client, which contains the engine, used %s cores"),
			user("Other work on this machine", others, "other processes used %s cores; measure on an idle machine"),
		}
	case e.serverKnown:
		return []cause{
			user("Server CPU", e.server, "the server used %s cores"),
			user("Client CPU", e.client, "the client used %s cores; run it on another machine"),
			user("Other work on this machine", others, "other processes used %s cores; measure on an idle machine"),
		}
	}
	return []cause{
		user("Client CPU", e.client, "the client used %s cores; give it more cores, or run it on another machine"),
		user("CPU of this machine", others, "other processes used %s cores; "+
			"whether they include the server is not known, because no lab of this machine started it"),
	}
}

// silent returns the share of intervals in which no operation succeeded.
func (e *evidence) silent() cause {
	silent := len(lists.Filter(e.Series, func(s run.SeriesInterval) bool { return s.Completed == s.Failed }))
	if e.embedded || !e.fillsIntervals() || len(e.Series) < 3 || silent == 0 {
		return cause{}
	}
	details := fmt.Sprintf("the server did not answer in %d of %d intervals of %s", silent, len(e.Series), e.Interval)
	return cause{"Silent server", float64(silent) / float64(len(e.Series)), details}
}

// connections returns the share of the time in which at least one worker had no connection.
func (e *evidence) connections() cause {
	if e.Outage == 0 || e.Client.Wall == 0 {
		return cause{}
	}
	details := fmt.Sprintf("for %s at least one worker had no connection, and %s opened again",
		e.Outage.Round(time.Millisecond), english.Plural(int(e.Reconnects), "connection was", "connections were"))
	return cause{"Connections", min(e.Outage.Seconds()/e.Client.Wall.Seconds(), 1), details}
}

// serial returns the share of work that is done one at a time: the share that the scalability law gives, or one busy
// core for several threads.
func (e *evidence) serial() cause {
	one := func(cores float64) bool { return e.cores > 1 && e.Threads > 1 && math.Abs(cores-1) < oneCoreMargin }
	switch {
	case e.busy >= fullShare && e.client+e.server > e.busy*e.cores/2:
		return cause{} // the engine and the client keep the cores busy, and the law reflects that
	case e.sigma > 0:
		details := "by the scalability law " + share(e.sigma) + " % of the work is serial, so more threads gain little"
		return cause{"Serial work", e.sigma, details}
	case e.embedded && one(e.client):
		return cause{"One core", 0.6, "the engine does this work serially, so more threads gain nothing"}
	case e.serverKnown && one(e.server):
		return cause{"One core", 0.6, "the server used one core for " + several(e.Threads, "thread")}
	}
	return cause{}
}

// fixedLatency returns the share of the threads that wait outside of the server: their sessions are idle, or the
// operations take a time that hardly varies while neither client nor server computes.
func (e *evidence) fixedLatency() cause {
	if e.embedded || e.Service.P50 < minLatency || e.client+e.server > e.cores/2 {
		return cause{}
	}
	details := fmt.Sprintf("the median latency is %s ms, the 95th percentile %s ms",
		number(ms(e.Service.P50)), number(ms(e.Service.P95)))
	isNarrow := float64(e.Service.P95) < maxFixedRatio*float64(e.Service.P50)
	switch {
	case e.Server != nil && e.Server.SessionSampleCount > 0:
		idle := 1 - e.sessions/float64(max(e.Threads, 1))
		// An idle session has two explanations: the thread waits for the network, or for a core that other processes use.
		// The fastest operations did not wait for a core. If the median is hardly longer than they are, it is the network.
		fast := fastest(e.Groups)
		if float64(e.Service.P50) < maxFixedRatio*float64(fast) && !isNarrow {
			isNarrow, details = true, details+fmt.Sprintf(", and 95 %% of the operations took at least %s ms", number(ms(fast)))
		}
		if !isNarrow && (idle < minIdleThreads || e.busy >= fullShare || e.Server.SessionSampleCount < minSamples) {
			return cause{}
		}
		details += fmt.Sprintf(", while on average %s sessions were active in the server, for %s",
			number(e.sessions), several(e.Threads, "thread"))
		return cause{"Latency of the network", idle, details}
	case isNarrow && e.Threads > 1 && e.sigma == noLaw:
		return cause{"Fixed latency or serial work", 0.8, details + "; runs with more threads distinguish the two"}
	case isNarrow && e.sigma < minScore:
		return cause{"Fixed latency", 0.8, details + ": the time hardly varies"}
	}
	return cause{}
}

// fastest returns the 5th percentile of the service times of all operations; 0 if no histograms are stored.
func fastest(groups []run.Group) time.Duration {
	all := measure.NewHistogram()
	for _, g := range groups {
		if h, err := g.ServiceTimes.Histogram(); err == nil && g.InTotal {
			_ = all.Merge(h) // both have one range
		}
	}
	return all.At(5)
}

// idleForDisk returns the share of the machine's time in which cores waited for a disk.
func (e *evidence) idleForDisk() cause {
	if e.Machine.Disk < 0.1 {
		return cause{}
	}
	details := "for " + share(e.Machine.Disk) + " % of the time cores waited for a disk"
	return cause{"Disk", min(2*e.Machine.Disk, 1), details}
}

// Bottleneck names what limited a sample of a mix.
func Bottleneck(s run.Sample) string { return bottleneck(pointsOf([]run.Sample{s})[0], noLaw) }

// bottleneck names the one or two causes that have evidence, with its figures. sigma is the parameter of the
// scalability law over the threads, or noLaw.
func bottleneck(p *point, sigma float64) string {
	e := newEvidence(p, sigma)
	if !p.Verdict.IsCorrect() || e.cores == 0 || p.Client.Wall == 0 {
		return "Not known."
	}
	busy := fmt.Sprintf("The machine’s %s cores were %s %% busy; the client used %s",
		cores(e.cores), share(e.busy), cores(e.client))
	if e.serverKnown {
		busy += ", the server " + cores(e.server)
	}
	busy += "."
	if p.Place == overheadPlace {
		return fmt.Sprintf("Client: this run has no database. It used %s of %s cores.", cores(e.client), cores(e.cores))
	}
	all := e.causes()
	if p.Target > 0 && p.Unstarted == 0 && p.Throughput > 0.99*p.Target && all[0].name != "Silent server" {
		return fmt.Sprintf("None: it sustained the target of %s operations/s. %s", number(p.Target), busy)
	}
	var found []string
	for i, c := range all {
		if i < 2 && c.score >= minScore && c.score >= secondShare*all[0].score {
			found = append(found, c.name+": "+c.details+".")
		}
	}
	switch {
	case len(found) > 0:
		return strings.Join(found, " ") + " " + busy
	case e.embedded:
		return "Not known: the engine reports neither flushes nor locks. " + busy
	case !e.serverKnown && e.sessions < minSessions:
		return "Not known: the server’s CPU and waits are not visible. " + strings.TrimSpace(reportedUsage(p)+" "+busy)
	case p.Threads < 2*int(e.cores):
		return fmt.Sprintf("Round trips: each of %s waited for its response, and no resource was used up; "+
			"more threads would gain more. %s", several(p.Threads, "thread"), busy)
	}
	return "Not known: no cause has enough evidence. " + busy
}

// reportedUsage returns what a remote server reports about its usage; "" if it reports nothing.
func reportedUsage(p *point) string {
	if p.Server == nil || p.Server.Reported == nil || p.Client.Wall == 0 {
		return ""
	}
	s, wall := p.Server.Reported, p.Client.Wall.Seconds()
	var words []string
	if s.CPU >= 0 {
		words = append(words, "it used "+cores(s.CPU.Seconds()/wall)+" cores")
	}
	if s.Read >= 0 {
		words = append(words, "it read "+byteSize(float64(s.Read)/wall)+"/s from files")
	}
	if len(words) == 0 {
		return ""
	}
	return "By the server’s own counters " + strings.Join(words, ", and ") + "."
}

// share prints a share in percent.
func share(v float64) string { return strconv.FormatFloat(100*v, 'f', 0, 64) }

// cores prints a number of cores, with two decimals unless it is an integer.
func cores(v float64) string {
	if v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}
