package validate

import (
	"encoding/json"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/berth-lb/berth/providers"
	"github.com/berth-lb/berth/service"
	"github.com/berth-lb/berth/service/edits"
	"github.com/berth-lb/berth/service/reconcile"
	"github.com/berth-lb/berth/service/webhook"
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/status"
)

// Paths of the webhook by what it does with problems: namespaces choose by their label.
const (
	PathWarn    = "/validate-services/warn"
	PathEnforce = "/validate-services/enforce"
)

// Limits of warnings. The API server cuts longer ones, and drops more of them.
// Source: k8s.io/apiserver, pkg/endpoints/filters/warning.go.
const (
	maxWarnings = 10
	maxLength   = 250
)

// Judge says how Services are judged.
type Judge struct {
	Cloud     providers.Entry
	Classes   service.Classes
	Admission *service.Admission
}

// Handler returns the handler that judges Services. If it enforces, it denies a Service with an
// error, and a change that a live load balancer cannot take in place; else it warns. Problems that
// the Service had before, and Services that are being deleted, are always allowed.
func Handler(j Judge, enforce bool) webhook.Handler {
	return func(r *admissionv1.AdmissionRequest) (webhook.Verdict, error) {
		if r.Resource.Resource != "services" || r.SubResource != "" || r.Operation != admissionv1.Create && r.Operation != admissionv1.Update {
			return webhook.Verdict{}, nil
		}
		after, err := decodeService(r.Object.Raw)
		if err != nil {
			return webhook.Verdict{}, err
		}
		before, err := decodeService(r.OldObject.Raw)
		if err != nil {
			return webhook.Verdict{}, err
		}
		if after == nil || after.DeletionTimestamp != nil {
			return webhook.Verdict{}, nil
		}
		return buildVerdict(j.findings(before, after), enforce), nil
	}
}

// decodeService reads a Service; nil: there is none.
func decodeService(raw []byte) (*corev1.Service, error) {
	if len(raw) == 0 {
		return nil, nil //nolint:nilnil // the old object of a create
	}
	svc := &corev1.Service{}
	if err := json.Unmarshal(raw, svc); err != nil {
		return nil, fmt.Errorf("service: %w", err)
	}
	return svc, nil
}

// finding is one thing that a user should know.
type finding struct {
	text string
	deny bool
}

// findings lists new problems of a Service, and changes that a live load balancer cannot take
// in place.
func (j Judge) findings(before, after *corev1.Service) []finding {
	if !j.serves(after) {
		return nil
	}
	head := edits.Version{Services: []edits.Side{j.side(after)}}
	base := edits.Version{}
	if before != nil && j.serves(before) {
		base.Services = []edits.Side{j.side(before)}
	}
	var out []finding
	for _, s := range edits.Compare(base, head).Services {
		for _, p := range s.Problems {
			text := p.Code + " " + strings.TrimPrefix(p.Where+": "+p.Text, ": ")
			out = append(out, finding{text, p.Severity == plan.Error})
		}
		for _, e := range s.Edits {
			if text := inPlaceOnly(e); text != "" {
				out = append(out, finding{text, after.Annotations[status.AnnotationAllow] != status.AllowReplace})
			}
		}
	}
	return out
}

// inPlaceOnly describes an edit that a live load balancer cannot take in place; empty: it can.
func inPlaceOnly(e edits.Edit) string {
	switch e.Impact {
	case edits.Replaced:
		return fmt.Sprintf("%s: the change replaces the load balancer, which interrupts traffic; the annotation %s=%s permits it", e.Where, status.AnnotationAllow, status.AllowReplace)
	case edits.Ignored:
		return fmt.Sprintf("%s: the change has no effect on the existing load balancer; create the Service again, or permit it with the annotation %s=%s", e.Where, status.AnnotationAllow, status.AllowReplace)
	case edits.Forbidden:
		return fmt.Sprintf("%s: the existing load balancer cannot be changed, and stays as it is; create the Service again, or permit it with the annotation %s=%s", e.Where, status.AnnotationAllow, status.AllowReplace)
	default: // in place, or of a new load balancer
	}
	return ""
}

// serves reports whether a load balancer results from a Service.
func (j Judge) serves(svc *corev1.Service) bool {
	return j.Classes.Claim(svc) == service.Served && j.Cloud.Choose(svc).Elsewhere == ""
}

// side returns a Service with its judgement.
func (j Judge) side(svc *corev1.Service) edits.Side {
	owner := reconcile.OwnerOf(svc)
	judged := service.JudgeFields(svc, owner, j.Cloud, j.Admission)
	out := edits.NewSide(svc)
	out.ServeBy(j.Cloud.Name, judged.Kind, judged.Reach.Internet, j.Cloud.Annotations)
	for _, p := range service.PublicProblems(judged.Problems) {
		out.Problems = append(out.Problems, edits.Problem{Problem: p})
	}
	return out
}

// buildVerdict returns the verdict of findings: what is denied, or the warnings.
func buildVerdict(found []finding, enforce bool) webhook.Verdict {
	var denied, warnings []string
	for _, f := range found {
		if enforce && f.deny {
			denied = append(denied, f.text)
		} else {
			warnings = append(warnings, f.text)
		}
	}
	if len(warnings) > maxWarnings {
		rest := len(warnings) - maxWarnings + 1
		warnings = append(warnings[:maxWarnings-1], fmt.Sprintf("%d more warnings: see berth check", rest))
	}
	for i, text := range warnings {
		warnings[i] = cutWarning(text)
	}
	return webhook.Verdict{Denied: strings.Join(denied, "; "), Warnings: warnings}
}

// cutWarning returns the text in at most maxLength bytes, cut between characters.
func cutWarning(text string) string {
	if len(text) <= maxLength {
		return text
	}
	const end = "..."
	cut := 0
	for i := range text {
		if i > maxLength-len(end) {
			break
		}
		cut = i
	}
	return text[:cut] + end
}
