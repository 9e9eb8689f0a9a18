// Package growth makes a longer series from the files of some days, for barograph growth: the real
// days, moved to later days, under more models if wanted, and questions about one day and about
// all days. Test with: go test ./study/growth
package growth
