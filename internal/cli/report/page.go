// SPDX-License-Identifier: Apache-2.0

package report

import (
	_ "embed" // the page

	"github.com/ashlar-dev/ashlar/internal/cli/page"
)

//go:embed page.html
var pageText string

// Page writes the document to a file as an interactive page.
func (d *Document) Page(name string) error {
	data, err := page.Data(d)
	if err != nil {
		return err
	}
	return page.Write(name, pageText, map[string]page.HTML{
		"Title": page.Text(d.Spec + ": " + d.Headline), "Headline": page.Text(d.Headline), "Data": data,
	})
}
