//go:build !linux

package measure

// dropCaches always returns ErrCannotDrop: macOS's purge and Windows' RAMMap are interactive tools.
func dropCaches([]string, string) (string, error) { return "", ErrCannotDrop }
