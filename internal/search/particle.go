package search

// particles are what Korean writes onto the end of a noun (조사), alone and in
// common combinations. Words that end like a particle without having one
// (재시도, 우선순위) are why a document keeps every word as it is: a particle only
// adds a token to a short run, and is only taken off a query word where the
// word as written finds too little.
var particles = map[string]bool{
	"은": true, "는": true, "이": true, "가": true, "을": true, "를": true, "의": true, "에": true, "로": true,
	"와": true, "과": true, "도": true, "만": true,
	"에서": true, "에게": true, "으로": true, "에는": true, "에도": true, "에만": true, "로는": true, "로도": true,
	"와는": true, "과는": true, "와의": true, "과의": true, "까지": true, "부터": true, "처럼": true, "보다": true,
	"마다": true, "조차": true, "만이": true, "만을": true, "만은": true, "이나": true, "이란": true, "이라": true,
	"한테": true, "하고": true,
	"에서는": true, "에서도": true, "에서만": true, "에서의": true, "에게는": true, "에게서": true, "으로는": true,
	"으로도": true, "으로만": true, "으로의": true, "로부터": true, "까지는": true, "까지도": true, "까지의": true,
	"부터는": true, "부터의": true, "에까지": true, "이라는": true, "이라고": true,
	"으로부터": true, "에서부터": true,
}

// longestParticle is the number of syllables of the longest particle.
const longestParticle = 4

// isParticle tells whether the word is a particle.
func isParticle(word string) bool { return particles[word] }

// stemLength gives the number of syllables before the particle at the end of a
// word, all of them where there is none or where it would leave a single one.
func stemLength(word string) int {
	n := 0
	for at := range word {
		if n >= 2 && isParticle(word[at:]) {
			return n
		}
		n++
	}
	return n
}
