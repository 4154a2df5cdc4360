import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { describeConfig, readConfig } from '#infra/config.ts'
import { listen } from '#infra/http/listen.ts'
import { kafkaSettings } from '#infra/kafka/settings.ts'

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
const filesOfKafka = ['KAFKA_CA_FILE', 'KAFKA_CERTIFICATE_FILE', 'KAFKA_KEY_FILE']

const wrong: Readonly<Record<string, string>> = {
  BASE_URL: 'nonsense',
  CONSOLE_API_URL: 'proxy:8080',
  PORT: '99999',
  HEALTH_PORT: 'many',
  DATABASE_URL: 'mysql://host',
  EVENT_LOG: 'mysql',
  EVENTSTOREDB_URL: 'http://host',
  MASTER_KEY: 'short',
  MASTER_KEYS_EARLIER: 'short',
  AUDIT_KEY: 'short',
  AUDIT_KEYS_EARLIER: 'short',
  AUDIT_WITNESS_FILE: 'checkpoints.txt',
  AUDIT_WITNESSES: 'https://witness.example',
  OPERATOR_KEY: 'short',
  OPERATOR_KEY_OPENS: 'much',
  ENVIRONMENT: 'holiday',
  BUSINESS_TIME_OFFSET_SECONDS: 'soon',
  LOG_LEVEL: 'loud',
  TRUSTED_PROXIES: '-1',
  RATE_LIMIT_REQUESTS: '-1',
  RATE_LIMIT_WINDOW_SECONDS: '0',
  SIGN_IN_ATTEMPTS: '-1',
  READ_YOUR_WRITES_MS: '-1',
  DELIVERY_CONCURRENCY: '1',
  DELIVERY_RETENTION_DAYS: '0',
  ACCESS_RETENTION_DAYS: '0',
  ACCESS_COLLECTOR_URL: 'ftp://host',
  DELIVERY_ALLOWED_HOSTS: 'http://host/',
  DELIVERY_ALLOW_HTTP: 'perhaps',
  KAFKA_BROKERS: 'kafka:9092,http://host',
  KAFKA_TOPIC: 'our topic',
  KAFKA_PARTITIONS: '0',
  KAFKA_TLS: 'perhaps',
  KAFKA_SASL_MECHANISM: 'GSSAPI',
  KAFKA_SESSION_TIMEOUT_SECONDS: '0',
}

test('a port that is picked has no address that callers could be told: BASE_URL is needed with it', () => {
  expect(() => readConfig({ PORT: '0' })).toThrow(/^BASE_URL: must be set when PORT is 0/)
  expect(readConfig({ PORT: '0', BASE_URL: 'https://example.com' }).BASE_URL).toBe('https://example.com')
})

for (const [name, value] of Object.entries(wrong))
  test(`${name}=${value} is refused with a line that names it`, () => {
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name}: .+$`, 'm'))
  })

/** Each would be taken, and then do something else than it says: a timer of so many seconds, for example, ends at once. */
const pointless: readonly (readonly [string, string])[] = [
  ['DATABASE_URL', 'postgres:password@127.0.0.1:5432/coverstream'],
  ['BASE_URL', 'http://host/?a=b'],
  ['BASE_URL', 'http://user:secret@host'],
  ['OPERATOR_KEY', 'é'.repeat(24)],
  ['OPERATOR_KEY', `${'a'.repeat(24)} `],
  ['TRUSTED_PROXIES', '101'],
  ['RATE_LIMIT_REQUESTS', '1e10'],
  ['RATE_LIMIT_WINDOW_SECONDS', '1e300'],
  ['SIGN_IN_ATTEMPTS', '1e12'],
  ['READ_YOUR_WRITES_MS', '1e12'],
  ['DELIVERY_CONCURRENCY', '1e9'],
  ['DELIVERY_RETENTION_DAYS', '1e12'],
  ['ACCESS_RETENTION_DAYS', '1e12'],
  ['DELIVERY_ALLOWED_HOSTS', 'host:99999'],
]

test.each(pointless)('%s=%s, which no use could be made of, is refused with a line that names it', (name, value) => {
  expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name}: .+$`, 'm'))
})

test('business time cannot be moved further than dates reach', () => {
  for (const BUSINESS_TIME_OFFSET_SECONDS of ['1e15', '-1e15'])
    expect(() => readConfig({ ENVIRONMENT: 'test', BUSINESS_TIME_OFFSET_SECONDS })).toThrow(
      /^BUSINESS_TIME_OFFSET_SECONDS: .+$/,
    )
})

test('a blank variable counts as unset, as an empty one does', () => {
  expect(readConfig({ PORT: ' ', RATE_LIMIT_REQUESTS: ' ' })).toMatchObject({ PORT: 4000, RATE_LIMIT_REQUESTS: 300 })
})

test('every variable whose value can be wrong as such is listed above', () => {
  // A directory, a file or an address is tried when it is used.
  const filesOfSecrets = secrets.map((name) => `${name}_FILE`)
  const others = [
    'HOST',
    'DATA_DIR',
    'ERASED_KEYS_FILE',
    'BANK_HOLIDAYS_FILE',
    'MODULUS_WEIGHTS_FILE',
    'MODULUS_SUBSTITUTIONS_FILE',
  ]
  const triedWhenUsed = [...others, ...filesOfKafka, ...filesOfSecrets]
  const triedWithOthers = ['ACCESS_COLLECTOR_TOKEN', 'KAFKA_USERNAME', 'KAFKA_PASSWORD']
  const names = describeConfig().map(({ name }) => name)

  expect(
    names.filter((name) => wrong[name] === undefined && ![...triedWhenUsed, ...triedWithOthers].includes(name)),
  ).toEqual([])
})

const user = { KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_USERNAME: 'us', KAFKA_PASSWORD: 'secret' }

test('settings of Kafka that need each other are named when one is missing', () => {
  const { KAFKA_SASL_MECHANISM, KAFKA_USERNAME, KAFKA_PASSWORD } = user

  expect(() => readConfig({ KAFKA_SASL_MECHANISM })).toThrow(
    /^KAFKA_USERNAME: must be set when KAFKA_SASL_MECHANISM is$/,
  )
  expect(() => readConfig({ KAFKA_USERNAME })).toThrow(/^KAFKA_PASSWORD: must be set when KAFKA_USERNAME is$/)
  expect(() => readConfig({ KAFKA_PASSWORD })).toThrow(/^KAFKA_SASL_MECHANISM: must be set when KAFKA_PASSWORD is$/)
  expect(() => readConfig({ KAFKA_CERTIFICATE_FILE: 'a' })).toThrow(/^KAFKA_KEY_FILE: /)
  expect(() => readConfig({ KAFKA_CA_FILE: 'a' })).toThrow(/^KAFKA_TLS: must be true when KAFKA_CA_FILE is set$/)
  expect(kafkaSettings(readConfig({ ...user, KAFKA_BROKERS: 'one:9092, two:9092' }))).toMatchObject({
    brokers: ['one:9092', 'two:9092'],
    client: { sasl: { mechanism: 'PLAIN', username: 'us', password: 'secret' } },
  })
})

test('a file for Kafka that cannot be read is named with its variable', () => {
  const config = readConfig({ KAFKA_BROKERS: 'host:9092', KAFKA_TLS: 'true', KAFKA_CA_FILE: '/no/such/file' })

  expect(() => kafkaSettings(config)).toThrow(/^KAFKA_CA_FILE: cannot be read: .+no such file/)
})

test('a file of certificates or keys that holds none is named with its variable', () => {
  const notPem = import.meta.filename
  const certificate = join(import.meta.dirname, 'eventstoredb', 'certificates', 'server.crt')
  const key = join(import.meta.dirname, 'eventstoredb', 'certificates', 'server.key')
  const over = { KAFKA_BROKERS: 'host:9092', KAFKA_TLS: 'true' }
  const settings = (files: Readonly<Record<string, string>>) => () => kafkaSettings(readConfig({ ...over, ...files }))

  expect(settings({ KAFKA_CA_FILE: notPem })).toThrow(/^KAFKA_CA_FILE: holds no certificate in PEM \(/)
  expect(settings({ KAFKA_CERTIFICATE_FILE: notPem, KAFKA_KEY_FILE: key })).toThrow(
    /^KAFKA_CERTIFICATE_FILE: holds no certificate in PEM \(/,
  )
  expect(settings({ KAFKA_CERTIFICATE_FILE: certificate, KAFKA_KEY_FILE: notPem })).toThrow(
    /^KAFKA_KEY_FILE: holds no private key in PEM that fits the certificate \(/,
  )
  expect(
    settings({ KAFKA_CA_FILE: certificate, KAFKA_CERTIFICATE_FILE: certificate, KAFKA_KEY_FILE: key }),
  ).not.toThrow()
})

test('a broker has a port that there is', () => {
  expect(() => readConfig({ KAFKA_BROKERS: 'one' })).toThrow(
    /^KAFKA_BROKERS: value 1 must be host:port, several separated by commas$/,
  )
  expect(() => readConfig({ KAFKA_BROKERS: 'one:9092,two:65536' })).toThrow(
    /^KAFKA_BROKERS: value 2 must have a port of at most 65535$/,
  )
  expect(readConfig({ KAFKA_BROKERS: 'one:65535' }).KAFKA_BROKERS).toEqual(['one:65535'])
})

const given: Readonly<Record<(typeof secrets)[number], string>> = {
  DATABASE_URL: 'postgres://us:secret@host/db',
  EVENTSTOREDB_URL: 'esdb://us:secret@host:2113',
  MASTER_KEY: 'm'.repeat(44),
  MASTER_KEYS_EARLIER: `${'n'.repeat(44)},${'o'.repeat(44)}`,
  AUDIT_KEY: 'p'.repeat(43),
  AUDIT_KEYS_EARLIER: `${'q'.repeat(43)}=,${'r'.repeat(43)}`,
  OPERATOR_KEY: 'an operator key in a file',
  ACCESS_COLLECTOR_TOKEN: 'a token in a file',
  KAFKA_PASSWORD: 'a password in a file ',
}

/** Settings without which a secret is refused. */
const needed: Readonly<Partial<Record<(typeof secrets)[number], Readonly<Record<string, string>>>>> = {
  ACCESS_COLLECTOR_TOKEN: { ACCESS_COLLECTOR_URL: 'https://collector.example' },
  KAFKA_PASSWORD: user,
}

describe('a secret in a file', () => {
  const inFile = async (name: string, text: string) => {
    const directory = await mkdtemp(join(tmpdir(), 'coverstream-secrets-'))
    const path = join(directory, name)
    await writeFile(path, text)
    return { path, [Symbol.asyncDispose]: () => rm(directory, { recursive: true }) }
  }

  test.each(secrets)('counts as the variable itself, with a line feed at its end or without: %s', async (name) => {
    const others = needed[name] ?? {}
    const { KAFKA_PASSWORD: _password, ...settings } = { KAFKA_PASSWORD: undefined, ...others }
    const byVariable = readConfig({ ...settings, [name]: given[name] })
    for (const ending of ['', '\n', '\r\n']) {
      await using file = await inFile(name, `${given[name]}${ending}`)

      const byFile = readConfig({ ...settings, [`${name}_FILE`]: file.path }, { [name]: 'what npm start has made' })

      expect(byFile[name]).toEqual(byVariable[name])
    }
  })

  test.each(secrets)('is named when it cannot be read, or is given twice: %s', async (name) => {
    await using file = await inFile(name, given[name])

    expect(() => readConfig({ [`${name}_FILE`]: '/no/such/file' })).toThrow(
      new RegExp(`^${name}_FILE: cannot be read: .+no such file`),
    )
    expect(() => readConfig({ [`${name}_FILE`]: file.path, [name]: given[name] })).toThrow(
      `${name}_FILE: is set, and ${name} too; choose one`,
    )
  })

  test('that is empty counts as unset, and a wrong one is named as the variable', async () => {
    await using empty = await inFile('MASTER_KEYS_EARLIER', '\n')
    await using wrongOne = await inFile('MASTER_KEY', 'short')

    expect(readConfig({ MASTER_KEYS_EARLIER_FILE: empty.path }).MASTER_KEYS_EARLIER).toEqual([])
    expect(() => readConfig({ MASTER_KEY_FILE: wrongOne.path })).toThrow(/^MASTER_KEY: .+$/)
  })
})

test('without brokers there is no Kafka', () => {
  expect(kafkaSettings(readConfig({}))).toBeUndefined()
})

test('a HOST that is no address of this machine is refused with a line that names it', async () => {
  for (const host of ['999.1.1.1', '192.0.2.1'])
    await expect(listen(() => undefined, host, 0)).rejects.toThrow(/^HOST: .* is no address of this machine/)
})
