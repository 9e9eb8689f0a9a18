package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/barograph/barograph/results/run"
)

// Thresholds of the bottleneck: shares of the machine's cores, and of the
// sessions that were found at work.
const (
	usedUp   = 0.85 // of the cores: nothing is left
	mostWait = 0.4  // of the sessions wait for one kind of thing
	oneCore  = 0.15 // around one core: work that is done one at a time
	waitDisk = 0.1  // of the machine's time
)

// used is what a point used, in cores.
type used struct {
	cores, client, server, busy float64
	known                       bool // of the server
}

func usedBy(p *point) used {
	u := used{cores: float64(p.Machine.Cores), busy: p.Machine.Busy}
	if wall := p.Client.Wall.Seconds(); wall > 0 {
		u.client = (p.Client.User + p.Client.System).Seconds() / wall
		if p.Server != nil && p.Server.Local {
			u.server, u.known = p.Server.Used.CPU.Seconds()/wall, true
		}
	}
	return u
}

// Bottleneck says what held a sample of a mix back.
func Bottleneck(s run.Sample) string { return bottleneck(pointsOf([]run.Sample{s})[0]) }

// bottleneck says in a sentence made of a point's figures what held it back:
// the client, the server's CPU, the disk, locks, other work, or nothing.
func bottleneck(p *point) string {
	u := usedBy(p)
	if !p.Verdict.Right() || u.cores == 0 || p.Client.Wall == 0 {
		return "Not known."
	}
	busy := fmt.Sprintf("the machine’s %s cores were busy to %s %%", cores(u.cores), share(u.busy))
	spent := "the client used " + cores(u.client)
	if u.known {
		spent += ", the server " + cores(u.server)
	}
	embedded, full, others := p.Place == "embedded", u.busy >= usedUp, u.busy*u.cores-u.client-u.server
	switch wait := waits(p, busy); {
	case p.Place == floorPlace:
		return fmt.Sprintf("Client: there is no database; it used %s of %s cores.", cores(u.client), cores(u.cores))
	case full && (u.known || embedded) && others > 0.35*u.busy*u.cores:
		return fmt.Sprintf("Other work: of %s cores, busy to %s %%, %s, and something else %s; measure on a quiet machine.", cores(u.cores), share(u.busy), spent, cores(others))
	case p.Target > 0 && p.Unstarted == 0 && p.Throughput > 0.99*p.Target:
		return fmt.Sprintf("None: the target of %s operations/s was held; %s, %s.", number(p.Target), busy, spent)
	case full && embedded:
		return fmt.Sprintf("CPU: %s; the engine, which works inside the client, and the client used %s.", busy, cores(u.client))
	case full && !u.known && u.client > 0.6*u.cores:
		return fmt.Sprintf("Client: %s, and it used %s of them; give it more cores, or a machine of its own.", busy, cores(u.client))
	case !u.known && said(p) != "":
		return fmt.Sprintf("The server, by its own counters: %s; %s, %s.", said(p), busy, spent)
	case full && !u.known:
		return fmt.Sprintf("CPU: %s; the client used %s. What the server used is not known: it is not this machine’s lab’s.", busy, cores(u.client))
	case full && u.client > u.server:
		return fmt.Sprintf("Client: %s; it used %s and the server %s. Put it on a machine of its own.", busy, cores(u.client), cores(u.server))
	case full:
		return fmt.Sprintf("Server CPU: %s; the server used %s and the client %s.", busy, cores(u.server), cores(u.client))
	case wait != "":
		return wait
	case p.Machine.Disk > waitDisk:
		return fmt.Sprintf("Disk: for %s %% of the time cores had nothing to do but wait for one; %s, %s.", share(p.Machine.Disk), busy, spent)
	case embedded && p.Threads > 1 && u.client > 1-oneCore && u.client < 1+oneCore:
		return fmt.Sprintf("One core: %s, %s; the engine does this work one at a time, so that more threads bring nothing.", busy, spent)
	case embedded:
		return fmt.Sprintf("Waiting inside the engine, for flushes or locks that it does not tell of: %s, %s.", busy, spent)
	case p.Threads < 2*int(u.cores):
		return fmt.Sprintf("Round trips: nothing was used up (%s, %s); each of %s waited for its answer, and more would bring more.", busy, spent, several(p.Threads, "worker"))
	}
	return fmt.Sprintf("Not found: %s, %s, and no kind of wait stood out among the server’s sessions.", busy, spent)
}

// said is what a server elsewhere tells that it used; "" where it does not.
func said(p *point) string {
	if p.Server == nil || p.Server.Said == nil || p.Client.Wall == 0 {
		return ""
	}
	s, wall := p.Server.Said, p.Client.Wall.Seconds()
	var words []string
	if s.CPU >= 0 {
		words = append(words, cores(s.CPU.Seconds()/wall)+" cores worked")
	}
	if s.Read >= 0 {
		words = append(words, byteSize(float64(s.Read)/wall)+"/s came from files")
	}
	return strings.Join(words, ", ")
}

// share prints a share in percent.
func share(v float64) string { return strconv.FormatFloat(100*v, 'f', 0, 64) }

// cores prints a number of cores, to two decimals where it is not whole.
func cores(v float64) string {
	if v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// waits tells what the server's sessions were found waiting for, where one
// kind stands out; "" where none does.
func waits(p *point, busy string) string {
	if p.Server == nil {
		return ""
	}
	sum, by, most := 0.0, map[string]float64{}, map[string]string{}
	for _, w := range p.Server.Waits {
		sum += w.Sessions
		by[w.Kind] += w.Sessions
		if most[w.Kind] == "" {
			most[w.Kind] = w.What // they are in order
		}
	}
	for _, kind := range []struct{ name, words string }{{"lock", "Locks"}, {"disk", "Disk"}, {"network", "Network"}} {
		if sum < 0.5 || by[kind.name] < mostWait*sum {
			continue
		}
		text := fmt.Sprintf("%s: of %s sessions at work on average, %s waited for it, most of them for %s", kind.words, number(sum), number(by[kind.name]), most[kind.name])
		if kind.name == "lock" {
			text = strings.Replace(text, "waited for it", "waited for others", 1)
		}
		if kind.name == "disk" && p.Server.Local {
			text += fmt.Sprintf("; %s/s were written", byteSize(float64(p.Server.Used.Written)/p.Client.Wall.Seconds()))
		}
		return text + "; " + busy + "."
	}
	return ""
}
