// Package lab starts throwaway servers: each in a folder of its own, on
// loopback or in network namespaces, on free ports, as the account that the engine names,
// with a profile of settings. What to run comes from launch.Server; this
// package owns the processes.
//
//	l, err := lab.Up(ctx, &driver, lab.Options{Dir: dir, Profile: "tuned"})
//	e, err := driver.Open(ctx, l.URL(), engine.Options{})
//	err = l.Down(ctx)
//
// A process is known by its pid and the moment it started, never by the pid
// alone, and it is written into the lab's state before it may begin, so that
// a lab whose owner was killed is cleaned up at the next start.
//
// It makes throttled disks, too: loop devices with limits of the kernel,
// measured before use, whose folders Options.Disks gives to a server.
//
//	s, err := lab.UpDisks(ctx, lab.DiskOptions{Dir: dir, Count: 6, Profile: "hdd"})
//	d, ok := lab.DiskOf(folder) // the disk that it lies on, with its figures
//	err = lab.DownDisks(dir)
package lab
