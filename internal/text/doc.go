// Package text writes for people: pages of prose, tables, and the words that go
// with numbers. Text longer than a screen goes through the user's pager, as with git.
package text
