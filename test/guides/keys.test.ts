import { expect, test } from 'vitest'
import { makeDataKeys } from '#infra/crypto/data-keys.ts'
import { deriveKeys } from '#infra/crypto/keys.ts'
import { checkMasterKeys } from '#infra/crypto/master-keys.ts'
import { testDatabase } from '../database.ts'
import { wholeService } from '../whole-service.ts'
import { commandsOf, runCommands } from './guide.ts'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..', '..')

test('the secret of an API application is replaced as the guide says, and the former goes on for a day', async () => {
  await using service = await wholeService()
  const organisation = await service.organisation('guide-firm')
  const { client_id, token } = await service.client(organisation, ['read'])
  const [command = ''] = await commandsOf('docs/keys.md', 'Replace the secret of an API application')

  const output = await runCommands(command, {
    cwd: root,
    environment: {
      BASE_URL: service.origin,
      OPERATOR_KEY: 'the operator key of the tests',
      ORGANISATION: organisation,
      CLIENT_ID: client_id,
    },
  })

  expect(output).toMatch(/"former_secret_ends_at":"20.*"client_secret":"\S{43}"/)
  expect((await service.send('GET', '/api/v1/products', { token })).status).toBe(200)
})

test('the operator makes, lists and ends keys as the guide says', async () => {
  await using service = await wholeService()
  const [commands = ''] = await commandsOf('docs/keys.md', 'Keys of the operator')
  const environment = { BASE_URL: service.origin, OPERATOR_KEY: 'the operator key of the tests' }

  const output = await runCommands(commands, { cwd: root, environment })

  expect(output.match(/It is not shown again/g)).toHaveLength(2)
  expect(output).toMatch(/^ada {2}all {2}until it is ended/m)
  expect(output).toMatch(/^auditor {2}read_only {2}ended 20/m)
})

test('the master key is made, rotated and retired as the guide says', { timeout: 60_000 }, async () => {
  await using database = await testDatabase()
  const keysOf = (section: string) => commandsOf('docs/keys.md', section)
  const [make = ''] = await keysOf('Make and keep the master key')
  const [rotate = '', retire = ''] = await keysOf('Rotate the master key')
  const [former = '', present = ''] = await Promise.all(
    [1, 2].map(async () => (await runCommands(make, { cwd: root, environment: {} })).trim()),
  )
  await checkMasterKeys(database.pool, deriveKeys(former))
  const dataKeys = makeDataKeys({ pool: database.pool, keys: deriveKeys(former) })
  await dataKeys.of({ organisation_id: 'org_0', subject: 'person:1' })
  const keys = async (command: string, MASTER_KEYS_EARLIER: string) => {
    const given = { BASE_URL: undefined, DATABASE_URL: database.url, MASTER_KEY: present, MASTER_KEYS_EARLIER }
    return runCommands(command, { cwd: root, environment: { ...given, FORMER: deriveKeys(former).sealing.id } })
  }

  expect(await keys(rotate, former)).toContain('1 data key was sealed again')
  expect(await keys(retire, former)).toContain(deriveKeys(former).sealing.id)
  expect(await keys('npm run keys -- status', '')).toContain(deriveKeys(present).sealing.id)
})
