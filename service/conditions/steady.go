package conditions

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"unicode"

	"github.com/berth-lb/berth/providers/fault"
)

// Steady is the text of an error for a condition: the same for the same failure,
// however often it is tried. Clouds put into their answers what differs each time
// (identifiers of requests, encoded messages, ports of connections, times); a condition
// that took them over would be written at every try. What the program itself has sent stays,
// such as the identifier of a subnet that the Service names: sent is text that contains
// it. The log has the whole text.
func Steady(err error, sent ...string) string {
	var first *fault.Fault
	if (fault.Is(err, fault.Throttled) || fault.Is(err, fault.Unavailable)) && errors.As(err, &first) {
		err = first // which calls it was differs from one try to the next
	}
	return omitVariable(OneLine(err), sent)
}

// identifier is the length from which on a word that was sent counts as an identifier:
// shorter ones, such as a number of seconds, are in a request by chance.
const identifier = 16

// left replaces omitted text.
const left = "..."

// omitVariable replaces the parts of a text that differ from one answer to the next.
func omitVariable(text string, sent []string) string {
	words := strings.Fields(text)
	for i, word := range words {
		core := strings.Trim(word, `.,;:!?'"(){}<>`)
		switch {
		case core == "", len(core) >= identifier && slices.ContainsFunc(sent, func(s string) bool { return strings.Contains(s, core) }):
		case isVariable(core), isNumber(core) && i+1 < len(words) && unitOfTime(words[i+1]):
			words[i] = strings.Replace(word, core, left, 1)
		}
	}
	return strings.Join(words, " ")
}

// isVariable reports whether a word belongs to a single answer.
func isVariable(word string) bool {
	return isAddressPort(word) || isDuration(word) || isUUID(word) || isSerial(word) || isBlob(word)
}

// isAddressPort reports whether a word is one address with a port, or two of them.
func isAddressPort(word string) bool {
	for end := range strings.SplitSeq(word, "->") {
		if _, err := netip.ParseAddrPort(end); err != nil {
			return false
		}
	}
	return true
}

// isDuration reports whether a word is a duration as Go formats it, such as 1m3.5s.
func isDuration(word string) bool {
	rest := strings.TrimRight(word, "hmnuµs")
	return rest != word && len(rest) > 0 && strings.Trim(rest, "0123456789.hms") == "" && unicode.IsDigit(rune(word[0]))
}

func isUUID(word string) bool {
	parts := strings.Split(word, "-")
	if len(parts) != 5 {
		return false
	}
	for i, length := range []int{8, 4, 4, 4, 12} {
		if len(parts[i]) != length || strings.Trim(parts[i], "0123456789abcdefABCDEF") != "" {
			return false
		}
	}
	return true
}

// isSerial reports whether a word is a hexadecimal number in capitals, possibly with dots, as
// Google and S3 number their answers. Lower case ones are mostly names of resources.
func isSerial(word string) bool {
	const shortest = 12
	return len(word) >= shortest && strings.Trim(word, "0123456789ABCDEF.") == "" &&
		strings.ContainsAny(word, "ABCDEF") && strings.ContainsAny(word, "0123456789")
}

// isBlob reports whether a word is longer than any name and consists of base64 characters.
func isBlob(word string) bool {
	const shortest = 65 // labels and names of resources end at 63 or 64
	if len(word) < shortest || strings.HasPrefix(word, "/") {
		return false
	}
	return !strings.ContainsFunc(word, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("+/=-_", r)
	})
}

func isNumber(word string) bool { return strings.Trim(word, "0123456789.") == "" }

func unitOfTime(word string) bool {
	word = strings.TrimRight(strings.ToLower(word), `.,;:!?)'"`)
	switch strings.TrimSuffix(word, "s") {
	case "second", "sec", "minute", "min", "hour", "millisecond", "m":
		return true
	default:
		return false
	}
}
