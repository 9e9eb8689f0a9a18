package lab

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/barograph/barograph/engine"
)

// givePorts gives every node ports that nobody listens on: own ones, and
// shared ones, which have one number on the address of every node. All are
// held until the last one is found, so that none is given twice.
func givePorts(c *engine.Cluster, own, shared []string) error {
	nodes := c.Nodes
	var held []net.Listener
	defer func() {
		for _, l := range held {
			_ = l.Close() // it was only held
		}
	}()
	for i := range nodes {
		nodes[i].Ports = map[string]int{}
		for _, name := range own {
			// On every address: some servers listen there, whatever they are told.
			l, err := take("")
			if err != nil {
				return err
			}
			held = append(held, l)
			nodes[i].Ports[name] = port(l)
		}
	}
	for _, name := range shared {
		ls, err := listenOnAll(c)
		if err != nil {
			return err
		}
		held = append(held, ls...)
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

// reserved is how long a number is given to nobody else: a server that has it
// listens by then.
const reserved = 5 * time.Minute

// reserve gives a number to this lab alone, among all labs of this user that
// start at the same time. Where no file can be made everything is granted: the
// port is then looked at, as ever.
func reserve(port int) bool {
	dir := filepath.Join(os.TempDir(), "barograph-ports-"+strconv.Itoa(os.Geteuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return true
	}
	name := filepath.Join(dir, strconv.Itoa(port))
	if info, err := os.Stat(name); err == nil && time.Since(info.ModTime()) > reserved {
		_ = os.Remove(name) // another lab may have been quicker
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return false
	}
	if err == nil {
		_ = f.Close() // it is empty
	}
	return true
}

// listenOnAll listens on one port of every node's address. Isolated nodes
// have all numbers to themselves; there any that is free here will do.
func listenOnAll(c *engine.Cluster) ([]net.Listener, error) {
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
			_ = l.Close() // it was only held
		}
	}
	return nil, errors.Join(errors.New("no port is free on the addresses of all nodes"), last)
}

func listen(host string, port int) (net.Listener, error) {
	return net.Listen("tcp4", net.JoinHostPort(host, strconv.Itoa(port))) //nolint:noctx // does not wait
}

func port(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }
