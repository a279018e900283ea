package service

import (
	"context"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/providers/fault"
	"github.com/berth-lb/berth/stack"
)

// noteTries is the number of attempts to write a note with concurrent writers.
const noteTries = 5

// notes are ConfigMaps in the namespaces of their Services, which own them: the API server
// removes them with the Service. They are read by name, one at a time, so that a cluster
// with few of them costs nothing.
type notes struct{ client kubernetes.Interface }

// NewNotes returns the notes of a cluster. The client needs the right to get them, and to
// create and update them for writes.
func NewNotes(client kubernetes.Interface) providers.Notes { return notes{client} }

// Read returns the contents of a note; nil: there is none.
func (n notes) Read(ctx context.Context, namespace, name string) (map[string]string, error) {
	found, err := n.client.CoreV1().ConfigMaps(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, noteFault("read", namespace, name, err)
	}
	return noteText(found), nil
}

// noteText returns the contents of a note; never nil.
func noteText(found *corev1.ConfigMap) map[string]string {
	if found.Data == nil {
		return map[string]string{}
	}
	return found.Data
}

// Change writes the result of change for a note.
func (n notes) Change(ctx context.Context, of stack.Owner, name string, change func(map[string]string) map[string]string) error {
	err := providers.Fenced(ctx)
	if err != nil {
		return noteFault("written", of.Namespace, name, err)
	}
	for range noteTries {
		if err = n.try(ctx, of, name, change); !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) {
			break
		}
	}
	if err != nil {
		return noteFault("written", of.Namespace, name, err)
	}
	return nil
}

func (n notes) try(ctx context.Context, of stack.Owner, name string, change func(map[string]string) map[string]string) error {
	client := n.client.CoreV1().ConfigMaps(of.Namespace)
	found, err := client.Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: of.Namespace, Name: name, OwnerReferences: ownedBy(of)}, Data: change(nil)}
		_, err = client.Create(ctx, made, metav1.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	now := change(maps.Clone(noteText(found)))
	if maps.Equal(now, noteText(found)) {
		return nil
	}
	changed := found.DeepCopy()
	changed.Data = now
	if len(changed.OwnerReferences) == 0 {
		changed.OwnerReferences = ownedBy(of)
	}
	_, err = client.Update(ctx, changed, metav1.UpdateOptions{})
	return err
}

// ownedBy returns the owner reference to the Service of a note.
func ownedBy(of stack.Owner) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "v1", Kind: "Service", Name: of.Name, UID: types.UID(of.UID)}}
}

func noteFault(done, namespace, name string, err error) error {
	f := fault.New(fault.Unavailable, "config map %s/%s cannot be %s: %v", namespace, name, done, err)
	switch {
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		f = fault.New(fault.Denied, "config map %s/%s may not be %s by the controller, which needs the right to get, create and update config maps: %v", namespace, name, done, err)
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		f = fault.New(fault.Conflict, "config map %s/%s: another program writes it again and again", namespace, name)
	}
	f.Err = err
	return f
}
