package e2e

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-lb/berth/status"
	"github.com/berth-lb/berth/test/harness"
)

// An intruder may write Services in its own namespace and nothing else. With these Services
// it tries to reach the load balancers of others.
type intruder struct {
	name string
	asks []change
}

// appliedKey is where the controller records on a Service what it has done; a user
// can write it by hand.
const appliedKey = status.AnnotationApplied

// isNew reports whether the Service does not exist in the API server yet: some fields
// are immutable afterwards.
func isNew(svc *corev1.Service) bool { return svc.CreationTimestamp.IsZero() }

// forgedServices returns Services that claim to be another one, or to have been ours.
func forgedServices(victim *corev1.Service) []intruder {
	classed := func(svc *corev1.Service) {
		if isNew(svc) {
			svc.Spec.LoadBalancerClass = victim.Spec.LoadBalancerClass
		}
	}
	copied := func(svc *corev1.Service) {
		if isNew(svc) {
			svc.UID, svc.Generation = victim.UID, victim.Generation
		}
		svc.Annotations, svc.Labels = maps.Clone(victim.Annotations), maps.Clone(victim.Labels)
		svc.Finalizers = slices.Clone(victim.Finalizers)
		svc.Status = *victim.Status.DeepCopy()
		classed(svc)
	}
	both := func(svc *corev1.Service) { svc.Finalizers = []string{stockFinalizer, ownFinalizer} }
	stopped := func(svc *corev1.Service) {
		svc.Spec.Type, svc.Spec.LoadBalancerClass = corev1.ServiceTypeClusterIP, nil
	}
	elsewhere := func(svc *corev1.Service) {
		if isNew(svc) {
			setClass("example.com/other")(svc)
		}
	}
	return []intruder{
		{victim.Name, nil}, // the same name in another namespace
		{"copy", []change{copied}},
		{"recorded", []change{setAnnotation(appliedKey, victim.Annotations[appliedKey]), both}},
		{"garbled", []change{setAnnotation(appliedKey, ";;class=;class=x"), both}},
		{"once-ours", []change{copied, both, stopped}},
		{"moved", []change{copied, both, elsewhere}},
		{"moved-garbled", []change{setAnnotation(appliedKey, "class=;x"), both, elsewhere}},
	}
}

// intrusion is a cloud with victims, and the Services written to reach them.
type intrusion struct {
	*world
	victims []corev1.Service
	sees    func(name string) (any, error)          // what clients have of a victim
	asks    func(victim *corev1.Service) []intruder // besides forgeries
	dump    func() map[string]any

	elsewhere string // namespace of the intruders
	user      kubernetes.Interface
	seen      map[string]any
	served    []map[string]any // cloud without, and with the victims
}

// run: victims are served as before while intruders create and delete Services, whether these
// were served as ordinary ones first or request too much at once. Afterwards the cloud is as
// it was.
func (in *intrusion) run(t *testing.T) {
	in.begin(t)
	in.controller()
	in.settle()
	in.powerless()
	var all, tame, wild []corev1.Service
	for i, v := range in.victims {
		victim := in.get(v.Name)
		for _, s := range append(forgedServices(victim), in.asks(victim)...) {
			svc := in.attack(s, i, s.asks...)
			all, wild = append(all, svc), append(wild, svc)
			if s.name == victim.Name {
				continue
			}
			svc = in.attack(intruder{"was-" + s.name, nil}, i)
			all, tame = append(all, svc), append(tame, svc)
		}
	}
	in.write(tame...)
	in.programmed(tame...)
	in.write(wild...)
	in.turn()
	in.eventually("every intruder has an answer", func() error { return in.answered(all) })
	in.settled(in.meter())
	in.untouched("while intruders exist")
	in.end(all)
}

// attack creates a Service for the i-th victim.
func (in *intrusion) attack(s intruder, i int, asks ...change) corev1.Service {
	svc := in.service(s.name, asks...)
	svc.Namespace = in.elsewhere
	if s.name != in.victims[i].Name {
		svc.Name = fmt.Sprintf("%s-%d", svc.Name, i)
	}
	return svc
}

// turn makes the tame Services request what the hostile ones request.
func (in *intrusion) turn() {
	in.t.Helper()
	for i, v := range in.victims {
		victim := in.get(v.Name)
		for _, s := range append(forgedServices(victim), in.asks(victim)...) {
			if s.name == victim.Name {
				continue
			}
			in.amend(in.attack(intruder{"was-" + s.name, nil}, i).Name, s.asks...)
		}
	}
}

// amend changes a Service with the intruder's account.
func (in *intrusion) amend(name string, asks ...change) {
	in.t.Helper()
	services := in.user.CoreV1().Services(in.elsewhere)
	in.eventually("an intruder changes "+name, func() error {
		svc, err := services.Get(in.t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, ask := range asks {
			ask(svc)
		}
		_, err = services.Update(in.t.Context(), svc, metav1.UpdateOptions{})
		return err
	})
}

// begin creates the intruder's namespace and role.
func (in *intrusion) begin(t *testing.T) {
	shared := in.place.plane.Cluster(t)
	in.elsewhere, in.seen = shared.Namespace(t), map[string]any{}
	config, err := shared.Impersonate("intruder")
	in.must(err)
	in.user, err = kubernetes.NewForConfig(config)
	in.must(err)
	rbac := in.Client.RbacV1()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "services"}, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{""}, Resources: []string{"services"}, Verbs: []string{"create", "update", "patch", "delete", "get"},
	}}}
	_, err = rbac.Roles(in.elsewhere).Create(t.Context(), role, metav1.CreateOptions{})
	in.must(err)
	_, err = rbac.RoleBindings(in.elsewhere).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "services"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "services"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "intruder"}},
	}, metav1.CreateOptions{})
	in.must(err)
}

// settle waits until the victims are served and records the state of the cloud.
func (in *intrusion) settle() {
	in.t.Helper()
	in.served = []map[string]any{in.dump()}
	in.must(in.Create(in.t.Context(), in.victims...))
	in.programmed(in.victims...)
	in.settled(in.meter())
	in.served = append(in.served, in.dump())
	for _, v := range in.victims {
		var err error
		in.seen[v.Name], err = in.sees(v.Name)
		in.must(err)
	}
}

// powerless verifies that the intruder can write neither a status nor an object of a victim,
// so that all effects are those of its Services.
func (in *intrusion) powerless() {
	in.t.Helper()
	ctx, victim := in.t.Context(), in.victims[0].Name
	probe := in.service("probe")
	probe.Namespace = in.elsewhere
	probe.Spec.Type = corev1.ServiceTypeClusterIP
	in.write(probe)
	mine, err := in.user.CoreV1().Services(in.elsewhere).Get(ctx, probe.Name, metav1.GetOptions{})
	in.must(err)
	mine.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.7"}}
	_, statusErr := in.user.CoreV1().Services(in.elsewhere).UpdateStatus(ctx, mine, metav1.UpdateOptions{})
	_, getErr := in.user.CoreV1().Services(in.ns).Get(ctx, victim, metav1.GetOptions{})
	_, nodeErr := in.user.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	for what, err := range map[string]error{"status": statusErr, "victim": getErr, "nodes": nodeErr} {
		if !apierrors.IsForbidden(err) {
			in.t.Errorf("an intruder may: %s: %v", what, err)
		}
	}
	in.must(in.user.CoreV1().Services(in.elsewhere).Delete(ctx, probe.Name, metav1.DeleteOptions{}))
}

// write creates Services with the intruder's account.
func (in *intrusion) write(services ...corev1.Service) {
	in.t.Helper()
	for _, svc := range services {
		_, err := in.user.CoreV1().Services(svc.Namespace).Create(in.t.Context(), &svc, metav1.CreateOptions{})
		if err != nil {
			in.t.Fatalf("%s: %v", svc.Name, err)
		}
	}
}

// answered wants a condition on every Service that asks us for a load balancer, of
// its last generation.
func (in *intrusion) answered(services []corev1.Service) error {
	for _, s := range services {
		svc, err := in.Get(in.t.Context(), s.Namespace, s.Name)
		if err != nil {
			return err
		}
		foreign := svc.Spec.LoadBalancerClass != nil && *svc.Spec.LoadBalancerClass == "example.com/other"
		c := harness.Condition(svc, status.TypeAccepted)
		if svc.Spec.Type == corev1.ServiceTypeLoadBalancer && !foreign && c.ObservedGeneration != svc.Generation {
			return fmt.Errorf("%s has no answer: %s", s.Name, harness.Conditions(svc))
		}
	}
	return nil
}

// untouched wants victims to have what they had.
func (in *intrusion) untouched(when string) {
	in.t.Helper()
	for _, v := range in.victims {
		now, err := in.sees(v.Name)
		in.must(err)
		if err := diffError(v.Name+" "+when, in.seen[v.Name], now); err != nil {
			in.t.Error(err)
		}
		in.programmed(v)
	}
}

// end deletes the intruders' Services, then the victims.
func (in *intrusion) end(attacks []corev1.Service) {
	in.t.Helper()
	for _, svc := range attacks {
		err := in.user.CoreV1().Services(svc.Namespace).Delete(in.t.Context(), svc.Name, metav1.DeleteOptions{})
		in.must(err)
		// No controller serves the class of the Services that request another controller: the
		// intruder has to remove by hand what it wrote there by hand.
		in.eventually("an intruder tidies up "+svc.Name, func() error { return in.tidy(svc) })
	}
	in.must(harness.Eventually(in.t.Context(), limit, in.Gone(attacks...)))
	in.untouched("after intruders have ended")
	in.eventually("the cloud is as before the intruders", func() error { return diffError("cloud", sortLists(in.served[1]), sortLists(in.dump())) })
	in.remove(in.victims...)
	in.eventually("nothing is left", func() error { return diffError("cloud", sortLists(in.served[0]), sortLists(in.dump())) })
}

func (in *intrusion) tidy(svc corev1.Service) error {
	now, err := in.user.CoreV1().Services(svc.Namespace).Get(in.t.Context(), svc.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil || now.Spec.LoadBalancerClass == nil || *now.Spec.LoadBalancerClass != "example.com/other" {
		return err
	}
	now.Finalizers = nil
	_, err = in.user.CoreV1().Services(svc.Namespace).Update(in.t.Context(), now, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// sortLists returns a state with its lists sorted: creations and deletions may have
// reordered the remaining elements.
func sortLists(doc any) any {
	switch doc := doc.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, v := range doc {
			out[k] = sortLists(v)
		}
		return out
	case []any:
		var out []any
		for _, v := range doc {
			out = append(out, sortLists(v))
		}
		slices.SortFunc(out, func(a, b any) int { return cmp.Compare(toJSON(a), toJSON(b)) })
		return out
	}
	return doc
}

func toJSON(doc any) string {
	body, err := json.Marshal(doc)
	return cmp.Or(string(body), fmt.Sprint(err))
}

// refusedBy: with the policy, no resource is created for a Service that names a resource of
// another Service.
func (in *intrusion) refusedBy(t *testing.T, policy string) {
	in.begin(t)
	in.controller("--policy-config=" + in.world.write(policy))
	in.settle()
	var all []corev1.Service
	for i, v := range in.victims {
		for _, s := range in.asks(in.get(v.Name)) {
			all = append(all, in.attack(s, i, s.asks...))
		}
	}
	meter := in.meter()
	in.write(all...)
	in.eventually("every intruder is refused", func() error {
		var errs error
		for _, s := range all {
			svc, err := in.Get(t.Context(), s.Namespace, s.Name)
			in.must(err)
			if c := harness.Condition(svc, status.TypeAccepted); c.Reason != string(status.ReasonPolicyRefused) {
				errs = errors.Join(errs, fmt.Errorf("%s: %s", s.Name, harness.Conditions(svc)))
			}
		}
		return errs
	})
	in.noWrites("refused intruders", meter)
	in.untouched("while intruders are refused")
	in.end(all)
}
