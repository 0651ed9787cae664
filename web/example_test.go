package web_test

import (
	"fmt"
	"strings"

	"github.com/gctrail/gctrail/web"
)

func Example() {
	page := "<style>" + web.Style + "</style><script>" + web.Script + "</script>"
	fmt.Println(strings.Count(page, "</script>"), strings.Count(page, "</style>"))
	// Output: 1 1
}
