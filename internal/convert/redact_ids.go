package convert

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

// A permutation replaces numbers with others under a key, one to one. Runtime ids are
// addresses, whose distances give away the tables that they point into.
type permutation struct{ block cipher.Block }

func newPermutation(key []byte) permutation {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // the key has one of AES's lengths
	}
	return permutation{block}
}

// rounds is the number of rounds after which a Feistel network with a random function
// cannot be distinguished from a random permutation (Luby and Rackoff).
const rounds = 4

// The width of half an id: the result stays below 2^62, because readers keep 8-byte ids in
// signed integers.
const (
	halfOf4 = 16
	halfOf8 = 31
)

// id replaces an id in a trace with pointers of ptrSize bytes. Zero means no id, and
// stays.
func (p permutation) id(v uint64, ptrSize int) uint64 {
	if v == 0 {
		return 0
	}
	half := halfOf8
	if ptrSize == 4 {
		half = halfOf4
	}
	out := p.feistel(v, half)
	if out == 0 { // the place of zero's own image is free, because zero stays
		return p.feistel(0, half)
	}
	return out
}

func (p permutation) feistel(v uint64, half int) uint64 {
	mask := uint64(1)<<half - 1
	left, right := v>>half&mask, v&mask
	for round := range rounds {
		var b [aes.BlockSize]byte
		b[0], b[1] = byte(round), byte(half)
		binary.LittleEndian.PutUint64(b[8:], right)
		p.block.Encrypt(b[:], b[:])
		left, right = right, left^binary.LittleEndian.Uint64(b[:])&mask
	}
	return left<<half | right
}
