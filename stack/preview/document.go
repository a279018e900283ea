package preview

import (
	"github.com/berth-lb/berth/stack/plan"
	"github.com/berth-lb/berth/stack/traffic"
)

// Documents returns ports in their public form.
func Documents(ports []Port) []plan.PortDoc {
	var out []plan.PortDoc
	for _, p := range ports {
		doc := plan.PortDoc{
			Port: p.Number, Protocol: p.Protocol, Family: string(p.Family), Moves: p.Moves,
			Opens: traffic.RangeTexts(p.Opens), Closes: traffic.RangeTexts(p.Closes), Missing: traffic.RangeTexts(p.Missing),
		}
		switch {
		case p.Lost != nil:
			doc.Effect, doc.Lost = plan.Interrupted, p.Lost.String()
			if p.Restored != nil {
				doc.Restored = p.Restored.String()
			}
		case p.Brief != nil:
			doc.Effect, doc.Lost, doc.Restored = plan.Briefly, p.Brief.String(), p.Brief.String()
		case len(p.Kept) > 0:
			doc.Effect = plan.Uninterrupted
		}
		out = append(out, doc)
	}
	return out
}
