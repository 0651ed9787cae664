// Package text writes for people: pages of prose, tables, and the words that go
// with numbers.
package text
