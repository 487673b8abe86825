package words

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTerms(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{" \t\n", nil},
		{"... !? --- ''", nil},
		{"The running tests", []string{"the", "run", "test"}},
		{"getUserName", []string{"get", "user", "name", "getusernam"}},
		{"get_user-name", []string{"get", "user", "name", "getusernam"}},
		{"HTTPServer", []string{"http", "server", "httpserver"}},
		{"all APIs and URLs", []string{"all", "api", "and", "url"}},
		{"src/auth/token_store.go", []string{"src", "auth", "token", "store", "tokenstor", "go", "srcauthtokenstorego"}},
		{`C:\dir\a.txt`, []string{"c", "dir", "a", "txt", "cdiratxt"}},
		{"sha256 RS256 v2 a3f8", []string{"sha", "256", "sha256", "rs", "256", "rs256", "v2", "a3f8"}},
		{"bleve v2.6.1", []string{"bleve", "2.6.1"}},
		{"C++ and C# in .NET", []string{"c++", "and", "c#", "in", ".net"}},
		{"Caroline's don't O’Brien", []string{"carolin", "dont", "o", "brien", "obrien"}},
		{"мы тестировали тестирование ёлки", []string{"мы", "тестирова", "тестирован", "елк"}},
		{"café CAFÉ cafe\u0301", []string{"cafe", "cafe", "cafe"}},
		{"Straße STRASSE strasse GROẞ", []string{"strass", "strass", "strass", "gross"}},
		{"Łódź lodz Malmø cœur Ægir", []string{"lodz", "lodz", "malmo", "coeur", "aegir"}},
		{"ＦＵＬＬ ﬁle", []string{"full", "file"}},
		{"データベース", []string{"デー", "ータ", "タベ", "ベー", "ース", "ス"}},
		{"JWTを使う", []string{"jwt", "を使", "使う", "う"}},
		{"猫", []string{"猫"}},
		{"שָׁלוֹם عَرَبِيّ", []string{"שלום", "عربي"}},
		{"ship it 🚀🚀", []string{"ship", "it", "🚀", "🚀"}},
		{"to-do", []string{"to", "do", "todo"}},
		{"ab\xffcd \xf0\x28", []string{"ab", "cd"}},
		{"a\x00b", []string{"a", "b"}},
	} {
		if diff := cmp.Diff(tt.want, Terms(tt.text)); diff != "" {
			t.Errorf("Terms(%q) (-want +got):\n%s", tt.text, diff)
		}
	}
}
