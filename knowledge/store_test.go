package knowledge_test

import (
	"testing"
	"time"

	. "leanctx/knowledge"
)

// story is a store whose clock the test sets.
type story struct {
	*Store
	dir string
	now time.Time
}

func testStore(t *testing.T, o *Options) *story {
	t.Helper()
	s := &story{dir: t.TempDir(), now: time.Date(2026, 1, 15, 10, 0, 0, 0, time.UTC)}
	s.open(t, o)
	return s
}

func (s *story) open(t *testing.T, o *Options) {
	t.Helper()
	if o == nil {
		o = &Options{}
	}
	if o.ProjectRoot == "" {
		o.ProjectRoot, o.ProjectHash = "/home/u/my-app", "14958352f5925e3e"
	}
	o.Now = func() time.Time { return s.now }
	st, err := Open(s.dir, o)
	if err != nil {
		t.Fatal(err)
	}
	s.Store = st.As(Actor{Agent: "cursor-a3f8"})
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
}

func (s *story) remember(t *testing.T, a Assertion) Remembered {
	t.Helper()
	r, err := s.Remember(t.Context(), a)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (s *story) recall(t *testing.T, q Question) Recalled {
	t.Helper()
	r, err := s.Recall(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// only is the one fact of a name.
func (s *story) only(t *testing.T, category, key string) Found {
	t.Helper()
	r := s.recall(t, Question{Category: category, Key: key})
	if len(r.Facts) != 1 {
		t.Fatalf("[%s] %s: %d facts, want 1", category, key, len(r.Facts))
	}
	return r.Facts[0]
}

// days moves the clock on.
func (s *story) days(n int) { s.now = s.now.AddDate(0, 0, n) }
