package intent

import "testing"

// Short words say nothing of a task; the others are met folded, and by what
// begins with them.
func TestMeets(t *testing.T) {
	for _, tt := range []struct {
		task  string
		texts []string
		want  int
	}{
		{"Mend the gateways of billing", []string{"service", "billing port"}, 1},
		{"mend the login", []string{"Logins", "are mended there"}, 2},
		{"mend the logins", []string{"login"}, 0},
		{"the and for", []string{"the and for"}, 0},
		{"", []string{""}, 0},
		{"Починить Вход", []string{"вход в систему"}, 1},
	} {
		if got := Of(tt.task).Meets(tt.texts...); got != tt.want {
			t.Errorf("%q meets %q %d times, not %d", tt.task, tt.texts, got, tt.want)
		}
	}
}
