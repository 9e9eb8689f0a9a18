// Package lab starts temporary servers: each in its own folder, on loopback or in network
// namespaces, on free ports, with the account that the engine names and a profile of settings.
// launch.Server describes what to run; this package owns the processes.
//
//	l, err := lab.Up(ctx, &driver, lab.Options{Dir: dir, Profile: "tuned"})
//	e, err := driver.Open(ctx, l.URL(), engine.Options{})
//	err = l.Down()
//
// A lab identifies a process by its pid and its start time, never only by the pid. It writes both into
// its state file before the process runs, so the next start cleans up a lab whose owner was killed.
//
// It also creates throttled disks: loop devices with limits of the kernel, measured before use.
// Options.Disks gives their folders to a server.
//
//	s, err := lab.UpDisks(ctx, lab.DiskOptions{Dir: dir, Count: 6, Profile: "hdd"})
//	d, ok := lab.DiskOf(folder) // the disk that contains it, with its measured rates
//	err = lab.DownDisks(dir)
package lab
