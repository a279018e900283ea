package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// right is one thing that a role allows: a verb on a resource. Empty namespace or
// name: in all, on all.
type right struct{ namespace, group, resource, name, verb string }

// request is one line of the API server's audit log.
type request struct {
	Verb string `json:"verb"`
	User struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		APIGroup    string `json:"apiGroup"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
	ResponseStatus struct {
		Code int `json:"code"`
	} `json:"responseStatus"`
	RequestObject json.RawMessage `json:"requestObject"`
	URI           string          `json:"requestURI"`
}

func (r request) resource() string {
	if r.ObjectRef.Subresource == "" {
		return r.ObjectRef.Resource
	}
	return r.ObjectRef.Resource + "/" + r.ObjectRef.Subresource
}

// needs reports whether a right is what allows a request.
func (r request) needs(x right) bool {
	return x.group == r.ObjectRef.APIGroup && x.resource == r.resource() && x.verb == r.Verb &&
		(x.namespace == "" || x.namespace == r.ObjectRef.Namespace) && (x.name == "" || x.name == r.ObjectRef.Name)
}

// requests lists the requests for resources that a user has sent, from the audit log of the
// API server.
func (w *world) requests(user string) []request {
	w.t.Helper()
	file, err := os.Open(w.Cluster.AuditLog())
	w.must(err)
	defer func() { _ = file.Close() }() // it is only read
	var out []request
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		if !strings.Contains(lines.Text(), user) {
			continue
		}
		var r request
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			continue // the line that is being written
		}
		if r.User.Username == user && r.ObjectRef.Resource != "" {
			out = append(out, r)
		}
	}
	w.must(lines.Err())
	return out
}

// rights lists the rights that are bound to the release's account.
func (r *release) rights() []right {
	r.w.t.Helper()
	ctx, rbac := r.w.t.Context(), r.w.Client.RbacV1()
	mine := func(subjects []rbacv1.Subject) bool {
		return slices.ContainsFunc(subjects, func(s rbacv1.Subject) bool {
			return s.Kind == rbacv1.ServiceAccountKind && s.Namespace == r.namespace && s.Name == r.account()
		})
	}
	var out []right
	everywhere, err := rbac.ClusterRoleBindings().List(ctx, metav1.ListOptions{})
	r.w.must(err)
	for _, b := range everywhere.Items {
		if mine(b.Subjects) {
			role, err := rbac.ClusterRoles().Get(ctx, b.RoleRef.Name, metav1.GetOptions{})
			r.w.must(err)
			out = append(out, splitRules("", role.Rules)...)
		}
	}
	somewhere, err := rbac.RoleBindings("").List(ctx, metav1.ListOptions{})
	r.w.must(err)
	for _, b := range somewhere.Items {
		if mine(b.Subjects) {
			role, err := rbac.Roles(b.Namespace).Get(ctx, b.RoleRef.Name, metav1.GetOptions{})
			r.w.must(err)
			out = append(out, splitRules(b.Namespace, role.Rules)...)
		}
	}
	return out
}

// splitRules returns one right for each verb of each resource of the rules.
func splitRules(namespace string, rules []rbacv1.PolicyRule) []right {
	var out []right
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, name := range names {
					for _, verb := range rule.Verbs {
						out = append(out, right{namespace, group, resource, name, verb})
					}
				}
			}
		}
	}
	return out
}

// inEffect waits until the API server grants the release's account the rights that are bound
// to it. The authorizer reads roles from its own cache, which lags on a busy machine, so that
// earlier requests are refused. A Pod starts seconds later than its roles are created.
func (r *release) inEffect() {
	w := r.w
	w.t.Helper()
	user := r.user()
	for _, x := range r.rights() {
		resource, sub, _ := strings.Cut(x.resource, "/")
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: x.namespace, Verb: x.verb, Group: x.group, Resource: resource, Subresource: sub, Name: x.name,
			},
		}}
		w.eventually(fmt.Sprintf("%s has the right %+v", r.name, x), func() error {
			answer, err := w.Client.AuthorizationV1().SubjectAccessReviews().Create(w.t.Context(), review, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			return diffError("allowed", true, answer.Status.Allowed)
		})
	}
}

// leastRights compares the rights of the account with its requests: every request has a
// right, and every right is used. Events are sent a while after what they report.
func (r *release) leastRights() {
	r.w.t.Helper()
	rights, used := r.rights(), map[right]bool{}
	if len(rights) == 0 {
		r.w.t.Fatalf("%s has no rights at all", r.user())
	}
	user, refused := r.user(), map[string]bool{}
	r.w.eventually(r.name+" uses all its rights", func() error {
		for _, q := range r.w.requests(user) {
			granted := false
			for _, x := range rights {
				if q.needs(x) {
					granted, used[x] = true, true
				}
			}
			if !granted || q.ResponseStatus.Code == 401 || q.ResponseStatus.Code == 403 {
				refused[fmt.Sprintf("%s %s (%d): %s", q.Verb, q.resource(), q.ResponseStatus.Code, q.URI)] = true
			}
		}
		var all error
		for _, x := range rights {
			if !used[x] {
				all = errors.Join(all, fmt.Errorf("granted and never used: %+v", x))
			}
		}
		return all
	})
	for what := range refused {
		r.w.t.Errorf("%s: used and not granted: %s", r.name, what)
	}
}
