import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { proposalEvents } from '#domain/approvals/events.ts'
import { toStored } from '#domain/event.ts'
import { UserId } from '#domain/values.ts'
import { postgresLog } from '#infra/event-log/postgres/postgres-log.ts'
import { organisation_id } from '../applications/release.ts'
import { testDatabase, type TestDatabase } from '../database.ts'
import { premium_id } from '../premiums/premium-builders.ts'
import { file } from '../setup/builders.ts'
import { memberOf } from '../users/team.ts'
import { wholeService } from '../whole-service.ts'
import { policyWithPremium } from './policy-with-premium.ts'

const program = fileURLToPath(new URL('approving-process.ts', import.meta.url))
const admin = `/admin/v1/organisations/${organisation_id}`
const here = { EVENT_LOG: 'postgres' }

type Proposed = { readonly id: string; readonly stream: string }

/** An account and a refund that wait, with who may approve them. */
const proposeBoth = async (database: TestDatabase) => {
  await using service = await wholeService(here, database)
  await service.setUp(file.replace('slug: acme\n', `slug: acme\n    id: ${organisation_id}\n`))
  const approver = UserId.parse((await memberOf(service, organisation_id, ['owner', 'finance'])).id)
  const rule = { payment_account: true, refund_above_pence: 0 }
  await service.send('PATCH', `${admin}/four_eyes`, { body: rule })
  const policy = await policyWithPremium(service.parts.eventLog)
  const propose = async (method: string, path: string, body: object): Promise<Proposed> => {
    const waiting = await service.send<{ proposal_id: string }>(method, `${admin}${path}`, { body })
    const { proposal_id: id } = waiting.body.data
    const { body: shown } = await service.send<{ stream: string }>('GET', `${admin}/approvals/${id}`)
    return { id, stream: shown.data.stream }
  }
  const account = { secret_key: 'sk_test_1', base_url: 'https://api.stripe.com' }
  const refund = { all: true, reason: 'Charged twice.' }
  return {
    approver,
    proposed: [
      await propose('PUT', '/payment_accounts/test', account),
      await propose('POST', `/policies/${policy}/premiums/${premium_id}/refund`, refund),
    ],
  }
}

const runUntilKilled = async (database: TestDatabase, ...moment: readonly [type: string, when: string]) => {
  const env = {
    ...process.env,
    ...here,
    BASE_URL: 'http://service.test',
    MASTER_KEY: Buffer.alloc(32, 5).toString('base64'),
    ENVIRONMENT: 'test',
  }
  const child = fork(program, [database.url, ...moment], { env })
  const [, signal] = (await once(child, 'exit')) as [number | null, string | null]
  expect([...moment, signal]).toEqual([...moment, 'SIGKILL'])
}

test('killed between the approval and the act, and between the act and its confirmation, it is done once', async () => {
  await using database = await testDatabase()
  const { approver, proposed } = await proposeBoth(database)
  const log = postgresLog({ url: database.url })
  for (const { id, stream } of proposed) {
    const approved = { type: 'ProposalApproved', stream, approved_by: approver } as const
    const metadata = {
      organisation_id,
      actor: { type: 'user', id: approver } as const,
      correlation_id: 'approved',
      causation_id: null,
      occurred_at: new Date().toISOString(),
    }
    await log.append(`proposal-${id}`, 0, [{ id: randomUUID(), ...toStored(proposalEvents, approved), metadata }])
  }

  for (const type of ['PaymentAccountSet', 'PremiumRefundOwed'])
    for (const when of ['before', 'after']) await runUntilKilled(database, type, when)

  await using _ = await wholeService(here, database)
  const typesOf = async (stream: string) => (await log.read(stream, {})).map(({ type }) => type)
  const ends = async () => Promise.all(proposed.map(async ({ id }) => typesOf(`proposal-${id}`)))
  const done = ['ProposalMade', 'ProposalApproved', 'ProposalDone']
  await vi.waitFor(async () => expect(await ends()).toEqual([done, done]), { timeout: 30_000, interval: 50 })
  const acts = await Promise.all(proposed.map(async ({ stream }) => typesOf(stream)))
  expect(acts.flat().filter((type) => type === 'PaymentAccountSet' || type === 'PremiumRefundOwed')).toHaveLength(2)
  await log.close()
}, 240_000)
