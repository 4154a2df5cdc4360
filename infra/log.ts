import { pino, type Logger } from 'pino'
import { shownError } from './reason.ts'

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
