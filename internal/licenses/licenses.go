// Package licenses holds the licences of the software of others that is linked
// into gctrail.
package licenses

import _ "embed" // the licences

//go:generate go run ./gen

// Text is all of them, each under the name of its module.
//
//go:embed THIRD_PARTY_LICENSES
var Text string
