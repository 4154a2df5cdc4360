import { pino, stdSerializers, type Logger } from 'pino'

export type Log = Logger

/** Paths in log lines whose values never appear: whatever proves who somebody is, and whatever says who somebody is. */
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
    serializers: { error: stdSerializers.err },
    redact: { paths: redacted, censor: '[redacted]' },
  })
