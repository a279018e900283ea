package wire

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/berth-lb/berth/providers/oci/model"
)

// machinePatience bounds a request to the metadata service; outside an instance there is no
// answer.
const machinePatience = 5 * time.Second

// machineDoc is the metadata of an instance.
// Source: Oracle's page "Getting Instance Metadata".
type machineDoc struct {
	Compartment string `json:"compartmentId"`
	Region      string `json:"canonicalRegionName"`
	Key         string `json:"region"`
}

// fromMachine adds region and compartment of the machine where the configuration has none,
// and says why it could not.
func fromMachine(ctx context.Context, c model.Config) (model.Config, error) {
	region := cmp.Or(c.Auth.Region, c.RegionKey, c.Endpoint)
	if region != "" && c.Compartment != "" {
		return c, nil
	}
	doc, err := readMachine(ctx)
	if err != nil {
		return c, err
	}
	c.Compartment = cmp.Or(c.Compartment, doc.Compartment)
	if region == "" {
		c.RegionKey = cmp.Or(doc.Region, doc.Key)
	}
	return c, nil
}

// readMachine reads the metadata service, at the address that the SDK uses.
func readMachine(ctx context.Context) (machineDoc, error) {
	var doc machineDoc
	base := cmp.Or(os.Getenv("OCI_METADATA_BASE_URL"), "http://169.254.169.254/opc/v2")
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/instance/", http.NoBody) //nolint:gosec // where the metadata are, who runs the process says
	if err != nil {
		return doc, fmt.Errorf("metadata of the machine: %w", err)
	}
	r.Header.Set("Authorization", "Bearer Oracle")
	client := &http.Client{Timeout: machinePatience, Transport: sdkTransport()}
	answer, err := client.Do(r) //nolint:gosec // as above
	if err != nil {
		return doc, fmt.Errorf("metadata of the machine: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return doc, fmt.Errorf("metadata of the machine: %s", answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(&doc); err != nil {
		return doc, fmt.Errorf("metadata of the machine: %w", err)
	}
	return doc, nil
}
