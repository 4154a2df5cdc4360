import { expect, test } from 'vitest'
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
      KEY: 'the operator key of the tests',
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
