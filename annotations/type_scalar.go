package annotations

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// String accepts any text.
func String() Type[string] {
	return Custom("string", "any text", func(raw string) (string, error) { return raw, nil })
}

// NonEmpty accepts any text that is more than blanks.
func NonEmpty() Type[string] {
	return Custom("string", "text that is not empty", func(raw string) (string, error) {
		if strings.TrimSpace(raw) == "" {
			return "", errors.New("is empty")
		}
		return raw, nil
	})
}

// Bool accepts what Go's ParseBool accepts: 1, t, T, TRUE, true, True and the
// same for false.
func Bool() Type[bool] {
	return Custom("bool", "true or false", func(raw string) (bool, error) {
		value, err := strconv.ParseBool(raw)
		if err != nil {
			return false, errors.New("is not true or false")
		}
		return value, nil
	}).valued("true", "false")
}

// BoolWords reads words of its own, for instance "on" and "off". Every other
// text is bad; what then happens is for the form's Bad to say.
func BoolWords(yes, no []string, fold bool) Type[bool] {
	words := slices.Concat(yes, no)
	t := Custom("bool", oneOf(quoteAll(words)), func(raw string) (bool, error) {
		same := func(word string) bool { return word == raw || fold && strings.EqualFold(word, raw) }
		if slices.ContainsFunc(yes, same) {
			return true, nil
		}
		if slices.ContainsFunc(no, same) {
			return false, nil
		}
		return false, fmt.Errorf("is not %s", oneOf(quoteAll(words)))
	}).valued(words...)
	if fold {
		t.facts.tail = ", in any case"
	}
	return t
}

// BoolUnless is true for every text except the empty one and the given ones,
// compared exactly.
func BoolUnless(no ...string) Type[bool] {
	legal := "any text for true, " + oneOf(quoteAll(append([]string{""}, no...))) + " for false"
	return Custom("bool", legal, func(raw string) (bool, error) {
		return raw != "" && !slices.Contains(no, raw), nil
	})
}

// Presence is true whatever the text: the key alone counts.
func Presence() Type[bool] {
	return Custom("presence", "any text, the key alone counts", func(string) (bool, error) { return true, nil })
}

// Int accepts a whole number without bounds other than those of 32 bits.
func Int() Type[int] {
	return Type[int]{
		facts: facts{name: "int", head: "a whole number"},
		parse: func(raw string, _ scope) (int, []string, error) {
			value, err := strconv.ParseInt(raw, 10, 32)
			if errors.Is(err, strconv.ErrRange) {
				return 0, nil, errors.New("does not fit into 32 bits")
			}
			if err != nil {
				return 0, nil, errors.New("is not a whole number")
			}
			return int(value), nil, nil
		},
	}
}

// IntRange accepts a whole number from min to max.
func IntRange(minimum, maximum int) Type[int] {
	t := IntAtLeast(minimum).Checked(func(value int) error {
		if value > maximum {
			return fmt.Errorf("is above %d", maximum)
		}
		return nil
	})
	t.facts.tail = fmt.Sprintf(" from %d to %d", minimum, maximum)
	t.facts.max = newBound(maximum)
	return t
}

// IntAtLeast accepts a whole number of at least min.
func IntAtLeast(minimum int) Type[int] {
	t := Int().Checked(func(value int) error {
		if value < minimum {
			return fmt.Errorf("is below %d", minimum)
		}
		return nil
	})
	t.facts.tail = fmt.Sprintf(", at least %d", minimum)
	t.facts.min = newBound(minimum)
	return t
}

// IntOneOf accepts only the given numbers.
func IntOneOf(values ...int) Type[int] {
	texts := make([]string, 0, len(values))
	for _, value := range values {
		texts = append(texts, strconv.Itoa(value))
	}
	t := Int().Checked(func(value int) error {
		if !slices.Contains(values, value) {
			return fmt.Errorf("is not %s", oneOf(texts))
		}
		return nil
	}).valued(texts...)
	t.facts.tail = ", " + oneOf(texts)
	return t
}

// Duration accepts Go's notation, for instance 30s or 1h30m, within bounds.
func Duration(minimum, maximum time.Duration) Type[time.Duration] {
	legal := fmt.Sprintf("a duration such as 30s or 5m, from %s to %s", minimum, maximum)
	return Custom("duration", legal, func(raw string) (time.Duration, error) {
		value, err := time.ParseDuration(raw)
		switch {
		case err != nil:
			return 0, errors.New("is not a duration")
		case value < minimum:
			return 0, fmt.Errorf("is below %s", minimum)
		case value > maximum:
			return 0, fmt.Errorf("is above %s", maximum)
		}
		return value, nil
	})
}

// Enum accepts the given words in exact case.
func Enum[S ~string](values ...S) Type[S] { return newEnum(false, values) }

// EnumFold accepts the given words in any case and returns the given spelling.
func EnumFold[S ~string](values ...S) Type[S] { return newEnum(true, values) }

func newEnum[S ~string](fold bool, values []S) Type[S] {
	words := make([]string, 0, len(values))
	for _, value := range values {
		words = append(words, string(value))
	}
	t := Custom("enum", oneOf(quoteAll(words)), func(raw string) (S, error) {
		for _, value := range values {
			if string(value) == raw || fold && strings.EqualFold(string(value), raw) {
				return value, nil
			}
		}
		for _, value := range values {
			if strings.EqualFold(string(value), raw) {
				return "", fmt.Errorf("is not %q, case matters", string(value))
			}
		}
		return "", fmt.Errorf("is not %s", oneOf(quoteAll(words)))
	}).valued(words...)
	if fold {
		t.facts.tail = ", in any case"
	}
	return t
}

// valued lists the legal words for the docs.
func (t Type[T]) valued(words ...string) Type[T] {
	t.facts.values = words
	return t
}

func quoteAll(words []string) []string {
	out := make([]string, 0, len(words))
	for _, word := range words {
		out = append(out, strconv.Quote(word))
	}
	return out
}

func newBound(value int) *int64 {
	wide := int64(value)
	return &wide
}
