package sim

import "net/netip"

// LastAddress returns the last address of a range.
func LastAddress(r netip.Prefix) netip.Addr {
	b := r.Masked().Addr().AsSlice()
	for i := r.Bits(); i < 8*len(b); i++ {
		b[i/8] |= 0x80 >> (i % 8)
	}
	last, _ := netip.AddrFromSlice(b) // its length is that of an address
	return last
}
