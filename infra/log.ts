import { pino, type DestinationStream, type Logger } from 'pino'
import { shownError } from './reason.ts'

export type Log = Logger

/** Fields of log lines whose values never appear: credentials and personal data. */
const secretFields: ReadonlySet<string> = new Set([
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
])

/** Fields are nested no deeper in what we log. */
const deepest = 4

type Fields = Record<string, unknown>

/** The same fields without what is secret, at any depth. pino's own `redact` takes ten times as long for each line. */
const withoutSecrets = (fields: Fields, depth = 1): Fields => {
  let shown = fields
  for (const [name, value] of Object.entries(fields)) {
    const safe = secretFields.has(name) ? '[redacted]' : nested(value, depth)
    if (safe === value) continue
    if (shown === fields) shown = { ...fields }
    shown[name] = safe
  }
  return shown
}

/** Errors have a serializer of their own. */
const nested = (value: unknown, depth: number): unknown => {
  if (typeof value !== 'object' || value === null || value instanceof Error || value instanceof Date) return value
  if (depth >= deepest) return '[nested too deep]'
  if (!Array.isArray(value)) return withoutSecrets(value as Fields, depth + 1)
  return value.some((each) => typeof each === 'object') ? value.map((each) => nested(each, depth + 1)) : value
}

/** One JSON line per happening: the message is a constant to search for, everything that varies is a field. */
export const makeLog = (level: string, role: string, destination?: DestinationStream): Log =>
  pino(
    {
      level,
      base: { role },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => withoutSecrets(fields),
      },
      serializers: { error: shownError },
    },
    destination ?? output(),
  )

/**
 * Lines are written together, a tenth of a second later at most: a system call for each would cost a busy process a tenth of
 * its time.
 */
const gatheredBytes = 4_096
const gatheredMs = 100

let shared: ReturnType<typeof pino.destination> | undefined

const output = (): DestinationStream => {
  if (!shared) {
    shared = pino.destination({ dest: 1, sync: true, minLength: gatheredBytes, periodicFlush: gatheredMs })
    process.on('exit', writeLog)
  }
  return shared
}

/** Writes what was logged up to now: before another line that must come after it, and at the end. */
export const writeLog = (): void => {
  try {
    shared?.flushSync()
  } catch {
    // Nobody reads it any more.
  }
}
