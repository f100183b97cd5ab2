"""Lexicon of the action kinds."""

from __future__ import annotations

from offline_model.wordlist import words

CHECK = words(
    """
    check look see verify find search pull review run confirm consult double-check recheck browse scan explore
    investigate inquire enquire take have do know go make ask peek
    """
)
LOOK_UP = words(
    """
    check look find search pull locate retrieve see verify fetch grab open get bring review
    """
)
SEND = words(
    """
    send forward share shoot drop pop ping fire deliver dispatch write get have provide pass put issue follow give
    resend email text message mail sms whatsapp receive arrive come expect go be return reply attach
    """
)
TEXTING = words("text sms message whatsapp")
MAILING = words("email mail")
BOOK = words("book reserve pencil rebook schedule")
BOOK_WITH_OBJECT = words(
    """
    hold keep save secure lock block make create put place add confirm register set arrange complete finalise
    finalize take get give have process fix enter sign move request sort
    """
)
CANCEL = words("cancel delete remove annul void erase withdraw drop undo scrap")
MEET = words(
    """
    schedule arrange organise organize plan book create add put send make fix set have get confirm pencil
    """
)
ENDING = words("end close finish wrap hang conclude")
WISHES = words("like want prefer need love")
TABLE = words(
    """
    table tables slot slots seat seats seating space spaces room spot spots opening openings terrace window garden
    patio indoors outdoors outside inside appointment appointments vacancy vacancies calendar schedule diary date
    time times availability availabilities timeslot timeslots timetable free agenda chair
    """
)
BOOKING = words(
    """
    booking bookings reservation reservations appointment appointments table tables spot spots slot slots seat seats
    place places reschedule
    """
)
BOOKED = words("booking bookings reservation reservations appointment appointments")
TIME = words(
    """
    monday tuesday wednesday thursday friday saturday sunday today tomorrow tonight evening afternoon morning
    lunch dinner lunchtime dinnertime noon midday weekend week january february march april may june july august september october
    november december brunch mondays fridays night hour
    """
)
SMS_NOUNS = words("text sms texts whatsapp message txt")
EMAIL_NOUNS = words("email emails mail inbox e-mail")
LINK_NOUNS = words("link links url page site portal")
MANAGE = words(
    """
    manage change modify cancel edit update reschedule managing changing modifying cancelling canceling editing
    updating rescheduling amend amending management move moving view viewing manage-booking self-service
    """
)
PEOPLE = words(
    """
    colleague manager human person someone somebody agent representative owner department team staff host operator
    supervisor chef specialist reception receptionist nurse doctor sales support anna nello headwaiter maître
    waiter expert advisor assistant member technician dispatcher
    """
)
MEETING = words(
    """
    meeting meetings call consultation demo invite invitation conference videocall video-call event session zoom
    """
)
ZIP = words(
    """
    zip zipcode postcode postal area areas region neighbourhood neighborhood location district address addresses
    town city code zone street radius coverage
    """
)
ZIP_VERBS = words("serve cover deliver reach operate ship come")
HAVING = words(
    """
    available availability stock have got left offer carry sell stocked provide remaining serve do in-stock free
    """
)
BACKCHANNEL = words(
    """
    kitchen chef cook manager owner team staff colleague colleagues board supplier hours price prices menu weather
    policy recipe allergens ingredients wine list traffic
    """
)
EMPTY = words(
    """
    i we you he she it they me us him her them my our your the a an this that these those will shall can could may
    might would should be am is are was were been being have has had do does did not no and or but if whether to
    for of in on at by with from about as so just quickly now also please right away moment second minute while
    one there here what which when where who how still already then first next again let check look see find out
    up into over back got get any some all more still really okay sure yes great perfect wonderful thank thanks
    need want like party people guests persons two three four five six seven eight nine ten twelve pm am p.m. a.m.
    o'clock day days go ahead our us seven-thirty around before after until both either possible very exactly
    whole would time times left tell give know system quick peek offer carry sell open book books latest earliest
    early late later
    """
)
DETAILS = words(
    """
    details detail directions address menu information info confirmation summary receipt link everything reminder
    copy list hours price prices brochure document map number code offer quote invoice answer it that this them
    instructions notes file picture photo
    """
)
