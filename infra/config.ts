import { isAbsolute } from 'node:path'
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { OwnError } from '#domain/own-error.ts'
import { plainWords, reasonsOf } from '#domain/reasons.ts'
import { readWitness } from './audit-tree/witness.ts'
import { makeAllowList } from './public-address.ts'

const count = (name: string, byDefault: number, most: number) =>
  z.coerce.number().int().nonnegative().max(most).default(byDefault).describe(name)
/** A hundred years. */
const mostSecondsAhead = 3_155_760_000
const masterKey = z.string().regex(/^[A-Za-z0-9+/_-]{43,}=*$/, 'must be at least 32 random bytes in base64')
const auditKey = z.string().regex(/^[A-Za-z0-9+/_-]{43}=?$/, 'must be 32 random bytes in base64')
const list = (name: string) =>
  z
    .string()
    .default('')
    .transform((value) =>
      value
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    )
    .describe(name)

const inFile = (variable: string) =>
  z.string().optional().describe(`A file that holds ${variable}, in place of the variable itself.`)

/** Every variable of the environment that the service reads. */
export const Config = z.object({
  BASE_URL: z
    .url({ protocol: /^https?$/, error: 'must be an address that begins with http:// or https://' })
    .refine((url) => !url.endsWith('/'), 'must not end with a slash')
    .refine((url) => !/[?#@]/.test(url), 'must have no user, query or fragment')
    .default('http://localhost:4000')
    .describe(
      'The base address that callers use, without a slash at the end; by default localhost with PORT. Tokens are issued for BASE_URL/api/v1.',
    ),
  CONSOLE_API_URL: z
    .url({ protocol: /^https?$/, error: 'must be an address that begins with http:// or https://' })
    .refine((url) => !url.endsWith('/'), 'must not end with a slash')
    .optional()
    .describe(
      'The address by which query-api itself reaches both APIs, for the pages of the console; by default BASE_URL, or, in one process, its own port.',
    ),
  HOST: z.string().default('127.0.0.1').describe('The address to listen on.'),
  PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65535)
    .default(4000)
    .describe('The port to listen on; 0 picks a free one, and needs BASE_URL.'),
  HEALTH_PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65535)
    .default(4001)
    .describe('The port for /metrics and the details of /health, not for the public; 0 picks a free one.'),
  DATABASE_URL: z
    .string()
    .refine(
      (value) => value === 'embedded' || (/^postgres(ql)?:\/\//.test(value) && URL.canParse(value)),
      'must be an address that begins with postgres:// or postgresql://, or the word embedded',
    )
    .default('embedded')
    .describe('PostgreSQL for read models and deliveries, or "embedded" for the one that npm start brings.'),
  DATABASE_URL_FILE: inFile('DATABASE_URL'),
  DATA_DIR: z.string().default('.data').describe('Where the embedded PostgreSQL keeps its data.'),
  EVENT_LOG: z.enum(['postgres', 'eventstoredb']).default('postgres').describe('Where events are kept.'),
  EVENTSTOREDB_URL: z
    .string()
    .regex(/^(esdb|kurrentdb)(\+discover)?:\/\//, 'must begin with esdb:// or kurrentdb://')
    .optional()
    .describe('The EventStoreDB or KurrentDB to use when EVENT_LOG is eventstoredb.'),
  EVENTSTOREDB_URL_FILE: inFile('EVENTSTOREDB_URL'),
  MASTER_KEY: masterKey
    .optional()
    .describe(
      '32 random bytes in base64: signs tokens, seals stored secrets and personal data. npm start makes one in DATA_DIR.',
    ),
  MASTER_KEY_FILE: inFile('MASTER_KEY'),
  MASTER_KEYS_EARLIER: list('Former master keys.')
    .pipe(z.array(masterKey))
    .describe('Former master keys, comma separated: what was made with them can still be read. See docs/keys.md.'),
  MASTER_KEYS_EARLIER_FILE: inFile('MASTER_KEYS_EARLIER'),
  AUDIT_KEY: auditKey
    .optional()
    .describe(
      '32 random bytes in base64, not those of MASTER_KEY: projections signs with it that nothing was altered. npm start makes one in DATA_DIR; without it nothing is signed. See docs/audit.md.',
    ),
  AUDIT_KEY_FILE: inFile('AUDIT_KEY'),
  AUDIT_KEYS_EARLIER: list('Former signing keys.')
    .pipe(z.array(auditKey))
    .describe('Former values of AUDIT_KEY, comma separated: what they signed is still recognised.'),
  AUDIT_KEYS_EARLIER_FILE: inFile('AUDIT_KEYS_EARLIER'),
  AUDIT_WITNESS_FILE: z
    .string()
    .refine(isAbsolute, 'must be a whole path, from the root on')
    .optional()
    .describe(
      'A file outside the database to which projections appends each checkpoint: a log that has fewer entries than it says, or others, is not signed. See docs/audit.md.',
    ),
  AUDIT_WITNESSES: list('Witnesses.')
    .pipe(
      z
        .array(z.string().refine((text) => readWitness(text), 'must be an address, a space and the key of a witness'))
        .max(20),
    )
    .describe(
      'Witnesses outside that cosign the checkpoints (C2SP tlog-witness), comma separated, at most 20: of each the address, a space and its key. See docs/audit.md.',
    ),
  ERASED_KEYS_FILE: z
    .string()
    .optional()
    .describe(
      'A file outside the database, the same for every process, that names each key destroyed by an erasure: after a restore they are destroyed again. See docs/keys.md.',
    ),
  OPERATOR_KEY: z
    .string()
    .min(24)
    .regex(/^[!-~]([ -~]*[!-~])?$/, 'must be of ASCII characters, without a space at its ends: it is sent in a header')
    .optional()
    .describe(
      'The bearer key of /admin/v1, at least 24 characters. npm start makes one in DATA_DIR; without it /admin/v1 is off.',
    ),
  OPERATOR_KEY_FILE: inFile('OPERATOR_KEY'),
  OPERATOR_KEY_OPENS: z
    .enum(['everything', 'installation'])
    .default('everything')
    .describe(
      'What OPERATOR_KEY and the operator’s keys with names open: everything, or only what the role operator may do (docs/roles.md).',
    ),
  ENVIRONMENT: z
    .enum(['production', 'test'])
    .default('production')
    .describe('Whether real customers are served. Only outside production may business time differ from real time.'),
  BUSINESS_TIME_OFFSET_SECONDS: z.coerce
    .number()
    .int()
    .min(-mostSecondsAhead)
    .max(mostSecondsAhead)
    .default(0)
    .describe('By how much business time (dates, ages, expiry) is ahead of real time; the same for all roles.'),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('Which log lines are written.'),
  TRUSTED_PROXIES: count('How many proxies in front of the APIs are trusted to set X-Forwarded-For.', 0, 100),
  RATE_LIMIT_REQUESTS: count(
    'Requests that one address may make in a window, over both APIs; 0 switches the limit off.',
    300,
    1_000_000_000,
  ),
  RATE_LIMIT_WINDOW_SECONDS: z.coerce
    .number()
    .positive()
    .max(86_400)
    .default(300)
    .describe('The length of the window of RATE_LIMIT_REQUESTS.'),
  SIGN_IN_ATTEMPTS: count(
    'Attempts to sign in that one address, and that one user, has in five minutes; 0 switches the limit off.',
    30,
    1_000_000,
  ),
  READ_YOUR_WRITES_MS: count(
    'How long a command waits until its result can be read; it is answered afterwards in any case. So long a request waits for what it does not find, before that is said not to be there.',
    1000,
    60_000,
  ),
  DELIVERY_CONCURRENCY: z.coerce
    .number()
    .int()
    .min(4)
    .max(1_000)
    .default(256)
    .describe('Webhooks that one delivery worker sends at the same time, at least 4.'),
  DELIVERY_RETENTION_DAYS: z.coerce
    .number()
    .int()
    .positive()
    .max(36_500)
    .default(30)
    .describe(
      'How long deliveries, their attempts and the integration log are kept, in days; deliveries up to a week longer, never less.',
    ),
  ACCESS_RETENTION_DAYS: z.coerce
    .number()
    .int()
    .positive()
    .max(36_500)
    .default(2_557)
    .describe(
      'How long it is kept who was shown personal values, in days; up to a month longer, never less. See docs/audit.md.',
    ),
  ACCESS_COLLECTOR_URL: z
    .url({ protocol: /^https?$/, error: 'must be an address that begins with http:// or https://' })
    .optional()
    .describe(
      'Where the delivery worker sends on, as JSON lines, who was shown personal values; without it, nothing is sent on. See docs/audit.md.',
    ),
  ACCESS_COLLECTOR_TOKEN: z.string().optional().describe('The bearer token that ACCESS_COLLECTOR_URL asks for.'),
  ACCESS_COLLECTOR_TOKEN_FILE: inFile('ACCESS_COLLECTOR_TOKEN'),
  DELIVERY_ALLOWED_HOSTS: list(
    'Hosts, host:port or CIDR blocks that webhooks and accounts with outside parties may be at although they are not public, comma separated.',
  ).superRefine((entries, context) => {
    try {
      makeAllowList(entries)
    } catch (error) {
      context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) })
    }
  }),
  DELIVERY_ALLOW_HTTP: z
    .stringbool()
    .default(false)
    .describe(
      'Whether endpoint connections and accounts may use http://, and mail servers no encryption, with the hosts of DELIVERY_ALLOWED_HOSTS.',
    ),
  KAFKA_BROKERS: list('Brokers.')
    .pipe(
      z.array(
        z
          .string()
          .regex(/^(\[[\da-f:]+\]|[^\s:/[\]]+):\d{1,5}$/i, 'must be host:port, several separated by commas')
          .refine((broker) => !(Number(/\d+$/.exec(broker)?.[0]) > 65_535), 'must have a port of at most 65535'),
      ),
    )
    .describe(
      'host:port of Kafka brokers, comma separated: deliveries are then planned from a topic that the log is published to. See docs/kafka.md.',
    ),
  KAFKA_TOPIC: z
    .string()
    .regex(/^[\w.-]{1,200}$/, 'must be at most 200 letters, digits, dots, hyphens and underscores')
    .default('coverstream.events')
    .describe('The topic that the log is published to.'),
  KAFKA_PARTITIONS: z.coerce
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(12)
    .describe('How many partitions the topic gets when the service makes it, which is how many workers can share it.'),
  KAFKA_TLS: z.stringbool().default(false).describe('Whether the brokers are spoken to over TLS.'),
  KAFKA_CA_FILE: z.string().optional().describe("The authority that signed the brokers' certificates, in PEM."),
  KAFKA_CERTIFICATE_FILE: z.string().optional().describe('A certificate to sign in to the brokers with, in PEM.'),
  KAFKA_KEY_FILE: z.string().optional().describe('The key of KAFKA_CERTIFICATE_FILE, in PEM.'),
  KAFKA_SASL_MECHANISM: z
    .enum(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512'])
    .optional()
    .describe('How KAFKA_USERNAME and KAFKA_PASSWORD are shown to the brokers; without it, no user is.'),
  KAFKA_USERNAME: z.string().optional().describe('The user for the brokers.'),
  KAFKA_PASSWORD: z.string().optional().describe('The password of KAFKA_USERNAME.'),
  KAFKA_PASSWORD_FILE: inFile('KAFKA_PASSWORD'),
  KAFKA_SESSION_TIMEOUT_SECONDS: z.coerce
    .number()
    .min(1)
    .max(300)
    .default(10)
    .describe('After how many seconds without a sign of life the partitions of a worker are given to others.'),
  BANK_HOLIDAYS_FILE: z
    .string()
    .optional()
    .describe(
      'The bank holidays on which no premium is collected, as gov.uk publishes those of one part of the country (JSON); those of England and Wales come along.',
    ),
  MODULUS_WEIGHTS_FILE: z
    .string()
    .optional()
    .describe(
      'The weights of the check of sort codes and account numbers, as published by Vocalink; a copy comes along.',
    ),
  MODULUS_SUBSTITUTIONS_FILE: z
    .string()
    .optional()
    .describe('The sort codes to check in place of others, published with the weights.'),
})
export type Config = z.output<typeof Config>

/** A configuration that cannot be used. The message names each variable and what is wrong with it. */
export class BadConfiguration extends OwnError {
  override readonly name = 'BadConfiguration'
}

/** Each can be given in a file, which shows neither among the processes nor in what docker tells of a container. */
const secrets = [
  'DATABASE_URL',
  'EVENTSTOREDB_URL',
  'MASTER_KEY',
  'MASTER_KEYS_EARLIER',
  'AUDIT_KEY',
  'AUDIT_KEYS_EARLIER',
  'OPERATOR_KEY',
  'ACCESS_COLLECTOR_TOKEN',
  'KAFKA_PASSWORD',
] as const

/** Values from files, in place of the variables that name them. An empty file counts as an unset variable. */
const fromFiles = (environment: ReadonlyMap<string, string>): readonly (readonly [string, string])[] =>
  secrets.flatMap((name) => {
    const path = environment.get(`${name}_FILE`)
    if (path === undefined) return []
    if (environment.has(name)) throw new BadConfiguration(`${name}_FILE: is set, and ${name} too; choose one`)
    try {
      const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
      return text.trim() === '' ? [] : [[name, text] as const]
    } catch (error) {
      throw new BadConfiguration(
        `${name}_FILE: cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      )
    }
  })

/** Read once, at the start of a process. A process with a bad configuration does not start. Empty or blank variables count as unset. */
export const readConfig = (environment: NodeJS.ProcessEnv, defaults: NodeJS.ProcessEnv = {}): Config => {
  const set = new Map(
    Object.entries(environment).flatMap(([name, value = '']) => (value.trim() === '' ? [] : [[name, value] as const])),
  )
  const given: NodeJS.ProcessEnv = { ...defaults, ...Object.fromEntries([...set, ...fromFiles(set)]) }
  const { success, data, error } = Config.safeParse(given, { error: plainWords })
  if (!success)
    throw new BadConfiguration(
      reasonsOf(error.issues)
        .map(({ path: [name, index], reason }) =>
          typeof index === 'number' ? `${String(name)}: value ${index + 1} ${reason}` : `${String(name)}: ${reason}`,
        )
        .join('\n'),
    )
  if (data.EVENT_LOG === 'eventstoredb' && !data.EVENTSTOREDB_URL)
    throw new BadConfiguration('EVENTSTOREDB_URL: must be set when EVENT_LOG is eventstoredb')
  checkKafka(data)
  if (data.ENVIRONMENT === 'production' && data.BUSINESS_TIME_OFFSET_SECONDS !== 0)
    throw new BadConfiguration('BUSINESS_TIME_OFFSET_SECONDS: must be 0 when ENVIRONMENT is production')
  // Tokens are issued for it before the port is picked.
  if (data.PORT === 0 && given['BASE_URL'] === undefined)
    throw new BadConfiguration('BASE_URL: must be set when PORT is 0; or choose a port')
  return given['BASE_URL'] === undefined ? { ...data, BASE_URL: `http://localhost:${data.PORT}` } : data
}

const checkKafka = (config: Config): void => {
  const together = (one: keyof Config, other: keyof Config) => {
    if (config[one] !== undefined && config[other] === undefined)
      throw new BadConfiguration(`${other}: must be set when ${one} is`)
  }
  together('KAFKA_SASL_MECHANISM', 'KAFKA_USERNAME')
  together('ACCESS_COLLECTOR_TOKEN', 'ACCESS_COLLECTOR_URL')
  together('KAFKA_USERNAME', 'KAFKA_PASSWORD')
  together('KAFKA_PASSWORD', 'KAFKA_SASL_MECHANISM')
  together('KAFKA_CERTIFICATE_FILE', 'KAFKA_KEY_FILE')
  together('KAFKA_KEY_FILE', 'KAFKA_CERTIFICATE_FILE')
  for (const file of ['KAFKA_CA_FILE', 'KAFKA_CERTIFICATE_FILE'] as const)
    if (config[file] !== undefined && !config.KAFKA_TLS)
      throw new BadConfiguration(`KAFKA_TLS: must be true when ${file} is set`)
}

/** The table of variables for `--help` and the README: name, default, meaning. */
export const describeConfig = (): readonly { name: string; byDefault: string; meaning: string }[] =>
  Object.entries(Config.shape).map(([name, schema]) => {
    const byDefault = schema.safeParse(undefined)
    return {
      name,
      byDefault: byDefault.data === undefined ? '' : String(byDefault.data),
      meaning: schema.description ?? '',
    }
  })
