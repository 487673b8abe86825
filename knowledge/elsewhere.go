package knowledge

import "context"

// Elsewhere is what is kept of a project beside its facts: diaries, messages,
// tasks, shares. Health tells of its damage, and erasing names what is left
// there.
type Elsewhere interface {
	// Damage tells what is wrong with the files, and gives the paths of what
	// was set aside.
	Damage(ctx context.Context) (told, aside []string, err error)

	// Copies names what holds something. With an error it gives what it found.
	Copies(ctx context.Context, holds func(text string) bool) (refs []string, err error)
}
