"""Write the 200 texts by which two models are compared: `python lab/recipes/build_identity_texts.py`.

They are chosen for what breaks when an encoder is changed behind its name. Twins are pairs of texts that an encoder
gives one vector where it does not see what they differ in: case, accents, blanks, or a last sentence beyond its
maximum length. A prompt's twin is a text with that prompt written before it: its vector is what the text alone has
once the prompt is on. An edition that was shipped is never changed: a saved file names its edition.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path

EDITION = 1
TARGET = Path(__file__).resolve().parents[2] / "src/encheck/operations/same/texts.json"
Row = dict[str, str]

PASSAGE = """
The night ferry left the island an hour late because fog lay over the whole bay. Two mechanics had replaced a pump in
the afternoon, and the captain wanted to hear the engine run before he cast off. On deck a school class from the
mainland sat among rucksacks and argued about who had lost the map. Nobody noticed that the wind had turned until the
first spray came over the rail. The cook closed the kitchen at nine and carried the last loaves of bread to the crew.
In the cabin below, a retired surveyor explained to a stranger how he had once measured the height of a glacier with a
barometer and a clock. She listened, took notes, and asked what he had done when the clock stopped. He had waited, he
said, for the shadow of the summit to reach the lake, and had counted the days afterwards. Further north the harbour
master looked at his screens and saw three ships where he had expected four. He called the coast guard, who found the
missing one behind a headland, with its lights on and its radio off. By midnight the fog had thinned and the lamps of
the fish market could be seen. Porters were already stacking crates of mackerel and ice, and a clerk chalked the first
prices on a board. A newspaper had promised rain, so the stalls stood under canvas, but the sky stayed clear. Behind
the market a bakery lit its ovens, and its owner tested a new flour from a mill in the hills. It took more water than
the old one and needed a longer rest. Her apprentice wrote the weights into a notebook, crossed them out, and wrote
them again. At the corner a cleaner found a violin in a case without a name and brought it to the police station. The
officer on duty played three notes, put it back, and filed a report that nobody would read before Monday. When the
ferry finally reached the pier, the class was asleep and the teacher counted heads twice. One child had dreamt of a
bridge made of glass and wanted to tell everyone about it at once. The surveyor shook hands with the stranger, who
turned out to be the new director of the museum. She asked him to bring the barometer, the clock and the story on
Thursday. He promised to come, missed the last bus, and walked home along the canal. The water was high after a wet
spring, and the lock keeper had opened both gates. Swans slept on the towpath with their heads under their wings.
Above the weir a student of hydrology changed the battery of a gauge and noted the level in centimetres. Her thesis
needed one more year of data, or a good reason to do without it. The town council would vote on a dam in the autumn,
and both parties wanted her numbers. She trusted the gauge more than the parties. At sunrise the first tram climbed
the hill with one passenger, who read a letter, folded it, and read it again.
""".split()

FIRST_END = "The inspector found that every valve was open."
SECOND_END = "My grandmother keeps eleven bees in a blue box."
SHARED = (20, 45, 90, 130, 180, 250, 360, 500, 720, 1000)  # words that two long twins have in common
LADDER = (85, 95, 105, 170, 190, 200, 210, 340, 370, 400)  # words; about 128, 256 and 512 tokens of English

PLAIN = [
    "The museum opens at ten on weekdays.",
    "She repaired the bicycle before breakfast.",
    "Interest rates were left unchanged for the third time this year.",
    "Our flight to Lisbon was cancelled because of a strike.",
    "How do I reset the password of a shared mailbox?",
    "A large dog is sleeping under the kitchen table.",
    "The committee rejected the proposal without a vote.",
    "Please send the signed contract to the legal department.",
    "Magnesium burns with a bright white flame.",
    "He has never eaten oysters, and he does not want to start.",
    "The patient was discharged with a prescription for antibiotics.",
    "Which documents do I need to register a car?",
    "Heavy rain flooded the cellar of the old town hall.",
    "The striker scored twice in the last five minutes.",
    "Water the seedlings every second day until they bloom.",
    "My card was charged twice for the same order.",
    "The orchestra rehearsed the slow movement again.",
    "A defect in the braking system led to a recall.",
    "Turn left after the bridge and follow the river.",
    "The dog bit the man.",
    "The man bit the dog.",
    "All members may vote, but not all members do.",
    "The soup was too salty, so we ordered something else.",
    "Shares of the airline fell after the profit warning.",
    "Children under six travel free of charge.",
    "Can I return shoes that I have already worn?",
    "The theory predicts a shift of the spectral lines.",
    "They moved to the countryside to raise goats.",
]
SHORT = ["cat", "Refund", "invoice overdue", "OK", "no", "quantum chromodynamics", "blue shoes", "why?", "the", "X"]
NUMBERS = [
    "Invoice 2024-00137 is due on 03/04/2025.",
    "The temperature fell to -12.5 °C overnight.",
    "Revenue rose from $1,299.99 to $12,999.90.",
    "1.000.000,00 EUR were transferred on 31.12.1999.",
    "Call +1 (555) 010-7788, extension 42.",
    "The ratio is 3:1, not 1:3.",
    "6.02214076e23 particles make one mole.",
    "0.1 + 0.2 = 0.30000000000000004",
    "Room 101 holds 12 people, room 110 holds 21.",
    "Version 10.4.2 fixes what version 10.4.1 broke.",
    "9999999999999999999999999999999999999999",
    "Chapter XIV, §7, footnote ³",
    "½ cup of sugar and ¾ cup of milk",
    "At 23:59:59 on the 29th of February 2028.",
    "4 8 15 16 23 42",
    "Forty-two of the one hundred and seven samples failed.",
    "IPv6 address 2001:db8::ff00:42:8329",
    "0x1F4A9 is a number in base sixteen.",
]
RARE = [
    "🚢",
    "The launch went well 🚀🚀🚀 and everyone cheered 🎉",
    "👩\u200d🔬 and 👨🏿\u200d🚒 met at the 🏳\ufe0f\u200d🌈 parade",
    "zero\u200bwidth\u200bspaces\u200bbetween\u200bwords",
    "soft\u00adhyphen in a long\u00adword",
    "right\u200fto\u200fleft marks and \u202eoverridden\u202c order",
    "a private use character: \ue000\uf8ff",
    "the replacement character: \ufffd\ufffd",
    "ｆｕｌｌｗｉｄｔｈ\u3000ｌｅｔｔｅｒｓ\u3000１２３",
    "𝔊𝔬𝔱𝔥𝔦𝔠 𝓈𝒸𝓇𝒾𝓅𝓉 𝕕𝕠𝕦𝕓𝕝𝕖",
    "∀ε>0 ∃δ>0: |x−a|<δ ⇒ |f(x)−f(a)|<ε",
    "┌──┬──┐│a│b│└──┴──┘",
    "Z\u0337\u0322\u031ba\u0334\u0327\u035dl\u0335\u0328\u0360g\u0336\u0322\u031bo\u0337\u0327\u035d",
    "𒀭𒂗𒍪",
    "bell \x07 and escape \x1b[31m characters",
    "“curly” ‘quotes’ — and – dashes … here",
    "ﬁne ﬂour in an oﬃce",
    "☃ ☂ ☀ ★ ♞ ♻ ⚖",
    "a\u00ad\u0300\u0301\u0302\u0303\u0304",
    "𐐷𐐲𐑌 𐑄𐐲 𐑅𐑌𐐬",
]
LANGUAGES = {
    "zh": "火车明天早上七点出发。",
    "zh-hant": "火車明天早上七點出發。",
    "ja": "電車は明日の朝七時に出発します。",
    "ko": "기차는 내일 아침 일곱 시에 출발합니다.",
    "ar": "يغادر القطار غدا في الساعة السابعة صباحا.",
    "he": "הרכבת יוצאת מחר בשבע בבוקר.",
    "fa": "قطار فردا ساعت هفت صبح حرکت می‌کند.",
    "hi": "रेलगाड़ी कल सुबह सात बजे चलेगी।",
    "bn": "ট্রেনটি আগামীকাল সকাল সাতটায় ছাড়বে।",
    "ta": "ரயில் நாளை காலை ஏழு மணிக்கு புறப்படும்.",
    "th": "รถไฟออกพรุ่งนี้เจ็ดโมงเช้า",
    "vi": "Tàu khởi hành lúc bảy giờ sáng mai.",
    "ru": "Поезд отправляется завтра в семь утра.",
    "uk": "Поїзд вирушає завтра о сьомій ранку.",
    "el": "Το τρένο φεύγει αύριο στις επτά το πρωί.",
    "de": "Der Zug fährt morgen früh um sieben ab.",
    "fr": "Le train part demain matin à sept heures.",
    "es": "El tren sale mañana a las siete de la mañana.",
    "pt": "O trem parte amanhã às sete da manhã.",
    "pl": "Pociąg odjeżdża jutro o siódmej rano.",
    "tr": "Tren yarın sabah yedide kalkıyor.",
    "fi": "Juna lähtee huomenaamulla kello seitsemän.",
    "hu": "A vonat holnap reggel hétkor indul.",
    "sw": "Treni inaondoka kesho saa moja asubuhi.",
}
CODE = [
    "def area(width, height):\n    return width * height\n",
    "for (let i = 0; i < rows.length; i++) { total += rows[i].price; }",
    "SELECT name, COUNT(*) FROM orders WHERE paid = 0 GROUP BY name;",
    '<a href="/help?id=7&amp;lang=en" class="link">Help</a>',
    '{"id": 17, "tags": ["new", "sale"], "price": null}',
    r"^\d{3}-[A-Z]{2}(?:\.\w+)?$",
    "tar -xzf backup.tar.gz -C /var/lib --strip-components=1",
    "TypeError: unsupported operand type(s) for +: 'int' and 'str' at line 42",
    "https://example.org/a/b?c=d%20e&f=%E2%82%AC#part-2",
    r"\frac{\partial u}{\partial t} = \alpha \nabla^2 u",
    "id,name,amount\n1,Ann,3.50\n2,Bob,\n",
    r"C:\Users\ann\Documents\report (final) v2.docx",
    "U29tZSBieXRlcyBhcyBiYXNlNjQ=",
    "550e8400-e29b-41d4-a716-446655440000",
    "server:\n  port: 8080\n  hosts: [alpha, beta]\n",
    'fn main() { println!("{:?}", vec![1u8; 4]); }',
    "#include <stdio.h>\nint main(void) { return 0; }",
    "x=1;y=x<<2|~z&0xFF",
]
EMPTY = ["", " ", "\n\n", "\t", ".", "?!"]
CASES = [
    "Apple released the update on Monday.",
    "The US team met WHO officials in Turkey.",
    "May will march in March.",
    "eBay and iPhone cases by McDonald",
]
ACCENTS = ["Her résumé mentions a café in Málaga.", "Über naïve façades in São Paulo", "Łódź, Ångström, Çeşme, Dvořák"]
COMPOSED = ["Crème brûlée à la carte", "한국의 가을은 아름답다"]
BLANKS = [
    "The  quick   test    has     blanks.",
    "First line\nsecond line\nthird line",
    "tabs\tbetween\tthe\twords",
    "  blanks before and after  ",
]
PROMPTED = ["The museum opens at ten on weekdays.", "How do I reset the password of a shared mailbox?"]
PROMPTS = [
    "query: ",
    "passage: ",
    "search_query: ",
    "search_document: ",
    "clustering: ",
    "Represent this sentence for searching relevant passages: ",
    "Represent the sentence: ",
    "title: none | text: ",
    "task: search result | query: ",
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ",
]


def passage(start: int, words: int) -> str:
    """So many words of the passage from this word on; it begins again at its end."""
    return " ".join(PASSAGE[(start + i) % len(PASSAGE)] for i in range(words))


def long_twins() -> Iterator[Row]:
    for words in SHARED:
        begun = passage(7 * words, words)
        first, second = f"length-{words}-a", f"length-{words}-b"
        yield {"id": first, "kind": "long", "text": f"{begun} {FIRST_END}"}
        yield {"id": second, "kind": "long", "text": f"{begun} {SECOND_END}", "twin": first, "shows": f"{words} words"}


def numbered(kind: str, texts: list[str]) -> Iterator[Row]:
    yield from ({"id": f"{kind}-{i:02}", "kind": kind, "text": text} for i, text in enumerate(texts, 1))


def twins(shows: str, pairs: list[tuple[str, str]]) -> Iterator[Row]:
    for i, (text, other) in enumerate(pairs, 1):
        first = f"{shows}-{i:02}-a"
        yield {"id": first, "kind": shows, "text": text}
        yield {"id": f"{shows}-{i:02}-b", "kind": shows, "text": other, "twin": first, "shows": shows}


def prompted() -> Iterator[Row]:
    ids = {row["text"]: row["id"] for row in numbered("plain", PLAIN)}
    for i, prompt in enumerate(PROMPTS, 1):
        for j, text in enumerate(PROMPTED, 1):
            yield {
                "id": f"prompt-{i:02}-{j}", "kind": "prompt", "text": prompt + text, "twin": ids[text], "shows": prompt
            }  # fmt: skip


def plain_letters(text: str) -> str:
    """Without accents."""
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


def rows() -> Iterator[Row]:
    """The texts, in their order."""
    yield from numbered("plain", PLAIN)
    yield from numbered("short", SHORT)
    yield from long_twins()
    yield from ({"id": f"ladder-{n}", "kind": "near the limit", "text": passage(3 * n, n)} for n in LADDER)
    yield from numbered("number", NUMBERS)
    yield from numbered("rare", RARE)
    yield from ({"id": f"language-{k}", "kind": "language", "text": text} for k, text in LANGUAGES.items())
    yield from numbered("code", CODE)
    yield from numbered("empty", EMPTY)
    yield from twins("case", [(text, text.lower()) for text in CASES])
    yield from twins("accents", [(text, plain_letters(text)) for text in ACCENTS])
    yield from twins("composed", [(text, unicodedata.normalize("NFD", text)) for text in COMPOSED])
    yield from twins("blanks", [(text, " ".join(text.split())) for text in BLANKS])
    yield from prompted()


def main() -> None:
    """Write the file, after a look at the numbers."""
    found = list(rows())
    assert len(found) == len({row["id"] for row in found}) == len({row["text"] for row in found}) == 200, len(found)
    lines = ",\n".join(json.dumps(row) for row in found)
    TARGET.write_text(f'{{"edition": {EDITION}, "texts": [\n{lines}\n]}}\n', "utf-8")


if __name__ == "__main__":
    main()
