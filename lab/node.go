package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/barograph/barograph/engine"
	"github.com/barograph/barograph/engine/launch"
	"github.com/barograph/barograph/internal/fault"
)

// logFile of a node contains the output of its processes and of its preparation. It is in the lab's
// folder, where the server's account cannot replace it by a link.
func (l *Lab) logFile(i int) string { return l.state.Cluster.Nodes[i].Dir + ".log" }

// environment lists the variables that servers inherit. Variables with secrets are not among them.
var environment = []string{"PATH", "LANG", "LC_ALL", "TZ", "JAVA_HOME"} //nolint:gochecknoglobals // a constant table

// poll is the interval at which a starting or stopping process is checked.
const poll = 25 * time.Millisecond

// gate delays a server until its pid is written down. If the lab is killed before, the shell's
// input ends and the shell exits, so no unknown process remains.
const gate = `read -r go && exec "$@" </dev/null`

// prepare makes a node's folder and data.
func (l *Lab) prepare(ctx context.Context, i int) error {
	c, n := &l.state.Cluster, &l.state.Cluster.Nodes[i]
	if err := os.MkdirAll(n.Dir, 0o700); err != nil {
		return err
	}
	if err := l.account.reach(n.Dir); err != nil {
		return err
	}
	if err := l.mount(i); err != nil {
		return err
	}
	commands, err := l.server.Prepare(c, n)
	if err != nil {
		return err
	}
	if err := l.account.give(n.Dir); err != nil {
		return err
	}
	for _, command := range commands {
		ended, err := l.launch(i, command)
		if err == nil {
			select {
			case err = <-ended:
			case <-ctx.Done():
				err = errors.Join(ctx.Err(), l.state.Nodes[i].kill())
			}
		}
		if err != nil {
			return l.failed(i, strings.Join(command.Args, " "), err)
		}
	}
	l.state.Nodes[i] = NodeState{}
	if l.state.Frail {
		return l.disk(i, diskKept) // an installation that was finished long ago
	}
	return nil
}

// open gives a command the node's account, folder and log.
func (l *Lab) open(cmd *exec.Cmd, command launch.Command, i int) (*os.File, error) {
	out, err := os.OpenFile(l.logFile(i), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	dir := l.state.Cluster.Nodes[i].Dir
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = append([]string{"HOME=" + dir}, command.Env...)
	for _, name := range environment {
		if v, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+v)
		}
	}
	cmd.Env = append(cmd.Env, l.env...)
	detach(cmd, l.account)
	return out, nil
}

// start starts a node and waits until it is ready.
func (l *Lab) start(ctx context.Context, i int) error {
	c, n := &l.state.Cluster, &l.state.Cluster.Nodes[i]
	n.First = true
	for k := range l.state.Nodes {
		n.First = n.First && (k == i || !l.state.Nodes[k].alive())
	}
	if err := l.mount(i); err != nil {
		return err
	}
	commands, err := l.server.Start(c, n)
	if err != nil {
		return err
	}
	l.state.Nodes[i] = NodeState{Running: true}
	l.children[i] = nil
	for _, command := range commands {
		ended, err := l.launch(i, command)
		if err != nil {
			return l.failed(i, "cannot be started", err)
		}
		l.children[i] = append(l.children[i], ended)
	}
	return l.await(ctx, i)
}

// launch starts a process, which outlives this one, and writes it down
// before it may begin. The channel brings its end, once.
func (l *Lab) launch(i int, command launch.Command) (chan error, error) {
	cmd := exec.Command("/bin/sh", append([]string{"-c", gate, "sh"}, command.Args...)...) //nolint:noctx // it outlives every context
	out, err := l.open(cmd, command, i)
	if err != nil {
		return nil, err
	}
	defer out.Close() //nolint:errcheck // the child has its own
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := within(l.state.Cluster.Isolation, i, cmd.Start); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	p, ok := identify(cmd.Process.Pid)
	if !ok {
		return nil, errors.New("ended at once")
	}
	l.state.Nodes[i].Processes = append(l.state.Nodes[i].Processes, p)
	if err := errors.Join(l.state.save(), confine(l.state.Cluster.Isolation, i, p.PID), throttleNode(&l.state.Cluster, i)); err != nil {
		_ = in.Close() // the shell leaves
		return nil, err
	}
	_, err = io.WriteString(in, "go\n")
	if closed := in.Close(); !errors.Is(closed, os.ErrClosed) { // by Wait, as a short command has ended
		err = errors.Join(err, closed)
	}
	return ended, err
}

// await queries a node until it replies.
func (l *Lab) await(ctx context.Context, i int) error {
	ctx, cancel := context.WithTimeout(ctx, l.patience)
	defer cancel()
	c, n := &l.state.Cluster, &l.state.Cluster.Nodes[i]
	for {
		err := l.server.Ready(ctx, c, n)
		if err == nil {
			l.state.URL = l.server.URL(c)
			return nil
		}
		if over, end := l.left(i); over {
			return l.failed(i, "ended by itself", end)
		}
		if ended := engine.Pause(ctx, poll); ended != nil {
			return l.failed(i, "does not answer", errors.Join(ended, err))
		}
	}
}

// left reports whether one of a node's processes has ended, and how.
func (l *Lab) left(i int) (over bool, end error) {
	for _, ended := range l.children[i] {
		select {
		case end := <-ended:
			ended <- end
			return true, end
		default:
		}
	}
	return false, nil
}

// failed is an error about a node, with the end of its log.
func (l *Lab) failed(i int, what string, err error) error {
	if err == nil {
		err = errors.New("status 0")
	}
	return &fault.Error{
		Setting: fmt.Sprintf("lab of %s, node %d", l.state.Engine, i+1), Problem: what,
		Err: fmt.Errorf("%w\n%s", err, l.Log(i)), Cure: "the end of its log is above",
	}
}

// logTail is how much of a log an error shows, in bytes.
const logTail = 2000

// Log is the end of a node's log, and of those that the server itself writes
// into the node's folder logs.
func (l *Lab) Log(i int) string {
	var all strings.Builder
	all.WriteString(end(os.ReadFile(l.logFile(i))))
	dir, err := os.OpenRoot(l.state.Cluster.Nodes[i].Dir) // no link of the server's account leads out of it
	if err != nil {
		return all.String()
	}
	defer dir.Close()                         //nolint:errcheck // only a handle
	own, _ := fs.Glob(dir.FS(), "logs/*.log") // the pattern is sound
	for _, name := range own {
		all.WriteString("\n" + path.Base(name) + ":\n" + end(dir.ReadFile(name)))
	}
	return all.String()
}

// end returns the last complete lines of a text.
func end(text []byte, err error) string {
	if err != nil {
		return err.Error()
	}
	if cut := len(text) - logTail; cut > 0 {
		text = text[cut:]
		if _, rest, ok := bytes.Cut(text, []byte("\n")); ok {
			text = rest
		}
	}
	return string(bytes.TrimSpace(text))
}

// Stop stops a node in an orderly way.
func (l *Lab) Stop(i int) error { return l.ended(i, l.state.Nodes[i].end(l.server.Stop)) }

// Kill kills a node with all its processes (kill -9).
func (l *Lab) Kill(i int) error { return l.ended(i, l.state.Nodes[i].kill()) }

// ended notes that a node no longer runs and waits for its child.
func (l *Lab) ended(i int, err error) error {
	if err != nil {
		return err
	}
	for _, ended := range l.children[i] {
		<-ended //nolint:errcheck // how it ended: it was instructed to
	}
	l.children[i] = nil
	l.state.Nodes[i].Running = false
	return nil
}

// StopAll stops all nodes in an orderly way, in the reverse of their order.
func (l *Lab) StopAll() error {
	for i := range slices.Backward(l.state.Nodes) {
		if err := l.Stop(i); err != nil {
			return err
		}
	}
	return nil
}

// RestartAll starts all nodes that do not run, with their data and ports, in the order that the
// server needs.
func (l *Lab) RestartAll(ctx context.Context) error {
	order, err := l.order(ctx)
	if err != nil {
		return err
	}
	for _, i := range order {
		if l.state.Nodes[i].Running {
			continue
		}
		if err := l.start(ctx, i); err != nil {
			return err
		}
	}
	return l.state.save()
}

// Restart starts a node again after Stop or Kill, with its data and ports. If all nodes of a
// cluster are down, start the one first that stopped last.
func (l *Lab) Restart(ctx context.Context, i int) error {
	if l.state.Nodes[i].alive() {
		return &fault.Error{Setting: fmt.Sprintf("lab of %s, node %d", l.state.Engine, i+1), Problem: "runs already", Cure: "stop it first"}
	}
	return l.start(ctx, i)
}

// givePorts gives every node free ports: own ones, and shared ones, which have the same number on
// the address of every node. It keeps all of them open until the last one is found, so it gives
// none twice.
func givePorts(c *launch.Cluster, own, shared []string) error {
	nodes := c.Nodes
	var listeners []net.Listener
	defer func() {
		for _, l := range listeners {
			_ = l.Close() // it was only reserved
		}
	}()
	for i := range nodes {
		nodes[i].Ports = map[string]int{}
		for _, name := range own {
			// On every address: some servers listen there, whatever their settings are.
			l, err := take("")
			if err != nil {
				return err
			}
			listeners = append(listeners, l)
			nodes[i].Ports[name] = port(l)
		}
	}
	for _, name := range shared {
		ls, err := listenOnAll(c)
		if err != nil {
			return err
		}
		listeners = append(listeners, ls...)
		for i := range nodes {
			nodes[i].Ports[name] = port(ls[0])
		}
	}
	return nil
}

// portTries is how often a number is drawn for a port.
const portTries = 1000

// leastPort is the lowest number that is given.
const leastPort = 20000

// take listens on a port that nobody has. Its number is below those that the
// system gives to connections: such a one could be taken by any client between
// now and the server's start, or while a killed server is down.
func take(host string) (net.Listener, error) {
	most := leastOfConnections()
	var last error
	for range portTries {
		n := leastPort + rand.IntN(most-leastPort)
		if !reserve(n) {
			continue
		}
		l, err := listen(host, n)
		if err == nil {
			return l, nil
		}
		last = err
	}
	return nil, errors.Join(fmt.Errorf("no port from %d to %d is free", leastPort, most-1), last)
}

// leastOfConnections is the lowest number that the system gives to connections
// that ask for none.
func leastOfConnections() int {
	const usual = 32768 // Linux's; elsewhere they begin higher
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	var low int
	if err != nil {
		return usual
	}
	if _, err := fmt.Sscan(string(text), &low); err != nil || low < leastPort+2*portTries {
		return usual
	}
	return low
}

// listenOnAll listens on one port of every node's address. Isolated nodes do not share port
// numbers; for them any port that is free here is right.
func listenOnAll(c *launch.Cluster) ([]net.Listener, error) {
	host := func(i int) string {
		if c.Isolation != nil {
			return ""
		}
		return c.Nodes[i].Host
	}
	var last error
	for range portTries {
		first, err := take(host(0))
		if err != nil {
			return nil, err
		}
		out := []net.Listener{first}
		for i := 1; i < len(c.Nodes) && err == nil && c.Isolation == nil; i++ {
			var l net.Listener
			if l, err = listen(host(i), port(first)); err == nil {
				out = append(out, l)
			}
		}
		if err == nil {
			return out, nil
		}
		last = err
		for _, l := range out {
			_ = l.Close() // it was only reserved
		}
	}
	return nil, errors.Join(errors.New("no port is free on the addresses of all nodes"), last)
}

func listen(host string, port int) (net.Listener, error) {
	return net.Listen("tcp4", net.JoinHostPort(host, strconv.Itoa(port))) //nolint:noctx // does not wait
}

func port(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }
