package annotations

// Place is where a key stands.
type Place string

// The places. The zero Place means ServiceAnnotation.
const (
	ServiceAnnotation Place = "service annotation"
	ServiceLabel      Place = "service label"
	NodeLabel         Place = "node label"
	NodeAnnotation    Place = "node annotation"
	PodAnnotation     Place = "pod annotation"
	PodLabel          Place = "pod label"
	NamespaceLabel    Place = "namespace label"
	OtherObject       Place = "other object"
)

// Change is what a new value does to a load balancer that is already there.
type Change string

// The effects of a change. The zero Change means InPlace.
const (
	InPlace              Change = "in place"
	Brief                Change = "brief interruption"
	Replaced             Change = "replaced"
	IgnoredAfterCreation Change = "ignored after creation"
	Refused              Change = "refused"
)

// Removal is what removing a key does to a live load balancer.
type Removal string

// The effects of a removal. The zero Removal brings the default back.
const (
	// Stays leaves the last value in effect.
	Stays Removal = "stays as it is"
)

// Bad is what a value does that is not legal.
type Bad string

// The effects of a bad value. The zero Bad means Refuse.
const (
	// Refuse is an Error: the last good load balancer stays as it is.
	Refuse Bad = "refused"
	// AsAbsent is a Warning, and the key counts as not set.
	AsAbsent Bad = "ignored"
	// UseFallback is a Warning, and the form's Fallback counts.
	UseFallback Bad = "counts as the fallback"
)

// Empty is what a key with an empty value means.
type Empty string

// The meanings of "". The zero Empty means EmptyParsed.
const (
	// EmptyParsed hands the empty text to the type like any other.
	EmptyParsed Empty = "value"
	// EmptyAbsent makes a key with an empty value count as not set.
	EmptyAbsent Empty = "absent"
)

// Writer is the writer of a key.
type Writer string

// The writers. The zero Writer means ByUser.
const (
	ByUser Writer = "user"
	// ByController keys report something: what a user writes there is not read.
	ByController Writer = "controller"
	// ByBoth keys are read, and written by the controller where the user wrote nothing.
	ByBoth Writer = "user and controller"
)

// Exposure is a group of clients that a key can admit.
type Exposure string

// The exposures. The zero Exposure means that the key admits no other clients.
const (
	// ToInternet keys decide whether the internet is admitted, or the network alone.
	ToInternet Exposure = "internet"
	// ToAccounts keys admit clients of other accounts, subscriptions or projects.
	ToAccounts Exposure = "other accounts"
)

// Support is the extent to which this version acts on a key.
type Support string

// The degrees of support. The zero Support means Works.
const (
	Works Support = "works"
	// Accepted keys are checked but have no effect; the Reason says why.
	Accepted Support = "accepted"
	// Later keys are not read by this version at all.
	Later Support = "later"
)
