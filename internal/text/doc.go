// Package text writes for people: pages of prose, tables, and the words that go
// with numbers. What is longer than a screen goes through the user's pager, as git does it.
package text
