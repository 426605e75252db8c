"""The words that decide what a sentence can do without: what needs more beside it, what stays, what may go."""

from __future__ import annotations

NEGATIVE = frozenset("not n't never no hardly scarcely barely nor neither without unless nothing nobody none".split())
COMPARING = frozenset("than as so too more most less least enough such like unlike better best worse worst".split())
ASKING = frozenset("how when where why what who which whose whom whether".split())
STAYING = NEGATIVE | COMPARING | ASKING | frozenset("here there well badly away back up out off down in on".split())
PLACES_AND_TIMES = frozenset(
    """in on at during after before since until till near behind along across throughout within despite under inside
    outside beside because amid""".split()
)
OF_A_NOUN = frozenset("by with from".split())
NEEDS_ADJUNCT = frozenset(
    """be live stay put place set lay lie stand sit last reside dwell behave act treat get go come head belong depend
    rely consist refer lead differ result range weigh become seem look feel sound taste smell keep bring send turn
    focus concentrate insist believe participate engage specialise specialize succeed invest arrive leave end begin
    start hang stick fall rise run date account occur happen take make have hold base rank score total vary remain
    drop base spend park store""".split()
)
OF_A_WHOLE_VERB = frozenset("for through with over around across from towards toward via per".split())
NEEDS_OBLIQUE = frozenset(
    """blame thank mistake swap exchange substitute provide supply equip confuse share prevent stop distinguish ask
    charge accuse rob turn translate combine associate link connect trade save know use do pay prepare treat fill cover
    load pack furnish match separate tell differ protect free exempt excuse exclude subtract deduct add transfer
    transform convert rename pass give show send invite advise warn remind inform order steal borrow buy win hire
    rent lease lend inherit obtain receive collect gather remove extract derive select choose count sell mix compare
    replace fit wish need want leave like see help lack""".split()
)
NEEDS_MODIFIER = frozenset(
    """time times way ways mood shape condition manner look kind sort type number amount level rate extent part side end
    idea thing things one ones place terms basis luck deal bit lot majority minority hand case reason state position
    quality role job move step day year week month hour minute morning evening afternoon night people man woman person
    fan seat school house life death care voice eye eyes hair face chance point view word note scale size share school
    figure act pace degree distance price speed temperature pressure height angle""".split()
)
NEEDS_RELATIVE = frozenset(
    """thing things one ones place time times way ways day reason case kind sort type part side end idea point fact sign
    person people degree extent""".split()
)
NO_MODIFIER = frozenset(
    """same other another first second third next last only own different several certain particular various few many
    much more most less least such former latter main whole entire half double very previous following total average
    single sole full due able available key mere real fake false alleged so-called would-be no public""".split()
)
NEVER_WITHOUT_TIME = frozenset(
    "be last date take happen occur fall become lie run total spend remain stay keep".split()
)
TIMES = frozenset(
    """today yesterday tomorrow tonight morning evening afternoon night week weekend month year decade century hour
    minute second monday tuesday wednesday thursday friday saturday sunday january february march april may june july
    august september october november december spring summer autumn winter day dawn dusk noon midnight sat sun mon tue
    wed thu fri season quarter""".split()
)
OF_TIME = frozenset("in on at during after before since until till within throughout for by over through".split())
NEVER_IN_FRONT = frozenset("than as like unlike without instead rather except besides of".split())
BOUND_ADJECTIVES = frozenset(
    """interested involved good bad engaged based located available present rich poor lacking common popular active
    fluent confident successful interested versed short high low big great due dependent keen happy sad angry level
    similar different equal alike identical absent missing strong weak visible complicit covered""".split()
)
SAYING = frozenset(
    """say tell report announce add note explain argue claim state write testify confirm warn insist believe think
    suggest admit declare estimate predict stress""".split()
)
FACTIVE = SAYING - {"tell"} | frozenset(
    """know find show mean learn hear hope see understand reveal provide indicate discover notice realise realize
    remember record document establish prove demonstrate conclude reply stipulate assume suspect guess
    suppose""".split()
)
FEELING = frozenset("glad happy sure afraid sorry surprised aware certain convinced pleased relieved proud".split())
ASIDE = SAYING | frozenset("know guess suppose mean see hope hear understand fear".split())
TELLING_APART = ("modifier", "number", "clause")
OF_NOUNS = ("amod", "compound", "nmod", "nummod", "acl")
SUBORDINATING = frozenset("because although though while when whenever after before since until unless if once".split())
SYMMETRIC = frozenset("meet mix combine compare exchange agree differ marry join connect merge share both".split())
LINKING = frozenset("and or but".split())
BACK = frozenset(
    """he she it they him her them his hers its their theirs this that these those himself herself itself themselves
    one ones such former latter so too also""".split()
)
MEANING = frozenset("NOUN PROPN VERB ADJ ADV NUM".split())
