package console

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/berth-lb/berth/service/page"
)

// trusted is how long an answer of the API server is used.
const trusted = 10 * time.Second

// mostKept bounds the answers that are kept at the same time.
const mostKept = 10000

// Access reports what users may read, as the API server decides.
type Access struct {
	client kubernetes.Interface
	users  kept[digest, *user]
	rights kept[right, bool]
}

// NewAccess returns an Access that has asked nothing yet.
func NewAccess(client kubernetes.Interface, c clock.PassiveClock) *Access {
	return &Access{client: client, users: kept[digest, *user]{clock: c}, rights: kept[right, bool]{clock: c}}
}

// digest stands for a token, which is not kept.
type digest = [sha256.Size]byte

// user is the owner of a token.
type user struct {
	of   digest
	info authenticationv1.UserInfo
}

// right is the right of a user to list the Services of a namespace; empty: of all namespaces.
type right struct {
	of        digest
	namespace string
}

// refuseToken returns the answer to a token that the API server does not accept.
func refuseToken() error {
	return &page.RefusalError{Status: http.StatusUnauthorized, Text: "the token is missing, wrong or expired: enter one that the API server accepts, such as that of kubectl create token"}
}

// refuseUser returns the answer to a user without rights. It names neither Services nor namespaces.
func refuseUser() error {
	return &page.RefusalError{Status: http.StatusForbidden, Text: "you may not list Services here: ask for the right to list services in your namespace"}
}

// identify returns the user with a token.
func (a *Access) identify(ctx context.Context, token string) (*user, error) {
	if token == "" {
		return nil, refuseToken()
	}
	of := sha256.Sum256([]byte(token))
	found, err := a.users.get(of, func() (*user, error) {
		review := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}
		answer, err := a.client.AuthenticationV1().TokenReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return nil, fmt.Errorf("the API server does not review the token: %w", err)
		}
		if !answer.Status.Authenticated {
			return nil, nil //nolint:nilnil // this answer is kept as well
		}
		return &user{of: of, info: answer.Status.User}, nil
	})
	if err == nil && found == nil {
		err = refuseToken()
	}
	return found, err
}

// mayList reports whether a user may list the Services of a namespace; empty: of all namespaces.
func (a *Access) mayList(ctx context.Context, u *user, namespace string) (bool, error) {
	return a.rights.get(right{u.of, namespace}, func() (bool, error) {
		extra := map[string]authorizationv1.ExtraValue{}
		for key, value := range u.info.Extra {
			extra[key] = authorizationv1.ExtraValue(value)
		}
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: u.info.Username, Groups: u.info.Groups, UID: u.info.UID, Extra: extra,
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: "list", Version: "v1", Resource: "services"},
		}}
		answer, err := a.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, review, metav1.CreateOptions{})
		if err != nil {
			return false, fmt.Errorf("the API server does not review the rights of the user: %w", err)
		}
		return answer.Status.Allowed && !answer.Status.Denied, nil
	})
}

// listable returns a function that reports which of some namespaces a user may list. The error is
// a refusal if there are none.
func (a *Access) listable(ctx context.Context, u *user, namespaces []string) (func(namespace string) bool, error) {
	all, err := a.mayList(ctx, u, metav1.NamespaceAll)
	if err != nil || all {
		return func(string) bool { return all }, err
	}
	var allowed []string
	for _, namespace := range namespaces {
		may, err := a.mayList(ctx, u, namespace)
		if err != nil {
			return nil, err
		}
		if may {
			allowed = append(allowed, namespace)
		}
	}
	if len(allowed) == 0 {
		return nil, refuseUser()
	}
	return func(namespace string) bool { return slices.Contains(allowed, namespace) }, nil
}

// kept holds answers for a while.
type kept[K comparable, V any] struct {
	clock clock.PassiveClock
	lock  sync.Mutex
	all   map[K]answer[V]
}

type answer[V any] struct {
	value V
	at    time.Time
}

// get returns a recent answer, or asks for one. An error is not kept.
func (k *kept[K, V]) get(key K, ask func() (V, error)) (V, error) {
	if found, recent := k.find(key); recent {
		return found, nil
	}
	value, err := ask()
	if err != nil {
		var none V
		return none, err
	}
	k.lock.Lock()
	defer k.lock.Unlock()
	if k.all == nil || len(k.all) >= mostKept {
		k.all = map[K]answer[V]{}
	}
	k.all[key] = answer[V]{value, k.clock.Now()}
	return value, nil
}

func (k *kept[K, V]) find(key K) (V, bool) {
	k.lock.Lock()
	defer k.lock.Unlock()
	found, ok := k.all[key]
	return found.value, ok && k.clock.Since(found.at) < trusted
}

// errCaches means that the list of Services is not complete.
var errCaches = errors.New("the cache of Services is not complete yet: read again in a few seconds")
