package fleet

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// DefaultDatabase is the database of a ClickHouse store whose address names none.
const DefaultDatabase = "gctrail"

// Open returns the store at a place: a ClickHouse server's address, as in
// http://user@host:8123/database, or the path of a folder. It does not connect.
func Open(place, password string) (Store, error) {
	if !strings.HasPrefix(place, "http://") && !strings.HasPrefix(place, "https://") {
		if place == "" {
			return nil, errors.New("the store is empty: give a ClickHouse address or a folder")
		}
		return &Folder{Path: place}, nil
	}
	u, err := url.Parse(place)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%q is not the address of a ClickHouse server, such as http://host:8123/gctrail", place)
	}
	c := &ClickHouse{User: u.User.Username(), Password: password, Database: strings.Trim(u.Path, "/")}
	if given, ok := u.User.Password(); ok {
		c.Password = given
	}
	c.Database = cmp.Or(c.Database, DefaultDatabase)
	c.URL = (&url.URL{Scheme: u.Scheme, Host: u.Host}).String()
	return c, nil
}
