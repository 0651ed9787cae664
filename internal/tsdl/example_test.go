package tsdl_test

import (
	"fmt"
	"log"

	"github.com/gctrail/gctrail/internal/tsdl"
)

// This lists the fields of events that metadata declares. Damaged metadata gives an
// error, and the part before the damage.
func ExampleParse() {
	t, err := tsdl.Parse([]byte(`/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = le; };
stream { id = 0; };
event { name = "GCStart"; id = 7; stream_id = 0; fields := struct { integer { size = 32; align = 8; } _Count; }; };
event { name = "GCEnd"; id = 8; stream_id = 0; fields := struct {
`))
	if t == nil {
		log.Fatal(err)
	}
	for _, e := range t.Streams[0].Events {
		for _, f := range e.Payload.Fields {
			fmt.Printf("%s (%d): %s of %d bits\n", e.Name, e.ID, f.Name, f.Type.Size)
		}
	}
	fmt.Println(err)
	// Output:
	// GCStart (7): Count of 32 bits
	// metadata: 6: malformed: the text ends where a type belongs
}
