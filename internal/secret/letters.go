package secret

// pairs says how often one letter follows another in the names and words of Go's source and
// documentation: 6 plus the binary logarithm of the ratio to chance, from 0 to 9. The row is
// the first letter. MEASURED.md has how it was made.
const pairs = "" +
	"57884573725978274989664553" +
	"75546431742733640664622141" +
	"85658568617754953778652240" +
	"75579543831644643674644441" +
	"86897774524879576998566853" +
	"64566843801755750665613240" +
	"53538346601546751764523112" +
	"73247320702442630545503041" +
	"76877772233879973788372507" +
	"40004100202020320141302000" +
	"42337342600434331354322020" +
	"84579443904844841466643272" +
	"85458331704564782365631230" +
	"85888693736556753489663242" +
	"66874662635779770877777421" +
	"85558455705733772867633340" +
	"20422000300221012332601020" +
	"85669563815676852787654260" +
	"74759457815665774579735363" +
	"84659547903654862887644473" +
	"67656651610768462777121403" +
	"73448523602454552354224201" +
	"62435324601335530553202200" +
	"53535512500332361336220430" +
	"32324110400355361364112033" +
	"42017010400100200021021123"

const (
	wordRun   = 6    // letters in a row that are judged
	fewPairs  = 10   // below that number nothing can be said
	unlikely  = -0.2 // mean per pair below which letters are no words
	evenPairs = 6    // what pairs has for chance
)

// unlikelyLetters reports whether the letters of a text are so put together that they are no
// words.
func unlikelyLetters(s string) bool {
	sum, count := 0, 0
	for i := 0; i < len(s); {
		end := i
		for end < len(s) && 'a' <= lower(s[end]) && lower(s[end]) <= 'z' {
			end++
		}
		if end-i >= wordRun {
			for j := i + 1; j < end; j++ {
				sum += int(pairs[26*int(lower(s[j-1])-'a')+int(lower(s[j])-'a')]-'0') - evenPairs
			}
			count += end - i - 1
		}
		i = max(end, i+1)
	}
	return count >= fewPairs && float64(sum) < unlikely*float64(count)
}
