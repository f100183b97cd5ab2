"""Closed word classes of the clause parser."""

from __future__ import annotations

from offline_model.wordlist import words

AGENT_PRONOUNS = {"i", "we"}
TEAM = {"team", "staff", "crew", "people"}
OTHER_PRONOUNS = words("he she it they who everything something someone somebody everyone nobody")
WILL = {"will", "shall"}
OFFER_MODALS = {"can", "could", "may", "might", "would", "should"}
NEED_MODALS = {"must"}
MODALS = WILL | OFFER_MODALS | NEED_MODALS
BE = {"am", "are", "is", "was", "were", "be", "been", "being"}
HAVE = {"have", "has", "had", "having"}
DO = {"do", "does", "did"}
AUXILIARIES = MODALS | BE | HAVE | DO
NEGATIONS = {"not", "never", "nor", "neither", "hardly", "cannot"}

# Two- and three-word expressions that act as one word; the longest is tried first.
ADVERB_PHRASES: dict[tuple[str, ...], str] = {
    ("right", "away"): "now",
    ("right", "now"): "now",
    ("at", "once"): "now",
    ("straight", "away"): "now",
    ("as", "we", "speak"): "still",
    ("at", "the", "moment"): "still",
    ("in", "the", "meantime"): "",
    ("of", "course"): "",
    ("go", "ahead", "and"): "",
    ("going", "ahead", "and"): "",
    ("for", "sure"): "",
    ("after", "that"): "then",
    ("from", "there"): "then",
    ("at", "that", "point"): "then",
    ("after", "this"): "then",
    ("later", "on"): "later",
    ("later", "today"): "later",
    ("in", "that", "case"): "",
    ("for", "you"): "",
    ("first", "of", "all"): "first",
    ("in", "turn"): "then",
    ("one", "moment"): "",
    ("just", "now"): "already",
    ("no", "longer"): "not",
    ("by", "all", "means"): "",
    ("as", "well"): "",
    ("as", "soon", "as", "possible"): "now",
    ("most", "likely"): "maybe",
    ("as", "usual"): "habit",
    ("by", "default"): "habit",
    ("if", "necessary"): "if",
    ("if", "needed"): "if",
    ("if", "possible"): "if",
    ("if", "so"): "if",
    ("if", "not"): "if",
    ("on", "your", "behalf"): "",
    ("with", "pleasure"): "",
    ("in", "a", "moment"): "",
    ("at", "any", "time"): "habit",
    ("for", "you", "now"): "now",
    ("no", "problem"): "",
    ("once", "again"): "",
    ("more", "than"): "",
    ("only", "too"): "",
    ("once", "more"): "",
}
ADVERBS: dict[str, str] = {
    "still": "still",
    "currently": "still",
    "presently": "still",
    "already": "already",
    "then": "then",
    "first": "first",
    "next": "then",
    "afterwards": "then",
    "afterward": "then",
    "finally": "then",
    "subsequently": "then",
    "later": "later",
    "eventually": "later",
    "maybe": "maybe",
    "perhaps": "maybe",
    "possibly": "maybe",
    "probably": "maybe",
    "usually": "habit",
    "always": "habit",
    "normally": "habit",
    "generally": "habit",
    "typically": "habit",
    "often": "habit",
    "sometimes": "habit",
    "automatically": "habit",
    "regularly": "habit",
    "now": "now",
    "immediately": "now",
    "instantly": "now",
    "just": "",
    "quickly": "",
    "double": "",
    "also": "",
    "gladly": "",
    "happily": "",
    "personally": "",
    "simply": "",
    "please": "",
    "soon": "",
    "shortly": "",
    "actually": "",
    "again": "",
    "both": "",
    "rather": "",
    "very": "",
    "quite": "",
    "really": "",
    "too": "",
    "briefly": "",
    "even": "",
    "only": "",
    "certainly": "",
    "so": "",
    "all": "",
    "ever": "",
    "better": "",
    "well": "",
}
CONJUNCTIONS = {"and", "but", "or", "then", "plus", "yet"}
INTRODUCTIONS = words("sure okay perfect great alright wonderful yes no right thanks lovely")

# Catenatives: "am able TO", "would like TO". The value is the mood they give, "" leaves it as it is.
CATENATIVES: dict[str, str] = {
    "going": "commit",
    "about": "commit",
    "able": "offer",
    "happy": "offer",
    "glad": "offer",
    "pleased": "offer",
    "delighted": "offer",
    "willing": "offer",
    "ready": "offer",
    "free": "offer",
    "welcome": "offer",
    "need": "need",
    "have": "need",
    "has": "need",
    "had": "need",
    "got": "need",
    "like": "offer",
    "love": "offer",
    "want": "offer",
    "prefer": "offer",
    "wish": "offer",
    "hope": "offer",
    "plan": "offer",
    "planning": "offer",
    "hoping": "offer",
    "offering": "offer",
    "intend": "offer",
    "try": "",
    "trying": "",
    "manage": "",
    "managed": "past",
    "forgot": "unable",
    "forgotten": "unable",
    "sure": "",
    "remember": "",
    "proceed": "",
    "be": "",
    "ought": "offer",
    "supposed": "offer",
    "used": "past",
    "forget": "negate",
    "unable": "unable",
    "fail": "unable",
    "failed": "unable",
    "begin": "",
    "start": "",
    "promise": "commit",
    "certain": "",
    "offer": "offer",
    "refuse": "unable",
    "care": "",
    "meant": "past",
    "wanted": "past",
    "tried": "past",
    "hesitate": "negate",
    "decided": "past",
    "agreed": "past",
    "attempt": "",
}
MOMENTS = words("moment second seconds minute minutes sec instant bit chance while mo time")
LINK_NOUNS = words(
    """
    link way option page form chance how where time place button url possibility ability number address website
    instructions steps code reason best easiest what which right tool ways options
    """
)
WAITING = words("hold stay wait bear hang relax worry leave trust sit allow give stand hear")
INFO_REQUESTS = words(
    """
    tell share provide send confirm reply choose pick give let say call message text email click type check answer
    ask
    """
)
DETERMINERS = words(
    """
    the a an your our my this that these those it you them everything any some all him her us both another
    """
)
