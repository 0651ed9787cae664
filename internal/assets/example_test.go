package assets_test

import (
	"fmt"
	"strings"

	"github.com/gctrail/gctrail/internal/assets"
)

func Example() {
	page := "<style>" + assets.Style + "</style><script>" + assets.Script + "</script>"
	fmt.Println(strings.Count(page, "</script>"), strings.Count(page, "</style>"))
	// Output: 1 1
}
