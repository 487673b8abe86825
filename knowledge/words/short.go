package words

import (
	"slices"
	"strings"
)

// shortNames are words and what they are short for, as stems; all on a line are the same. After = stands what the
// word has to begin with where other words share its stem (author is not authorization).
const shortNames = `
addr address
admin administr
app applic
arch architectur
arg argument
async asynchron
attr attribut
auth authent=authenticat
auth author=authori
avg averag
calc calcul
cert certif
cfg conf config configur
char charact
cmd command
conn connect=connection
coord coordin=coordinat
cred credenti
ctx context
db databas
decl declar
def definit=definition
dep depend=dependenc
desc descript
dest destin=destination
dev develop
diff differ=difference
dir directori
doc document
elem element
env environ
err error
eval evalu
exec execut
expr express=expression
ext extens
fmt format
fn func function
freq frequenc
gen generat
img imag=image
impl implement
info inform=information
infra infrastructur
init initi=initiali
inst instanc
int integ
iter iterat
js javascript
k8s kubernet
lang languag
len length
lib librari
mem memori
mgmt manag
misc miscellan
msg messag
nav navig
num number
obj object
op oper=operation
opt option
org organ=organi
param paramet
perf perform=performance
perm permiss
pg postgr postgresql
pkg packag
pos posit=position
pref prefer=preference
prev previous
proc process
proc procedur
prod product=production
prop properti
pwd passwd password
py python
qty quantiti
ref refer=reference
regex regexp
repo repositori
req request requir
resp respons=response
sched schedul
sec secur=security
seq sequenc
sess session
spec specif=specification
src sourc
stat statist
std standard
str string
svc servic
sync synchron
sys system
temp tmp temporari
temp temperatur
ts typescript
tx txn transact
var variabl
vec vector
ver version
vol volum
админ администрирован администратор
бд баз
док документац
инфр инфраструктур
инф информац
конфиг конфигурац
прод продакш
реп репозитор
`

// Shortened calls use with the stem of each word that a query's word abbreviates, or that abbreviates it. stem is
// that of the query's word.
func Shortened(stem, word string, use func(stem string)) {
	for line := range strings.Lines(shortNames) {
		if !strings.Contains(line, stem) {
			continue
		}
		group := strings.Fields(line)
		at := slices.IndexFunc(group, func(entry string) bool {
			short, full, _ := strings.Cut(entry, "=")
			return short == stem && strings.HasPrefix(word, full)
		})
		for i, entry := range group {
			if at >= 0 && i != at {
				other, _, _ := strings.Cut(entry, "=")
				use(other)
			}
		}
	}
}
