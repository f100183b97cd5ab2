"""Small numbers in words, in the languages that customers are answered in: "four", "quattro" and "vier" are 4."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from tools.engine.words import plain_words

# From one on.
IN_ORDER = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty",
    "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn "
    "neunzehn zwanzig",
    "uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho "
    "diecinueve veinte",
    "un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize",
    "uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette "
    "diciotto diciannove venti",
    "een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien achttien "
    "negentien twintig",
    "um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete dezoito dezenove "
    "vinte",
    "واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة عشرة",
    "אחד שניים שלושה ארבעה חמישה שישה שבעה שמונה תשעה עשרה",
)
FURTHER: Mapping[int, str] = {
    1: "ein eine einen einem einer una une uma واحدة אחת",
    2: "both couple zwo beide duas اثنين اثنتان اثنتين שתיים שני שתי",
    3: "ثلاث שלוש",
    4: "أربع ארבע",
    5: "خمس חמש",
    6: "ست שש",
    7: "سبع שבע",
    8: "ثمان ثماني",
    9: "تسع תשע",
    10: "عشر עשר",
}


def _numerals() -> Iterator[tuple[str, str]]:
    for line in IN_ORDER:
        yield from ((word, str(number)) for number, word in enumerate(plain_words(line), 1))
    for number, line in FURTHER.items():
        yield from ((word, str(number)) for word in plain_words(line))


# The digits of each word, without accents.
NUMERALS: Mapping[str, str] = dict(_numerals())
