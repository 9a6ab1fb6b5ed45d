// Package store holds the specification of the store in TLA+. See README.md.
package store
