import type { Pool } from 'pg'
import { sql, transaction } from '#infra/postgres/postgres.ts'

/**
 * - `delivery_known` is what planning has learnt from the log. It changes only together with the planner's checkpoint.
 * - `delivery` has a row for every webhook that was ever planned. While it is pending, `due_at` says when it may be taken
 *   next; whoever takes it moves that on, so that it comes back by itself if nothing is heard of it again.
 * - `delivery_attempt` has a row for every time that one was sent, written before it was.
 *
 * Columns of `json` hold characters that PostgreSQL cannot hold as text. Positions of the log compare as bytes.
 */
const tables = `
  create table if not exists delivery_known (
    kind text not null,
    id uuid not null,
    organisation_id uuid not null,
    fact json not null,
    primary key (kind, id)
  );
  create index if not exists delivery_known_set_up on delivery_known (organisation_id) where kind <> 'subject';

  create table if not exists delivery (
    id uuid primary key,
    organisation_id uuid not null,
    event_id uuid not null,
    action_id uuid not null,
    connection_id uuid not null,
    type text not null,
    position text collate "C" not null,
    application_id uuid not null,
    quote_id uuid,
    message json not null,
    state text not null check (state in ('pending', 'delivered', 'failed', 'cancelled')),
    reason text,
    attempts integer not null default 0,
    due_at timestamptz not null,
    planned_at timestamptz not null,
    finished_at timestamptz,
    unique (event_id, action_id)
  );
  create index if not exists delivery_due on delivery (connection_id, due_at, position) where state = 'pending';
  create index if not exists delivery_log on delivery (organisation_id, planned_at, event_id, id);
  create index if not exists delivery_unsent on delivery (organisation_id, planned_at, event_id, id)
    where state in ('failed', 'cancelled');

  create table if not exists delivery_attempt (
    delivery_id uuid not null,
    number integer not null,
    started_at timestamptz not null,
    finished_at timestamptz,
    outcome text check (outcome in ('answered', 'unanswered', 'refused', 'lost')),
    status integer,
    reason text,
    primary key (delivery_id, number)
  );
`

/** Makes the tables where they are missing. Several processes may do so at the same time. */
export const prepareDeliveryTables = (pool: Pool): Promise<void> =>
  transaction(pool, async (db) => {
    await db.query(sql`select pg_advisory_xact_lock(hashtext('delivery tables'))`)
    await db.query(tables)
  })
