//go:build !linux

package measure

// dropCaches cannot: macOS's purge and Windows' RAMMap are tools for people.
func dropCaches([]string, string) (string, error) { return "", ErrCannotDrop }
