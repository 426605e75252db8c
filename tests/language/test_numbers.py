"""Numbers in text: read, written in another way, and left alone where they are no numbers."""

from fractions import Fraction

import pytest

from encheck.language.english import English
from encheck.language.numbers import numerals
from encheck.language.numbers.mentions import PARALLEL, PRESUPPOSED, find_number_mentions
from encheck.language.numbers.numerals import ORDINALS, parse_digits, parse_number_words, spell_number, spell_ordinal
from encheck.language.prose import is_english


@pytest.mark.parametrize("number", [*range(130), 999, 1_000, 1_066, 12_300, 100_001, 2_300_000, 10**9 + 7])
def test_words_are_read_back_as_the_number_they_spell(number):
    assert parse_number_words(spell_number(number)) == number


def test_ordinals_are_read_back():
    assert [ORDINALS[spell_ordinal(n)] for n in range(1, 100)] == [*range(1, 100)]


@pytest.mark.parametrize("text", ["7", "1,250.50", ".05", "0.05", "2.5 million", "40k", "1500"])
def test_digits_are_written_back_as_they_stood(text):
    value, style = parse_digits(text)
    assert style.write(value) == text


def test_a_style_refuses_what_it_has_no_place_for():
    _, style = parse_digits("12 thousand")
    with pytest.raises(ValueError, match="12500 has more than 0 decimal places"):
        style.write(Fraction(12_500))


@pytest.mark.parametrize("value", [Fraction(2), Fraction(12), Fraction(2500), Fraction("1.5"), Fraction(10**6)])
@pytest.mark.parametrize("size", numerals.SIZES)
def test_other_values_are_others_and_each_size_has_some(value, size):
    decimals = 1 if value % 1 else 0
    found = numerals.list_values_at_distance(value, decimals=decimals, distance=size, minimum=0 if decimals else 2)
    assert found
    assert value not in found
    assert min(found) >= (0 if decimals else 2)


def test_near_is_nearer_than_middle_and_middle_than_far():
    reach = [
        max(abs(v - 40) for v in numerals.list_values_at_distance(Fraction(40), distance=size))
        for size in numerals.SIZES
    ]
    assert reach == sorted(reach)


@pytest.fixture(scope="module")
def found():
    """The mentions of a text, or the reason why it has none."""
    english = English()

    def found(text):
        english.parse_all([text])
        return find_number_mentions(english.stored_parse(text))

    return found


WRITTEN = {
    "The dose was given to 12 people.": ("12", "cardinal", {"twelve"}),
    "The dose is 40 mg.": ("40 mg", "measure", {"40 milligrams"}),
    "Sales rose 5% on Monday.": ("5%", "percentage", {"5 percent", "five percent"}),
    "The board paid $4.50 for it.": ("$4.50", "money", {"4.50 dollars", "four dollars and fifty cents"}),
    "It cost €2.5 million to build.": ("€2.5 million", "money", {"€2.5m", "€2,500,000", "2.5 million euros"}),
    "We walked 3 km on Sunday.": ("3 km", "measure", {"3 kilometers", "three kilometers", "3,000 meters"}),
    "They waited for two weeks.": ("two weeks", "measure", {"2 weeks", "14 days"}),
    "The contract ends on 5 March 2024.": (
        "5 March 2024", "date", {"March 5, 2024", "2024-03-05", "the fifth of March 2024"},
    ),
    "It starts at 7:30 p.m. on Friday.": ("7:30 p.m.", "time", {"19:30", "half past seven in the evening"}),
    "The bridge was built in 1998.": ("1998", "year", {"the year 1998", "’98"}),
    "He lives on the third floor.": ("third", "ordinal", {"3rd"}),
    "The job takes 10-15 minutes.": ("10-15", "range", {"ten to fifteen", "10 to 15"}),
    "It works with version 2.1 only.": ("version 2.1", "version", {"v2.1"}),
    "A 14-year-old boy was hurt.": ("14-year-old", "compound", {"fourteen-year-old"}),
    "Order #48210 is late again.": ("#48210", "code", {"number 48210"}),
    "Two thirds of the voters agree.": ("Two thirds", "fraction", {"2/3"}),
    "She bought two dozen eggs.": ("two dozen", "cardinal", {"24"}),
    "Music of the 1980s is back.": ("1980s", "decade", {"eighties"}),
    "They won 3-2 at home.": ("3-2", "score", {"3 to 2"}),
    "See chapter 5 of the manual.": ("5", "label", {"five"}),
    "The toll from the flood rose to 35 on Monday.": ("35", "cardinal", {"thirty-five"}),
    "I leave in 1 month.": ("1 month", "cardinal", {"one month"}),
    "He rents a 1-bedroom flat.": ("1-bedroom", "compound", {"one-bedroom"}),
    "We have over 2000 files here.": ("2000", "cardinal", {"two thousand"}),
    "It sells for 50 $ in June.": ("50 $", "money", {"$50", "50 dollars"}),
    "The flat costs Rs 60000 in Pune.": ("Rs 60000", "money", {"60000 rupees", "sixty thousand rupees"}),
    "I bought two of these lamps.": ("two", "cardinal", {"2"}),
    "There is a 2 mm nodule in it.": ("2 mm", "measure", {"2-mm", "2-millimeter"}),
    "The baby weighed 2.85 kg then.": ("2.85 kg", "measure", {"2.85 kilograms", "2,850 grams"}),
    "It suits a 4-5 year old child.": ("4-5", "range", {"4 to 5"}),
    "They order 300 pizzas every day.": ("300", "cardinal", {"three hundred"}),
    "Did he come? No. 15 people came.": ("15", "cardinal", {"fifteen"}),
    "Roughly 3/4 of the class agreed.": ("3/4", "fraction", {"three quarters"}),
    "The town has 5k residents.": ("5k", "cardinal", {"5 thousand", "5,000"}),
    "The wall is 3 ft high.": ("3 ft", "measure", {"3 feet", "three feet"}),
}  # fmt: skip


@pytest.mark.parametrize("text", WRITTEN)
def test_a_number_is_found_and_written_otherwise(found, text):
    said, kind, forms = WRITTEN[text]
    one = next(m for m in found(text) if m.kind == kind)
    assert text[one.start : one.end] == said
    assert one.write(one.value) == said
    assert {form.write(one.value) for form in one.forms} == forms


LEFT = {
    "See https://example.org/a/12 for it.": "no number",
    "Run `get_user(12)` and look at it.": "no number",
    "He wrote to max12@example.org about it.": "no number",
    "Windows 10 is slow on it.": "part of a name",
    "It fell between 5 and 7 on the scale.": "numbers that depend on each other",
    "The attacks of 9/11 changed the law.": "no number",
    "Le train part à 7 heures demain matin.": "not in English",
    "2024-03-05 10:11:12,345 [17] ERR 0x3f 99": "a table, a log line or code",
    "The cat sat on the mat.": "no number",
    "Please call the desk on 555-0100 after lunch.": "no number",
    "It warms a 20 m² room in May.": "no other way to write the number",
    "Bring the Lumia 535 phone.": "part of a name",
    "Releases 1.1, 1.5 and 2.0 are new.": "numbers that depend on each other",
    "Two patients died. Neither death was due to it.": "a number that the text goes on to count",
    "It takes three arguments: a name, a size and a path.": "a number that the text goes on to count",
    "More than four out of five parents agree.": "numbers that depend on each other",
    "It has a 4 wheel drive for snow.": "no number",
    "It was cut by 20%, from 30 to 24 units.": "a number that the text goes on to count",
    "It was cut from $30 to $24 in May.": "numbers that depend on each other",
    "Its odds are 7 to 3 at the moment.": "numbers that depend on each other",
    "Singers & # 197 ; and players came.": "no number",
    "The flat costs 3;500 riyals.": "no number",
    "The tea is 10.00 QR here.": "no other way to write the number",
    "The contest began in Ohio in 192 ?": "no other way to write the number",
    "Every later call returns 404.": "no other way to write the number",
    "What was the computer in 2001 : A Space Odyssey ?": "part of a name",
    "Survival was 73% there (and in women 78%).": PARALLEL,
    "It was passed by seven votes to two on Monday.": PARALLEL,
    "It tells whether a note is a 2 or a 5 then.": PARALLEL,
    "The shop opens at 6:00 PM and shuts at midnight.": PARALLEL,
    "It shows a fee of £270 rather than £150.": PARALLEL,
    "Each 5 ml spoonful contains 120 mg of it and 1.8 g of sugar.": PARALLEL,
    "It claims to hold 1.5 litres, but mine overflows at 1.2.": PARALLEL,
    "We saw 1,204 patients, and 1,870 of them were ill.": PARALLEL,
    "Man, 20, kills others in a shop.": "an age in figures",
    "Margaret Brown, singer, dead at 87": "an age in figures",
    "You get %10 off at the desk.": "no number",
    "They were held on $100,000 bail each.": "no other way to write the number",
    "Two : the battery lasts for ever.": "a list marker",
    "He made two films, `` May '' and `` June '' .": PRESUPPOSED,
    "The top two are going to a vote.": PRESUPPOSED,
    "They won the final 6 - 2 , 6 - 4 at home.": "beside another number in the same notation",
    "The tumour grew between the two scans.": PRESUPPOSED,
    "I had to go there to get that two items.": PRESUPPOSED,
    "Register two parsers and let it choose between them.": "a number that the text goes on to count",
    "It plays in two countries, France and Norway.": PRESUPPOSED,
    "It is hardly ever full, even at six in the evening.": "no other way to write the number",
    "You have to pay within thirty (30) days.": "a list marker",
    "He was armed with $ 20 dollars and a bag.": "no other way to write the number",
    "2020 Olympic Games will be held in Tokyo.": "a year by itself",
    "Who won gold at 2020 Olympic Games?": "a year by itself",
    "Many banks failed in the 2008 Financial Crisis.": "a year that belongs to a name or an event",
    "The 2004 Indian Ocean Tsunami came at dawn.": "a year that belongs to a name or an event",
    "The 2008 financial crisis hit the town hard.": "a year that belongs to a name or an event",
    "The 2010 Equality Act protects them.": "a year that belongs to a name or an event",
    "The Data Protection Act 1998 applies here.": "part of a name",
    "The Act of 1994 was repealed.": "part of a name",
    "London 2012 was a great success.": "part of a name",
    "The class of 2008 met again.": "part of a name",
    "Office 2010 was slow.": "part of a name",
    "The 1961 Bay of Pigs Invasion failed.": "a year that belongs to a name or an event",
    "The 1960s Civil Rights Movement changed the law.": "part of a name",
    "What are 2016 elections about?": "a year or a count",
    "All 2018 models have air bags.": "a year or a count",
    "Best 2016 Bollywood movies": "a year that belongs to a name or an event",
    "We flew on a Boeing 747 to Lima.": "part of a name",
    "He drives in Formula 1 for a small team.": "part of a name",
    "They drove down Route 66 last summer.": "part of a name",
    "The 10 Commandments are old.": "part of a name",
    "The 5 Star Movement won the vote.": "part of a name",
    "She moved to 42 Park Lane.": "part of a name",
    "They ate at Five Guys last night.": "part of a name",
    "The Fantastic Four were on the cover.": "part of a name",
    "The 7th Fleet sailed on Monday.": "part of a name",
    "The September 11 attacks changed the law.": "part of a name",
    "The victims number 300.": "part of a name",
    "The bus 300 people took broke down.": "part of a name",
    "The meeting is on 3/4.": "no other way to write the number",
    "Part 1/2 of the series is online.": "no other way to write the number",
    "She won the 5K race on Sunday.": "no other way to write the number",
    "Please see section 3.2.1 for details.": "no other way to write the number",
    "As stated in clause 4.1.2, the fee is due.": "no other way to write the number",
    "The gap rose to 1:30.": "figures that may not be a time",
    "It costs £1.": "no other way to write the number",
    "It's 12 o'clock.": "no other way to write the number",
}


@pytest.mark.parametrize("text", LEFT)
def test_what_is_no_number_of_its_own_is_left_alone(found, text):
    assert found(text) == LEFT[text]


EVENTS = {  # text -> other years
    "France won the 1998 World Cup at home.": {"1994", "2002", "1990", "2006"},
    "He ran in the 2012 Summer Olympics.": {"2008", "2004", "2016"},
    "The 2010 US Open was won by him.": {"2009", "2008", "2011", "2012"},
    "In 1998 Brazil lost the final.": {"1997", "1996", "1999", "2000"},
    "The 1998 season was short.": {"1997", "1996", "1999", "2000"},
}


@pytest.mark.parametrize("text", EVENTS)
def test_the_year_of_an_event_becomes_another_year_that_has_one(found, text):
    (one,) = found(text)
    assert one.kind == "year"
    assert set(map(str, one.other_values_at_distance(numerals.NEAR))) == EVENTS[text]


COUNTS = {
    "The stadium holds 2000 people.": "2000",
    "About 1500 workers lost their jobs.": "1500",
    "It has 3500 Chinese employees.": "3500",
    "It has 2000 Chinese employees.": "2000",
    "The 20 Greek islands are lovely.": "20",
    "The 12 MPs were at home.": "12",
    "The 14 Kurds had left.": "14",
    "The second Turkish club won.": "second",
    "She owns 2 Wall Street banks.": "2",
    "Twelve American soldiers left.": "Twelve",
    "The shop opens on September 11 in Leeds.": "September 11",
}


@pytest.mark.parametrize("text", COUNTS)
def test_a_count_before_a_capital_is_a_count(found, text):
    (one,) = found(text)
    assert text[one.start : one.end] == COUNTS[text]
    assert one.kind == {"second": "ordinal", "September 11": "date"}.get(COUNTS[text], "cardinal")


NOTATIONS = {
    "It had been less in 2018 but by 2022 it had gone up.": {"the year"},
    "The drive has 35 slots and 16 GB of it.": {"unit in full"},
    "The dose of 12 mg is given to 35 people.": {"unit in full"},
    "It cost nearly £200 more.": {"name", "words"},
    "It lost $937 million on bonds.": {"letter", "name", "noughts"},
    "Stocks end up 0.11 pct on Monday.": {"%"},
    "It had a five-day strike of all but one hall.": {"digits"},
    "It burned 12,450 acres and 250 homes.": {"without commas"},
    "News comes at 7:00 a.m. GMT today.": {"24 hours"},
}


@pytest.mark.parametrize("text", NOTATIONS)
def test_a_notation_that_the_rest_of_the_text_speaks_against_is_left_out(found, text):
    every = found(text)
    assert {form.name for one in every for form in one.forms} == NOTATIONS[text]


def test_decimals_that_end_in_nought_are_not_spelled(found):
    (one,) = found("The pH of it is 7.15 in May.")
    words = next(form for form in one.forms if form.name == "words")
    assert words.write(Fraction("7.15")) == "seven point one five"
    with pytest.raises(ValueError, match="is not said with 2 decimal places"):
        words.write(Fraction("7.10"))


FOREIGN = ["Hola, tengo un problema con mi pedido 1234.", "Der Zug kommt um 7 Uhr an.", "Une grande tension régnait."]


@pytest.mark.parametrize("text", FOREIGN)
def test_another_language_is_told(text):
    assert not is_english(text)


@pytest.mark.parametrize("text", ["PS5 restock walmart", "ok 12", "Two dogs run", "Order 4821 late again"])
def test_short_english_is_english(text):
    assert is_english(text)
