package journal

// readMonth reads the abbreviated name of a month at the start of b. It returns the
// number of the month, 0 if there is none, and the length in bytes.
func readMonth(b []byte) (month, n int) {
	if len(b) >= 4 && b[3] == ' ' {
		if m := englishMonth(b[0], b[1], b[2]); m > 0 {
			return m, 3
		}
	}
	return foreignMonth(b)
}

func englishMonth(x, y, z byte) int {
	switch uint32(x)<<16 | uint32(y)<<8 | uint32(z) {
	case 'J'<<16 | 'a'<<8 | 'n':
		return 1
	case 'F'<<16 | 'e'<<8 | 'b':
		return 2
	case 'M'<<16 | 'a'<<8 | 'r':
		return 3
	case 'A'<<16 | 'p'<<8 | 'r':
		return 4
	case 'M'<<16 | 'a'<<8 | 'y':
		return 5
	case 'J'<<16 | 'u'<<8 | 'n':
		return 6
	case 'J'<<16 | 'u'<<8 | 'l':
		return 7
	case 'A'<<16 | 'u'<<8 | 'g':
		return 8
	case 'S'<<16 | 'e'<<8 | 'p':
		return 9
	case 'O'<<16 | 'c'<<8 | 't':
		return 10
	case 'N'<<16 | 'o'<<8 | 'v':
		return 11
	case 'D'<<16 | 'e'<<8 | 'c':
		return 12
	}
	return 0
}

// foreignMonths are abbreviations that C libraries print in other languages, where
// they differ from English, in lower case and without the final dot: French,
// German, Spanish, Italian, Portuguese, Dutch, Nordic, Polish, Czech, Russian,
// Turkish. East Asian months are a number and 月 or 월.
var foreignMonths = map[string]int{
	"janv": 1, "ene": 1, "gen": 1, "sty": 1, "led": 1, "янв": 1, "oca": 1,
	"févr": 2, "fev": 2, "lut": 2, "úno": 2, "фев": 2, "şub": 2,
	"mars": 3, "mär": 3, "märz": 3, "mrt": 3, "bře": 3, "мар": 3,
	"avr": 4, "abr": 4, "kwi": 4, "dub": 4, "апр": 4, "nis": 4,
	"mai": 5, "mag": 5, "mei": 5, "maj": 5, "kvě": 5, "май": 5, "мая": 5,
	"juin": 6, "giu": 6, "cze": 6, "čen": 6, "июн": 6, "haz": 6, "juni": 6,
	"juil": 7, "lug": 7, "lip": 7, "čec": 7, "июл": 7, "tem": 7, "juli": 7,
	"août": 8, "ago": 8, "sie": 8, "srp": 8, "авг": 8, "ağu": 8,
	"sept": 9, "set": 9, "wrz": 9, "zář": 9, "сен": 9, "eyl": 9,
	"okt": 10, "ott": 10, "out": 10, "paź": 10, "říj": 10, "окт": 10, "eki": 10,
	"lis": 11, "ноя": 11, "kas": 11,
	"déc": 12, "dez": 12, "dic": 12, "gru": 12, "pro": 12, "дек": 12, "des": 12, "ara": 12,
	// Lower-case spellings of the English names, which many languages use.
	"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7,
	"aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
}

// maxMonth is the length in bytes of the longest abbreviation, including the dot.
const maxMonth = 8

func foreignMonth(b []byte) (month, n int) {
	for n < len(b) && n <= maxMonth && b[n] != ' ' {
		n++
	}
	if n == 0 || n > maxMonth || n == len(b) {
		return 0, 0
	}
	if m := asianMonth(b[:n]); m > 0 {
		return m, n
	}
	var low [maxMonth]byte
	k := copy(low[:], b[:n])
	if low[k-1] == '.' {
		k--
	}
	for i := range k {
		if c := low[i]; c >= 'A' && c <= 'Z' {
			low[i] = c + 'a' - 'A'
		}
	}
	m := foreignMonths[string(low[:k])]
	if m == 0 {
		return 0, 0
	}
	return m, n
}

// asianMonth reads "1月" to "12월".
func asianMonth(word []byte) int {
	d := len(word) - 3
	if d != 1 && d != 2 || string(word[d:]) != "月" && string(word[d:]) != "월" {
		return 0
	}
	m := digit(word[0])
	if d == 2 {
		m = two(word)
	}
	if m < 1 || m > 12 {
		return 0
	}
	return m
}
