package main

import "strings"

// groups are words that mean much the same to the model: the words of a line
// share a direction. The first line holds words that say little.
const groups = `
the a an and or of to in on at for from with by is are be this that our my own i we you how do does what because it not no new home room
bread loaf bake recipe oven kitchen flour
doctor nurse sick patients hospital treats helps medicine
car vehicle tires wheels needs wants fresh drive road
program software crashes fails error bug code
database table rows query sql store
deploy release ship server cluster
people person man woman child
cafe coffee tea milk
today tomorrow week day night
мир база данных
数 据 库 东 京
`

// pieces go on a word or stand alone.
const pieces = `##s ##ing ##ed ##er ##1 ##2 x y z q 1 2 3 . , ? ! : ; / # ( ) - _ '`

// vocabulary gives all tokens by id, and the group of each; -1 for those that
// are in none.
func vocabulary() (tokens []string, group []int) {
	add := func(g int, words ...string) {
		for _, w := range words {
			tokens, group = append(tokens, w), append(group, g)
		}
	}
	add(-1, "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
	for g, line := range strings.Split(strings.TrimSpace(groups), "\n") {
		add(g, strings.Fields(line)...)
	}
	add(-1, strings.Fields(pieces)...)
	return tokens, group
}
