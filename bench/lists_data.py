"""Fills a tenant with a million messages and a hundred thousand todos inside the database, in two minutes."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import psycopg

DAYS = 90
MESSAGES_EACH = 10
FIRST, LAST = (
    "Giulia Marco Ole Claire Jonas Marta Paolo Aisha Kenji Lucia Tom Ana Ivo Nora Emre Zoe",
    "Ferri Riva Hansen Dubois Weber Conti Rossi Khan Sato Marchetti Baker Silva Novak Berg Kaya Blum",
)
WORDS = (
    "table for four this friday evening please we would like to sit near the window is there anything vegan on your"
    " menu could you text me the details thank you see then around seven how about eight instead one of us has a"
    " small dog that allowed birthday cake terrace quiet corner parking close by confirm booking name phone number"
)
# Occurs once in 50,000 messages.
RARE = "marzipan"

# Rows are copies of one that the product wrote, so that new columns need no change here.
COPY = "insert into {table} select (jsonb_populate_record(sample, changes)).* from {table} sample, ({changes}) made"
SAMPLE = " where sample.id = %(sample)s"

PERSONAS = COPY.format(
    table="conversations_persona",
    changes="select jsonb_build_object('id', id, 'external_id', 'guest-' || i) changes from customer",
)
CONVERSATIONS = COPY.format(
    table="conversations_conversation",
    changes="select jsonb_build_object('id', id, 'persona_id', persona, 'created_at', at, 'updated_at',"
    " at + interval '9 minutes', 'last_message', %(each)s, 'last_turn', %(each)s / 2, 'directives_id', null,"
    " 'channel', (array['chat','chat','chat','phone','whatsapp','sms'])[1 + i %% 6],"
    " 'status', case when i %% 10 < 7 then 'ended' else 'open' end,"
    " 'flag', case when i %% 5000 = 0 then 'asked for a person' else '' end,"
    " 'assignee_id', case when i %% 50 = 0 then %(owner)s::int end,"
    " 'operator_id', case when i %% 2500 = 7 then %(owner)s::int end,"
    " 'snoozed_until', case when i %% 1000 = 3 then now() + interval '2 days' end,"
    " 'closed_at', case when i %% 20 = 1 then at + interval '1 hour' end) changes from talk",
)
TURNS = COPY.format(
    table="conversations_turn",
    changes="select jsonb_build_object('id', turn, 'conversation_id', talk, 'seq', (n + 1) / 2, 'status', 'done',"
    " 'message_id', id, 'created_at', at, 'first_token_at', at + make_interval(secs => .2 + random()),"
    " 'quality_score', case when salt %% 7 = 0 then 1 + salt %% 10 end,"
    " 'freshness', (array['fresh','fresh','stale','waiting'])[1 + salt / 1000 %% 4]) changes from said where n %% 2 = 1",
)
MESSAGES = COPY.format(
    table="conversations_message",
    changes="select jsonb_build_object('id', id, 'conversation_id', talk, 'turn_id', null, 'seq', n, 'created_at', at,"
    " 'role', case when n %% 2 = 1 then 'user' else 'agent' end, 'content', words || case when salt / 10000 %% 500 = 7"
    " and n = 1 and salt / 1000 %% 10 = 0 then %(rare)s else '' end) changes from said, lateral (select string_agg("
    "(%(words)s::text[])[1 + (salt * 31 + k * k * 17 + k * (salt / 7)) %% %(many)s], ' ') || ' ' words"
    " from generate_series(1, 12) k) twelve",
)
CALLS = COPY.format(
    table="jobs_modelcall",
    changes="select jsonb_build_object('id', uuidv7(at - now()), 'turn_id', turn, 'started_at', at, 'skill', skill,"
    " 'cost', .0004) changes from said, unnest(array['reply','observer','thoughts','detect']) skill"
    " where n %% 2 = 1 and at > now() - interval '15 days'",
)
FIELDS = (
    "insert into conversations_personafield (id, organization_id, persona_id, key, value, strength, quote, updated_at)"
    " select uuidv7(), %(organization)s, id, key, value, 2, '', now() from customer, lateral (values"
    " ('name', (%(first)s::text[])[1 + i %% 16] || ' ' || (%(last)s::text[])[1 + i / 16 %% 16] || i / 256),"
    " ('phone', '+39347' || lpad(i::text, 7, '0')), ('email', 'guest' || i || '@mail.example')) field (key, value)"
)
# A tag that a third of the conversations have, and one that few have.
TAGGED = (
    "insert into conversations_conversationtag (id, organization_id, conversation_id, tag_id, created_at)"
    " select uuidv7(), %(organization)s, talk.id, tag.id, now() from talk"
    " join conversations_tag tag on tag.organization_id = %(organization)s"
    " where talk.i %% (case when tag.name = 'VIP' then 3 else 5000 end) = 0"
)
STATES = {
    "pending_review": 20,
    "approved": 2,
    "in_progress": 3,
    "needs_attention": 5,
    "failed": 5,
    "completed": 50,
    "rejected": 10,
    "expired": 3,
    "cancelled": 2,
}
TODOS = COPY.format(
    table="todos_todo",
    changes="select jsonb_build_object('id', id, 'description', 'Send guest ' || i || ' what was promised', 'status', state,"
    " 'conversation_id', talk, 'created_at', at, 'status_at', at + interval '9 minutes') changes from planned",
)
TODO_EVENTS = COPY.format(
    table="todos_todoevent",
    changes="select jsonb_build_object('id', uuidv7(at - now()), 'todo_id', id, 'at', at) changes from planned",
)
# The todos of 2,000 conversations.
PLANNED = (
    "create temp table planned as select w.i, w.at, uuidv7(w.at - now()) as id, state, talk.id as talk from (select i,"
    " now() - make_interval(secs => %(days)s * 86400 * (1 - i::float8 / %(todos)s)) as at,"
    " (%(states)s::text[])[1 + (i * 37) %% 100] as state from generate_series(1, %(todos)s) i) w"
    " left join talk on talk.i = 1 + (w.i %% 2000) * 50 order by w.i"
)
CUSTOMERS = "create temp table customer as select i, uuidv7() as id from generate_series(0, %(customers)s - 1) i"
TALKS = (
    "create temp table talk as select w.i, at, uuidv7(at - now()) as id, customer.id as persona from"
    " (select i, now() - make_interval(secs => %(days)s * 86400 * (1 - i::float8 / %(conversations)s)) as at"
    " from generate_series(1, %(conversations)s) i) w join customer on customer.i = w.i %% %(customers)s order by w.i"
)
SAID = (
    "create temp table said as select talk.id as talk, n, at + make_interval(mins => n - 1) as at,"
    " uuidv7(at + make_interval(mins => n - 1) - now()) as id, uuidv7(at + make_interval(mins => n - 1) - now()) as turn,"
    " talk.i::bigint * 1000 + n as salt from talk, generate_series(1, %(each)s) n order by 3"
)


@dataclass(frozen=True)
class Samples:
    """A row of each table to copy, all of one tenant's project."""

    organization: UUID
    owner: int
    persona: UUID
    conversation: UUID
    turn: UUID
    message: UUID
    call: UUID
    todo: UUID
    todo_event: UUID


def load(admin_url: str, samples: Samples, *, messages: int, todos: int) -> None:
    """Fill one tenant. Connects as the server's administrator, because checking millions of foreign keys takes minutes."""
    conversations = messages // MESSAGES_EACH
    values = {
        "organization": samples.organization,
        "owner": samples.owner,
        "conversations": conversations,
        "customers": conversations * 4 // 5,
        "todos": todos,
        "states": [state for state, share in STATES.items() for _ in range(share)],
        "days": DAYS,
        "each": MESSAGES_EACH,
        "first": FIRST.split(),
        "last": LAST.split(),
        "words": WORDS.split(),
        "many": len(WORDS.split()),
        "rare": RARE,
    }
    copies = {
        PERSONAS: samples.persona,
        CONVERSATIONS: samples.conversation,
        TURNS: samples.turn,
        MESSAGES: samples.message,
        CALLS: samples.call,
        TODOS: samples.todo,
        TODO_EVENTS: samples.todo_event,
    }
    with psycopg.connect(admin_url) as connection:
        connection.execute("set session_replication_role = replica")
        for statement in (CUSTOMERS, TALKS, SAID, PLANNED, FIELDS):
            connection.execute(statement.encode(), values)
        for statement, sample in copies.items():
            connection.execute((statement + SAMPLE).encode(), {**values, "sample": sample})
        connection.execute(TAGGED.encode(), values)
    with psycopg.connect(admin_url, autocommit=True) as connection:
        connection.execute("vacuum analyze")
