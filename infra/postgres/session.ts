import type { ClientBase, Pool } from 'pg'
import { BadConfiguration } from '../config.ts'
import { readModelsSchema, withMark } from '../read-models.ts'

/** Deadlines on a connection, kept by the server. */
export type SessionLimits = {
  /**
   * Deadline of a statement, kept by the server and, should the server not answer, here: the connection is then
   * destroyed, not returned. 30 seconds by default; `withDeadline` gives a single statement another one.
   */
  readonly statementMs?: number
  /** Deadline of a transaction. An open one that has written hides newer events from every reader. */
  readonly transactionMs?: number
  /**
   * The time that a transaction may be idle between two statements; 15 seconds by default. The locks of a process that hangs
   * end with it, so that another can take its work over.
   */
  readonly idleInTransactionMs?: number
}

/**
 * Settings that we depend on, and a server, a database or a role may have otherwise: how values are written and read, where
 * our tables are, what a transaction sees, and how long things may take. Compiling takes longer than any statement of ours.
 * Rows are found through an index also when a statement is planned while its table is small: a prepared statement keeps its
 * plan until the table is analyzed, which a firm's first leads do not wait for.
 */
const needed = ({ statementMs = 30_000, transactionMs = 300_000, idleInTransactionMs = 15_000 }: SessionLimits) => ({
  DateStyle: 'ISO, MDY',
  TimeZone: 'UTC',
  IntervalStyle: 'postgres',
  // A read model of this version that others must not see yet is shown in a schema of its own.
  search_path: `"${readModelsSchema}", public`,
  client_encoding: 'UTF8',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  backslash_quote: 'safe_encoding',
  array_nulls: 'on',
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  default_transaction_deferrable: 'off',
  statement_timeout: String(statementMs),
  lock_timeout: '0',
  idle_in_transaction_session_timeout: String(idleInTransactionMs),
  idle_session_timeout: '0',
  // Known since PostgreSQL 17.
  transaction_timeout: String(transactionMs),
  jit: 'off',
  enable_seqscan: 'off',
})

/**
 * The first statement of every connection. It is not part of connecting, because a pooler in front refuses what it does not
 * know there. Commits wait for the disk; whoever has set more than that for copies of the database keeps it. By the name
 * processes of other versions know what is read here: an `application_name` in DATABASE_URL must not hide it.
 */
export const sessionSettings = (name: string, limits: SessionLimits): { text: string; values: unknown[] } => ({
  text: `
    select pg_catalog.set_config(name, value, false)
    from json_each_text($1) as setting (name, value)
    where current_setting(name, true) is not null
      and not (name = 'synchronous_commit' and current_setting(name) <> 'off')`,
  values: [JSON.stringify({ ...needed(limits), application_name: withMark(name), synchronous_commit: 'on' })],
})

const rounds = 20

/**
 * Refuses a pooler that gives each transaction another session (PgBouncer with `pool_mode = transaction`): settings, prepared
 * statements, locks and notifications would be those of strangers. Such a pooler names sessions of its own making; then one
 * connection is seen to change its session while another takes the one that it had.
 */
export const checkSessions = async (pool: Pick<Pool, 'connect'>): Promise<void> => {
  const one = await pool.connect()
  try {
    const [session] = await sessionsOf(one)
    if (session === namedSession(one)) return
    const other = await pool.connect()
    try {
      for (let round = 0; round < rounds; round++) {
        const [before] = await sessionsOf(one)
        await other.query('begin')
        const taken = await sessionsOf(other)
        const [after] = await sessionsOf(one)
        await other.query('rollback')
        if (after !== before || taken[0] === before) throw sharedSessions()
      }
    } finally {
      other.release(true)
    }
  } finally {
    one.release()
  }
}

const sessionsOf = async (db: ClientBase): Promise<readonly number[]> => {
  const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows.map(({ pid }) => pid)
}

/**
 * The name that the server, or a pooler in its place, gave the session when it began. `pg` keeps it, which its types do not
 * say.
 */
const namedSession = (db: ClientBase): unknown => (db as ClientBase & { readonly processID?: unknown }).processID

const sharedSessions = () =>
  new BadConfiguration(
    'DATABASE_URL: a pooler there shares sessions between transactions; set its pool_mode to session, or name PostgreSQL itself (see docs/operate.md)',
  )
