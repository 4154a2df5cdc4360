import { expect, test } from 'vitest'
import { describeConfig, readConfig } from '#infra/config.ts'
import { listen } from '#infra/http/http.ts'

const wrong: Readonly<Record<string, string>> = {
  BASE_URL: 'nonsense',
  PORT: '99999',
  HEALTH_PORT: 'many',
  DATABASE_URL: 'mysql://host',
  EVENT_LOG: 'mysql',
  EVENTSTOREDB_URL: 'http://host',
  MASTER_KEY: 'short',
  MASTER_KEYS_EARLIER: 'short',
  OPERATOR_KEY: 'short',
  ENVIRONMENT: 'holiday',
  BUSINESS_TIME_OFFSET_SECONDS: 'soon',
  LOG_LEVEL: 'loud',
  TRUSTED_PROXIES: '-1',
  RATE_LIMIT_REQUESTS: '-1',
  RATE_LIMIT_WINDOW_SECONDS: '0',
  READ_YOUR_WRITES_MS: '-1',
  DELIVERY_CONCURRENCY: '1',
  DELIVERY_RETENTION_DAYS: '0',
  DELIVERY_ALLOWED_HOSTS: 'http://host/',
  DELIVERY_ALLOW_HTTP: 'perhaps',
}

for (const [name, value] of Object.entries(wrong))
  test(`${name}=${value} is refused with a line that names it`, () => {
    expect(() => readConfig({ [name]: value })).toThrow(new RegExp(`^${name}(\\.\\d+)?: .+$`, 'm'))
  })

test('every variable whose value can be wrong as such is listed above', () => {
  // A directory, a file or an address is tried when it is used.
  const triedWhenUsed = ['HOST', 'DATA_DIR', 'MODULUS_WEIGHTS_FILE', 'MODULUS_SUBSTITUTIONS_FILE']
  const names = describeConfig().map(({ name }) => name)

  expect(names.filter((name) => wrong[name] === undefined && !triedWhenUsed.includes(name))).toEqual([])
})

test('a HOST that is no address of this machine is refused with a line that names it', async () => {
  for (const host of ['999.1.1.1', '192.0.2.1'])
    await expect(listen(() => undefined, host, 0)).rejects.toThrow(/^HOST: .* is no address of this machine/)
})
