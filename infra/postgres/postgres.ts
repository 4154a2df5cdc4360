import { Pool, type ClientBase, type CustomTypesConfig, type PoolClient } from 'pg'

export type Query = { text: string; values: unknown[] }

/** SQL in which every interpolation is a parameter, so that there is nothing to inject into. */
export const sql = (strings: TemplateStringsArray, ...values: unknown[]): Query => ({
  text: strings.reduce((text, part, index) => `${text}$${index}${part}`),
  values,
})

export type TransactionOptions = {
  /**
   * Whether it need not survive a crash of the server: the disk is then not waited for. What a crash takes, it takes from
   * the end, transaction by transaction, and leaves nothing that came after something that was lost.
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

export type PoolOptions = {
  /** At most so many connections; 10 by default. */
  readonly max?: number
  /** So many connections are kept when idle, for whoever must not wait for a new one; none by default. */
  readonly min?: number
  /** Shown in `pg_stat_activity`. */
  readonly name?: string
  /** Parsers for the columns of this pool alone: those of `pg` are shared by the whole process, and stay as they are. */
  readonly types?: CustomTypesConfig
  /** Called when an idle connection is lost. The pool replaces it, so nothing has to be done. */
  readonly onLost?: (error: Error) => void
  /** How long a transaction may take. An open one that has written hides newer events from every reader. */
  readonly transactionMs?: number
  /** How long a transaction may stand idle between two statements. */
  readonly idleInTransactionMs?: number
}

/** A pool that outlives lost connections, and whose transactions end. */
export const createPool = (url: string, options: PoolOptions = {}): Pool => {
  const {
    max = 10,
    min = 0,
    name = 'coverstream',
    types,
    onLost,
    transactionMs = 300_000,
    idleInTransactionMs = 60_000,
  } = options
  const pool = new Pool({
    connectionString: url,
    max,
    min,
    application_name: name,
    idle_in_transaction_session_timeout: idleInTransactionMs,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    pipeline: true,
    onConnect: configure(transactionMs),
    ...(types && { types }),
  })
  // Without a listener, the loss of an idle connection would end the process.
  pool.on('error', (error) => onLost?.(error))
  // So would the loss of one in use, of which whoever uses it learns from its statements.
  pool.on('connect', (client) => client.on('error', () => undefined))
  return pool
}

/**
 * PostgreSQL knows `transaction_timeout` since version 17. Compiling takes longer than any statement of ours. The pool
 * waits for the promise before it hands the connection out, which its types do not say.
 */
const configure =
  (transactionMs: number): ((client: ClientBase) => unknown) =>
  (client) =>
    client.query(sql`
      select set_config(name, value, false)
      from (values ('jit', 'off'), ('transaction_timeout', ${String(transactionMs)})) as setting (name, value)
      where current_setting(name, true) is not null`)

/** Whether a statement failed because the connection or the server went away, and not because of the statement. */
export const isConnectionLoss = (error: unknown): boolean => {
  if (!(error instanceof Error)) return false
  const code = 'code' in error ? String(error.code) : ''
  return lossCodes.test(code) || lossMessages.test(error.message)
}

// SQLSTATE classes 08 (connection), 57P (shutdown, crash, starting up), 53300 (too many connections); or an error of the socket.
const lossCodes = /^(08...|57P0[1235]|53300|25P0[34]|ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EAI_AGAIN)$/
const lossMessages =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/
