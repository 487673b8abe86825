package config

import (
	"path/filepath"
	"testing"
)

func TestModels(t *testing.T) {
	data := t.TempDir()
	for _, x := range []struct {
		dir, auto string
		wantDir   string
		want, bad bool
	}{
		{wantDir: filepath.Join(data, "models")},
		{dir: filepath.Join(data, "m"), auto: "1", wantDir: filepath.Join(data, "m"), want: true},
		{auto: "0", wantDir: filepath.Join(data, "models")},
		{auto: "maybe", bad: true},
	} {
		at(t, map[string]string{DataDirVar: data, ModelsDirVar: x.dir, DownloadVar: x.auto})
		c, err := Load("", "")
		if x.bad != (err != nil) {
			t.Errorf("%+v: %v", x, err)
		} else if err == nil && (c.ModelsDir != x.wantDir || c.AutoDownload != x.want) {
			t.Errorf("%+v: %s, %v", x, c.ModelsDir, c.AutoDownload)
		}
	}
}
