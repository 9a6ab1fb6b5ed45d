// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"math"
	"strings"
)

// Series is a line of a plot: points in the order in which they are joined.
type Series struct {
	Name string
	X, Y []float64
}

// Size of a plot, and the space around it for its texts.
const (
	plotWidth, plotHeight             = 720.0, 420.0
	plotLeft, plotRight               = 70.0, 20.0
	plotTop, plotBottom               = 40.0, 50.0
	plotTicks                         = 5
	legendLine, legendLeft, legendTop = 18.0, 90.0, 58.0
)

// plotColours are those of the lines, in turn; people who see few colours can tell them
// apart.
var plotColours = [...]string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00"}

// Plot draws lines over two axes that begin at 0, as an SVG document.
func Plot(title, x, y string, lines []Series) []byte {
	mostX, mostY := 0.0, 0.0
	for _, l := range lines {
		for i := range l.X {
			mostX, mostY = max(mostX, l.X[i]), max(mostY, l.Y[i])
		}
	}
	mostX, mostY = roundUp(mostX), roundUp(mostY)
	across := func(v float64) float64 { return plotLeft + v/mostX*(plotWidth-plotLeft-plotRight) }
	down := func(v float64) float64 { return plotHeight - plotBottom - v/mostY*(plotHeight-plotTop-plotBottom) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" font-family="sans-serif" font-size="12">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<rect width="%g" height="%g" fill="#fff"/>`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<text x="%g" y="20" font-size="14">%s</text>`+"\n", plotLeft, Text(title))
	for i := range plotTicks + 1 {
		vx, vy := mostX*float64(i)/plotTicks, mostY*float64(i)/plotTicks
		fmt.Fprintf(&b, `<line x1="%g" y1="%.1f" x2="%g" y2="%[2]f" stroke="#ddd"/>`+"\n", plotLeft, down(vy), plotWidth-plotRight)
		fmt.Fprintf(&b, `<text x="%g" y="%.1f" text-anchor="end">%s</text>`+"\n", plotLeft-6, down(vy)+4, figure(vy))
		fmt.Fprintf(&b, `<text x="%.1f" y="%g" text-anchor="middle">%s</text>`+"\n", across(vx), plotHeight-plotBottom+18, figure(vx))
	}
	fmt.Fprintf(&b, `<text x="%g" y="%g" text-anchor="middle">%s</text>`+"\n", (plotLeft+plotWidth-plotRight)/2, plotHeight-12, Text(x))
	fmt.Fprintf(&b, `<text transform="translate(16 %g) rotate(-90)" text-anchor="middle">%s</text>`+"\n", (plotTop+plotHeight-plotBottom)/2, Text(y))
	for i, l := range lines {
		colour := plotColours[i%len(plotColours)]
		var at []string
		for k := range l.X {
			at = append(at, fmt.Sprintf("%.1f,%.1f", across(l.X[k]), down(l.Y[k])))
			fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", across(l.X[k]), down(l.Y[k]), colour)
		}
		fmt.Fprintf(&b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(at, " "), colour)
		fmt.Fprintf(&b, `<text x="%g" y="%g" fill="%s">%s</text>`+"\n", legendLeft, legendTop+legendLine*float64(i), colour, Text(l.Name))
	}
	b.WriteString("</svg>\n")
	return []byte(b.String())
}

// roundUp returns the next number that is 1, 2 or 5 times a power of ten.
func roundUp(x float64) float64 {
	if x <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(x)))
	for _, n := range []float64{1, 2, 5} {
		if x <= n*unit {
			return n * unit
		}
	}
	return 10 * unit
}

// figure writes a number of an axis.
func figure(x float64) string {
	switch {
	case x >= 1e6:
		return fmt.Sprintf("%gM", math.Round(x/1e4)/100)
	case x >= 1e4:
		return fmt.Sprintf("%gk", math.Round(x/10)/100)
	}
	return fmt.Sprintf("%g", math.Round(x*100)/100)
}
