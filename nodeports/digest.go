package nodeports

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"net/netip"
	"strconv"
)

// digestLen is the length of a digest in hex digits: 64 bits distinguish all inputs
// of one cluster, and stay readable in logs and annotations.
const digestLen = 16

// digest hashes a sequence of texts, each with its length, so that different
// sequences have different inputs.
type digest struct{ h hash.Hash }

func newDigest() digest { return digest{h: sha256.New()} }

func (d digest) text(parts ...string) {
	for _, p := range parts {
		// A hash never answers a write with an error.
		d.h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
}

func (d digest) number(n int) { d.text(strconv.Itoa(n)) }

func (d digest) addrs(list []netip.Addr) {
	d.number(len(list))
	for _, a := range list {
		d.text(a.String())
	}
}

func (d digest) sum() string { return hex.EncodeToString(d.h.Sum(nil))[:digestLen] }
