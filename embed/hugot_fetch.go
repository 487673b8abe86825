package embed

import (
	"fmt"

	"github.com/knights-analytics/hugot"
)

// fetch downloads a model from the hub that HF_ENDPOINT names into a folder of
// dir, which it gives. The hub's client takes no context and keeps a second
// copy below XDG_CACHE_HOME, so it runs in a child that can be ended, with that
// variable pointing to where the copy is thrown away. The file must be named:
// repositories hold several.
func fetch(repository, file, dir string) (folder string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	o := hugot.NewDownloadOptions()
	o.OnnxFilePath = file
	o.MaxRetries, o.RetryInterval = 1, 0 // the registry is the second try
	return hugot.DownloadModel(repository, dir, o)
}
