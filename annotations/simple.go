package annotations

// Text declares a key of one form with any text, unless the form has a type.
func Text(name, group, doc, example string, f Form[string]) *Key[string] {
	if f.Type.parse == nil {
		f.Type = String()
	}
	return newKey(name, group, doc, example, f)
}

// Number declares a key of one form with a whole number, unless the form has a type.
func Number(name, group, doc, example string, f Form[int]) *Key[int] {
	if f.Type.parse == nil {
		f.Type = Int()
	}
	return newKey(name, group, doc, example, f)
}

// Flag declares a key of one form that is true or false, unless the form has a type.
func Flag(name, group, doc string, f Form[bool]) *Key[bool] {
	if f.Type.parse == nil {
		f.Type = Bool()
	}
	return newKey(name, group, doc, "true", f)
}

// newKey returns a key of one form on a Service.
func newKey[T any](name, group, doc, example string, f Form[T]) *Key[T] {
	return &Key[T]{Name: name, Group: group, Doc: doc, Example: example, Forms: []Form[T]{f}}
}

// Staying declares that the removal of a new key leaves the last value in effect. It is part of
// the declaration: the key must not be in a Set yet.
func Staying[T any](k *Key[T]) *Key[T] {
	for i := range k.Forms {
		k.Forms[i].Removal = Stays
	}
	return k
}

// Configured declares the keys of the cloud configuration that are the default of all forms
// of a new key, strongest first, and the meaning of an empty value. It is part of the
// declaration: the key must not be in a Set yet.
func Configured[T any](k *Key[T], empty Empty, keys ...string) *Key[T] {
	for i := range k.Forms {
		k.Forms[i].Or, k.Forms[i].Empty = keys, empty
	}
	return k
}
