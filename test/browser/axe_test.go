package browser

import (
	"os"
	"strings"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// accessible fails the test for serious and critical violations that axe finds outside frames.
func (b *tab) accessible(axe, state string) {
	b.Helper()
	eval[bool](b, axe+"; true")
	for _, fault := range eval[[]string](b, `axe.run(document, { iframes: false }).then((r) => r.violations
		.filter((v) => ["serious", "critical"].includes(v.impact))
		.map((v) => v.id + ": " + v.nodes.map((n) => n.html).join(" ")))`) {
		b.Errorf("%s: %s", state, fault)
	}
}

// axeInFrames gives axe to the frames of pages that are opened later, whose policies allow no other
// way. It reports whether there is one.
func (b *tab) axeInFrames() bool {
	b.Helper()
	axe, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		return false
	}
	framed := "if (top !== self) window.startAxe = () => {" + string(axe) + "};"
	b.must2(chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: framed}))
	return true
}

// accessibleFrames fails the test for serious and critical violations that axe finds in documents
// of frames, which expressions return.
func (b *tab) accessibleFrames(state string, documents ...string) {
	b.Helper()
	for _, fault := range eval[[]string](b, `(async () => {
		const all = [];
		for (const page of [`+strings.Join(documents, ", ")+`]) {
			page.defaultView.startAxe();
			const { violations } = await page.defaultView.axe.run(page, { iframes: false });
			for (const v of violations) {
				if (["serious", "critical"].includes(v.impact)) all.push(v.id + ": " + v.nodes.map((n) => n.html).join(" "));
			}
		}
		return all;
	})()`) {
		b.Errorf("%s: %s", state, fault)
	}
}
