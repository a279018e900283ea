package wire

// Route is one method of an API: its name, its HTTP method and its path with
// parameters in braces, from behind the version on.
type Route struct {
	ID     string
	Method string
	Path   string
	Write  bool // it changes state
}
