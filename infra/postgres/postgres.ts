import { DatabaseError, Pool, type ClientBase, type CustomTypesConfig, type PoolClient, type QueryConfig } from 'pg'
import { isCertificateFault } from '../certificates.ts'
import { withMark } from '../read-models.ts'
import { sessionSettings, type SessionLimits } from './session.ts'

export type Query = { text: string; values: unknown[] }

/** SQL in which every interpolation is a parameter, so that there is nothing to inject into. */
export const sql = (strings: TemplateStringsArray, ...values: unknown[]): Query => ({
  text: strings.reduce((text, part, index) => `${text}$${index}${part}`),
  values,
})

export type TransactionOptions = {
  /**
   * True where it need not survive a crash of the server: the disk is then not waited for. A crash takes from the end,
   * transaction by transaction, and leaves nothing that came after something that was lost.
   */
  readonly isRepeatable?: boolean
}

export const transaction = async <Result>(
  pool: Pool,
  work: (db: PoolClient) => Promise<Result>,
  { isRepeatable = false }: TransactionOptions = {},
): Promise<Result> => {
  const db = await pool.connect()
  let broken = false
  try {
    // Not waited for: the first statement of the work is sent right behind it.
    const begun = db.query(isRepeatable ? 'begin; set local synchronous_commit = off' : 'begin')
    begun.catch(() => undefined)
    const result = await work(db)
    await begun
    await db.query('commit')
    return result
  } catch (error) {
    // A connection that cannot even roll back is closed, and the server rolls back.
    await db.query('rollback').catch(() => (broken = true))
    throw error
  } finally {
    db.release(broken)
  }
}

export type PoolOptions = SessionLimits & {
  /** At most so many connections; 10 by default. */
  readonly max?: number
  /** The number of connections kept when idle, for requests that must not wait for a new one; none by default. */
  readonly min?: number
  /** Shown in `pg_stat_activity`. */
  readonly name?: string
  /** Parsers for the columns of this pool alone: those of `pg` are shared by the whole process, and stay as they are. */
  readonly types?: CustomTypesConfig
  /** Called when an idle connection is lost. The pool replaces it, so nothing has to be done. */
  readonly onLost?: (error: Error) => void
  /** Deadline of getting a connection, a new one or one that others return; 5 seconds by default. */
  readonly connectMs?: number
}

// The server ends a statement a moment earlier, so that a slow statement does not cost the connection.
const answerMs = 500

/** A pool that survives lost connections, and whose statements and transactions end. */
export const createPool = (url: string, options: PoolOptions = {}): Pool => {
  const { max = 10, min = 0, name = 'coverstream', types, onLost, statementMs = 30_000, connectMs = 5_000 } = options
  const pool = new Pool({
    connectionString: url,
    max,
    min,
    application_name: withMark(name),
    // With `pipeline`, the connection is destroyed when this is exceeded.
    query_timeout: statementMs + answerMs,
    pipeline: true,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 5_000,
    onConnect: configure(sessionSettings(name, { ...options, statementMs })),
    ...(types && { types }),
  })
  // Without a listener, the loss of an idle connection would end the process.
  pool.on('error', (error) => onLost?.(error))
  // So would the loss of one in use; its user sees the failure from its statements.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

/**
 * For the columns of a statement: it need not wait for the disk when events are in the same database, given as a parameter,
 * and it is done for an event that is appended after it. The commit of that event takes it to the disk.
 */
export const committedWithLog = (logIsHere: string): string =>
  `case when ${logIsHere}::boolean then set_config('synchronous_commit', 'off', true) end as commit`

/** The pool waits for the promise before it hands the connection out, which its types do not say. */
const configure =
  (settings: Query): ((client: ClientBase) => unknown) =>
  (client) =>
    client.query(settings)

/** Gives a statement another deadline than its pool has. */
export const withDeadline = <Statement extends QueryConfig>(
  statement: Statement,
  milliseconds: number,
): Statement & { readonly query_timeout: number } => ({
  ...statement,
  // Known to `pg`, though not to its types.
  query_timeout: milliseconds,
})

/**
 * True where a statement failed because there was no connection, or no longer, and not because of the statement. Wrong
 * settings end the start; later, a password that was changed or a certificate that has expired is an outage, too.
 */
export const isConnectionLoss = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  // A server that is away takes its Unix socket with it.
  if ('syscall' in error && error.syscall === 'connect') return true
  return lossCodes.test(code) || isCertificateFault(code) || lossMessages.test(error.message)
}

// SQLSTATE classes 08 (connection), 28 (sign-in), 3D (no such database), 57P (shutdown, crash, starting up), 53300 (too many connections); or an error of the socket.
const lossCodes =
  /^(08...|28...|3D000|57P0[1235]|53300|25P0[34]|ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN|ENOTFOUND)$/
const lossMessages =
  /^(Connection terminated|timeout expired|timeout exceeded|Query read timeout|Client has encountered a connection error|This socket has been ended|The server does not support SSL)/

/**
 * True where a statement failed for a transient reason: the connection was lost, the server is starting, stopping, overloaded
 * or not (yet) the primary, or did not answer in time. Such a statement may have been executed.
 */
export const isUnavailable = (error: unknown): boolean =>
  isConnectionLoss(error) || (error instanceof DatabaseError && unavailableCodes.test(error.code ?? ''))

/** True where a statement names a table that there is not: the projections of a new installation have still to make it. */
export const isTableNotMade = (error: unknown): boolean => error instanceof DatabaseError && error.code === '42P01'

/** True where a statement names a table or a column that there is not: it may still have to be made by another process. */
export const isNotMade = (error: unknown): boolean =>
  isTableNotMade(error) || (error instanceof DatabaseError && error.code === '42703')

/** True where a statement did not end within its deadline. */
export const isTooSlow = (error: unknown): boolean =>
  (error instanceof DatabaseError && error.code === '57014') ||
  (error instanceof Error && error.message.startsWith('Query read timeout'))

// Out of resources, statement timeout, read-only transaction (the server was the primary), lock not available.
const unavailableCodes = /^(53...|57014|25006|55P03)$/
