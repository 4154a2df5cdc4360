import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { describeConfig, readConfig } from '#infra/config.ts'
import { ownSecrets } from '#infra/local-installation.ts'
import { testDatabase } from '../database.ts'
import { startRole } from './role-process.ts'
import { freePort, startServiceProcess } from './service-process.ts'

// A process takes long to start on a busy machine.
vi.setConfig({ testTimeout: 120_000 })

const directory = await mkdtemp(join(tmpdir(), 'coverstream-configuration-'))
afterAll(() => rm(directory, { recursive: true, force: true }))

/** Each variable wrong, and the line that the process prints. */
const wrong: readonly (readonly [variable: string, value: string, line: string])[] = [
  ['BASE_URL', 'nonsense', 'BASE_URL: must be an address that begins with http:// or https://'],
  ['CONSOLE_API_URL', 'proxy:8080', 'CONSOLE_API_URL: must be an address that begins with http:// or https://'],
  ['PORT', '99999', 'PORT: must be at most 65535'],
  ['HEALTH_PORT', 'many', 'HEALTH_PORT: must be a number'],
  [
    'DATABASE_URL',
    'mysql://host',
    'DATABASE_URL: must be an address that begins with postgres:// or postgresql://, or the word embedded',
  ],
  ['EVENT_LOG', 'mysql', 'EVENT_LOG: must be one of postgres, eventstoredb'],
  ['EVENTSTOREDB_URL', 'http://host', 'EVENTSTOREDB_URL: must begin with esdb:// or kurrentdb://'],
  ['MASTER_KEY', 'short', 'MASTER_KEY: must be at least 32 random bytes in base64'],
  ['MASTER_KEYS_EARLIER', 'short', 'MASTER_KEYS_EARLIER: value 1 must be at least 32 random bytes in base64'],
  ['AUDIT_KEY', 'short', 'AUDIT_KEY: must be 32 random bytes in base64'],
  ['AUDIT_KEYS_EARLIER', 'short', 'AUDIT_KEYS_EARLIER: value 1 must be 32 random bytes in base64'],
  ['AUDIT_WITNESS_FILE', 'checkpoints.txt', 'AUDIT_WITNESS_FILE: must be a whole path, from the root on'],
  [
    'AUDIT_WITNESSES',
    'https://witness.example',
    'AUDIT_WITNESSES: value 1 must be an address, a space and the key of a witness',
  ],
  ['OPERATOR_KEY', 'short', 'OPERATOR_KEY: must have at least 24 characters'],
  ['OPERATOR_KEY_OPENS', 'much', 'OPERATOR_KEY_OPENS: must be one of everything, installation'],
  ['ENVIRONMENT', 'holiday', 'ENVIRONMENT: must be one of production, test'],
  ['BUSINESS_TIME_OFFSET_SECONDS', 'soon', 'BUSINESS_TIME_OFFSET_SECONDS: must be a number'],
  ['LOG_LEVEL', 'loud', 'LOG_LEVEL: must be one of trace, debug, info, warn, error, fatal, silent'],
  ['TRUSTED_PROXIES', '-1', 'TRUSTED_PROXIES: must be at least 0'],
  ['RATE_LIMIT_REQUESTS', '-1', 'RATE_LIMIT_REQUESTS: must be at least 0'],
  ['RATE_LIMIT_WINDOW_SECONDS', '0', 'RATE_LIMIT_WINDOW_SECONDS: must be above 0'],
  ['SIGN_IN_ATTEMPTS', '-1', 'SIGN_IN_ATTEMPTS: must be at least 0'],
  ['READ_YOUR_WRITES_MS', '-1', 'READ_YOUR_WRITES_MS: must be at least 0'],
  ['DELIVERY_CONCURRENCY', '1', 'DELIVERY_CONCURRENCY: must be at least 4'],
  ['DELIVERY_RETENTION_DAYS', '0', 'DELIVERY_RETENTION_DAYS: must be above 0'],
  ['ACCESS_RETENTION_DAYS', '0', 'ACCESS_RETENTION_DAYS: must be above 0'],
  [
    'ACCESS_COLLECTOR_URL',
    'ftp://host',
    'ACCESS_COLLECTOR_URL: must be an address that begins with http:// or https://',
  ],
  [
    'DELIVERY_ALLOWED_HOSTS',
    'http://host/',
    'DELIVERY_ALLOWED_HOSTS: http://host/ is neither a host, nor host:port, nor a CIDR block.',
  ],
  ['DELIVERY_ALLOW_HTTP', 'perhaps', 'DELIVERY_ALLOW_HTTP: must be true or false'],
  ['KAFKA_BROKERS', 'kafka', 'KAFKA_BROKERS: value 1 must be host:port, several separated by commas'],
  ['KAFKA_TOPIC', 'our topic', 'KAFKA_TOPIC: must be at most 200 letters, digits, dots, hyphens and underscores'],
  ['KAFKA_PARTITIONS', '0', 'KAFKA_PARTITIONS: must be at least 1'],
  ['KAFKA_TLS', 'perhaps', 'KAFKA_TLS: must be true or false'],
  ['KAFKA_SASL_MECHANISM', 'GSSAPI', 'KAFKA_SASL_MECHANISM: must be one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512'],
  ['KAFKA_SESSION_TIMEOUT_SECONDS', '0', 'KAFKA_SESSION_TIMEOUT_SECONDS: must be at least 1'],
]

/** What is tried when it is used, each by a process of its own. */
const triedWhenUsed: readonly (readonly [variable: string, value: string, line: string])[] = [
  ['HOST', '999.1.1.1', 'HOST: 999.1.1.1 is no address of this machine; use 127.0.0.1, ::1 or 0.0.0.0'],
  ['EVENT_LOG', 'eventstoredb', 'EVENTSTOREDB_URL: must be set when EVENT_LOG is eventstoredb'],
  ['BUSINESS_TIME_OFFSET_SECONDS', '60', 'BUSINESS_TIME_OFFSET_SECONDS: must be 0 when ENVIRONMENT is production'],
  ['DATABASE_URL', 'embedded', 'DATABASE_URL: must name a PostgreSQL; only npm start brings one of its own'],
  ['MASTER_KEY', '', 'MASTER_KEY: must be set'],
  [
    'ERASED_KEYS_FILE',
    '/no/file',
    "ERASED_KEYS_FILE: /no/file cannot be used (ENOENT: no such file or directory, open '/no/file')",
  ],
  [
    'BANK_HOLIDAYS_FILE',
    '/no/such/file',
    "BANK_HOLIDAYS_FILE: cannot be read: ENOENT: no such file or directory, open '/no/such/file'",
  ],
  [
    'MODULUS_WEIGHTS_FILE',
    '/no/such/file',
    "MODULUS_WEIGHTS_FILE: cannot be read: ENOENT: no such file or directory, open '/no/such/file'",
  ],
  [
    'MODULUS_SUBSTITUTIONS_FILE',
    '/no/such/file',
    "MODULUS_SUBSTITUTIONS_FILE: cannot be read: ENOENT: no such file or directory, open '/no/such/file'",
  ],
]

/** What needs another variable, or a place on the disk: these lines are made without a process. */
const triedWithOthers: readonly (readonly [variable: string, value: string, line: string])[] = [
  ['ACCESS_COLLECTOR_TOKEN', 'secret', 'ACCESS_COLLECTOR_URL: must be set when ACCESS_COLLECTOR_TOKEN is'],
  ['KAFKA_CA_FILE', 'ca.pem', 'KAFKA_TLS: must be true when KAFKA_CA_FILE is set'],
  ['KAFKA_CERTIFICATE_FILE', 'cert.pem', 'KAFKA_KEY_FILE: must be set when KAFKA_CERTIFICATE_FILE is'],
  ['KAFKA_KEY_FILE', 'key.pem', 'KAFKA_CERTIFICATE_FILE: must be set when KAFKA_KEY_FILE is'],
  ['KAFKA_USERNAME', 'us', 'KAFKA_PASSWORD: must be set when KAFKA_USERNAME is'],
  ['KAFKA_PASSWORD', 'secret', 'KAFKA_SASL_MECHANISM: must be set when KAFKA_PASSWORD is'],
  [
    'DATA_DIR',
    '/dev/null/data',
    "DATA_DIR: /dev/null/data cannot be used (ENOTDIR: not a directory, mkdir '/dev/null/data')",
  ],
  ...[
    'DATABASE_URL_FILE',
    'EVENTSTOREDB_URL_FILE',
    'MASTER_KEY_FILE',
    'MASTER_KEYS_EARLIER_FILE',
    'AUDIT_KEY_FILE',
    'AUDIT_KEYS_EARLIER_FILE',
    'OPERATOR_KEY_FILE',
    'ACCESS_COLLECTOR_TOKEN_FILE',
    'KAFKA_PASSWORD_FILE',
  ].map(
    (name) =>
      [
        name,
        '/no/such/file',
        `${name}: cannot be read: ENOENT: no such file or directory, open '/no/such/file'`,
      ] as const,
  ),
]

test.each(triedWithOthers)(
  '%s=%s is refused with one line that says what else is needed',
  async (name, value, line) => {
    const start = async () => ownSecrets(readConfig({ [name]: value }).DATA_DIR)

    await expect(start()).rejects.toThrow(new RegExp(`^${RegExp.escape(line)}$`))
  },
)

test('npm start says of every variable what is wrong with it, in one go, and ends with 1', async () => {
  const environment = Object.fromEntries(wrong.map(([name, value]) => [name, value]))
  const service = startServiceProcess({ dataDir: directory, port: 0, environment })

  expect(await service.ended).toEqual({ code: 1, signal: null })
  expect(service.output()).toBe(`\nCoverstream cannot start:\n${wrong.map(([, , line]) => line).join('\n')}\n`)
})

test('every variable is wrong here once', () => {
  const tried = [...wrong, ...triedWhenUsed, ...triedWithOthers].map(([name]) => name)
  const names = describeConfig().map(({ name }) => name)

  expect(names.filter((name) => !tried.includes(name))).toEqual([])
})

test('the guide for operators shows what is printed for each', async () => {
  const guide = await readFile(new URL('../../docs/operate.md', import.meta.url), 'utf8')
  const shown = [...guide.matchAll(/^\| `([A-Z_]+=.*?)` +\| `(.+?)` +\|$/gm)].map(([, setting, line]) => [
    setting,
    line,
  ])

  expect(shown).toEqual(
    [...wrong, ...triedWhenUsed, ...triedWithOthers].map(([name, value, line]) => [`${name}=${value}`, line]),
  )
})

test.concurrent.each(triedWhenUsed)(
  '%s=%s ends the start of a role with one line that names it',
  async (name, value, line) => {
    await using database = await testDatabase()
    await using role = await startRole({ DATABASE_URL: database.url, [name]: value }, 'command-api/main.ts')

    expect(await role.ended).toEqual({ code: 1, signal: null })
    expect(role.output()).toBe(`\ncommand-api cannot start:\n${line}\n`)
  },
)

test('npm start works at HOST=::1 with an OPERATOR_KEY of one’s own', async () => {
  await using database = await testDatabase()
  const port = await freePort()
  const OPERATOR_KEY = 'an operator key of my very own'
  const service = startServiceProcess({
    dataDir: join(directory, 'own'),
    port,
    environment: { DATABASE_URL: database.url, HOST: '::1', OPERATOR_KEY },
  })
  await using _service = { [Symbol.asyncDispose]: () => service.kill('family') }
  await service.ready

  const headers = { authorization: `Bearer ${OPERATOR_KEY}` }
  const { status } = await fetch(`http://[::1]:${port}/admin/v1/organisations`, { headers })
  expect(status).toBe(200)
  expect(service.output()).toContain(`operator key   ${OPERATOR_KEY}`)
})
