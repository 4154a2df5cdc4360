import { pino, type Logger } from 'pino'

export type Log = Logger

/** Paths in log lines whose values never appear: credentials and personal data. */
export const redacted = [
  'authorization',
  'client_secret',
  'secret',
  'signing_secret',
  'password',
  'token',
  'access_token',
  'share_token',
  'customer',
  'email',
  'phone_number',
  'risk_factors',
  'account_number',
  'sort_code',
].flatMap((name) => [name, `*.${name}`, `*.*.${name}`])

/** Of an error, what it is and where it arose; never what else hangs on it, such as a connection with its parameters. */
const shownError = (error: unknown): unknown => {
  if (!(error instanceof Error)) return error
  const { name, message, stack, cause } = error
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {}
  return { name, message, ...code, stack, ...(cause !== undefined && { cause: shownError(cause) }) }
}

/** One JSON line per happening: the message is a constant to search for, everything that varies is a field. */
export const makeLog = (level: string, role: string): Log =>
  pino({
    level,
    base: { role },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: shownError },
    redact: { paths: redacted, censor: '[redacted]' },
  })
