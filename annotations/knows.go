package annotations

// Knows tells whether the key is declared, for whatever place or kind. Only a
// key that is not can be misspelt.
func (s *Set) Knows(key string) bool { return len(s.find(key)) > 0 }
