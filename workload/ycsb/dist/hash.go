package dist

// Hash is YCSB's hash of a number: FNV-1, 64 bits, over its eight bytes from
// the lowest on, but with the steps of FNV-1a; without its sign.
func Hash(v int64) int64 {
	const offset, prime = 0xCBF29CE484222325, 1099511628211
	h := uint64(offset)
	for range 8 {
		h ^= uint64(v) & 0xff
		v >>= 8
		h *= prime
	}
	if s := int64(h); s < 0 {
		return -s
	}
	return int64(h)
}
