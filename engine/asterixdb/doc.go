// Package asterixdb keeps archives in Apache AsterixDB.
package asterixdb
