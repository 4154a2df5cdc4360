import { createHash, randomUUID } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { OrganisationId } from '#domain/values.ts'
import { noFourEyes } from '#domain/approvals/record.ts'
import { organisation_id } from '../applications/release.ts'
import { testDatabase } from '../database.ts'
import { file } from '../setup/builders.ts'
import { wholeService } from '../whole-service.ts'

/** The log of a version before, in which users act, and this version on it. */

const admin = `/admin/v1/organisations/${organisation_id}`
const ids = { Ada: randomUUID(), Bea: randomUUID() }
const keys = { Ada: 'the key of Ada', Bea: 'the key of Bea' }
const digestOf = (text: string) => createHash('sha256').update(text).digest('hex')

type Name = keyof typeof ids
const actor = (name: Name) => ({ type: 'user' as const, id: ids[name] })

const addedAs = (name: Name) => ({
  type: 'UserAdded',
  schema_version: 1,
  data: {
    organisation_id,
    name,
    email: `${name}@firm.test`,
    email_digest: `digest of ${name}`,
    roles: ['owner'],
    sees_personal_data: false,
    ends_at: null,
  },
})
const keyMade = (name: Name) => ({
  type: 'UserKeyMade',
  schema_version: 1,
  data: { key_id: randomUUID(), key_digest: digestOf(keys[name]), ends_at: null },
})
const proposed = (proposal_id: string, schema_version: number, more: object) => ({
  type: 'ProposalMade',
  schema_version,
  data: {
    proposal_id,
    organisation_id,
    act: 'four_eyes',
    title: 'Ask for a second user less often',
    stream: `four_eyes-${organisation_id}`,
    revision: 0,
    command: { type: 'SetFourEyes', organisation_id, rule: noFourEyes },
    changes: [{ path: 'erasure', before: true, after: false }],
    changes_count: 1,
    note: null,
    customer_id: null,
    proposed_by: actor('Ada'),
    expires_at: new Date(Date.now() + 86_400_000).toISOString(),
    ...more,
  },
})

test('users of a version before go on: their keys and sessions open the same, history names them, and what waits is decided', async () => {
  await using database = await testDatabase()
  const [unknown, known] = [randomUUID(), randomUUID()]
  let cookie: string
  {
    await using before = await wholeService({}, database)
    await before.setUp(file.replace('slug: acme\n', `slug: acme\n    id: ${organisation_id}\n`))
    const write = async (stream: string, by: Name, ...events: ReturnType<typeof addedAs | typeof keyMade>[]) => {
      const metadata = {
        organisation_id: OrganisationId.parse(organisation_id),
        actor: actor(by),
        correlation_id: 'before',
        causation_id: null,
        occurred_at: new Date().toISOString(),
      }
      const stored = events.map((event) => ({ id: randomUUID(), ...event, metadata }))
      const { outcome } = await before.parts.eventLog.append(stream, 'no_stream', stored)
      expect(outcome).toBe('appended')
    }
    await write(`user-${ids.Ada}`, 'Ada', addedAs('Ada'), keyMade('Ada'))
    await write(`user-${ids.Bea}`, 'Bea', addedAs('Bea'), keyMade('Bea'))
    await before.send('PATCH', `${admin}/four_eyes`, { body: { erasure: true } })
    await write(`proposal-${unknown}`, 'Ada', proposed(unknown, 1, {}) as never)
    await write(`proposal-${known}`, 'Ada', proposed(known, 2, { key_made_by: [] }) as never)
    const signIn = async () =>
      before.send('POST', '/admin/v1/session', { body: { key: keys.Ada }, headers: { origin: before.baseUrl } })
    await vi.waitUntil(async () => (await signIn()).status === 201, { timeout: 30_000, interval: 50 })
    cookie = (await signIn()).headers.get('set-cookie')?.split(';')[0] ?? ''
  }

  await using service = await wholeService({}, database)
  const session = await fetch(`${service.origin}/admin/v1/session`, { headers: { cookie } })
  expect(await session.json()).toMatchObject({ data: { user: { id: ids.Ada, name: 'Ada' } } })
  const listed = await service.send<{ name: string; keys: { made_by: unknown }[] }[]>('GET', `${admin}/users`, {
    token: keys.Bea,
  })
  expect(listed.body.data).toMatchObject([
    { name: 'Ada', keys: [{ made_by: [actor('Ada')] }] },
    { name: 'Bea', keys: [{ made_by: [actor('Bea')] }] },
  ])

  const approve = async (id: string) => service.send('POST', `${admin}/approvals/${id}/approve`, { token: keys.Bea })
  const refused = await approve(unknown)
  expect(refused).toMatchObject({ status: 409 })
  expect(refused.body.error?.message).toContain('Nobody knows who made the key')
  expect((await approve(known)).status).toBe(200)
  await vi.waitFor(
    async () => {
      const { body } = await service.send('GET', `${admin}/approvals/${known}`, { token: keys.Ada })
      expect(body.data).toMatchObject({ status: 'done', decided_by: actor('Bea') })
    },
    { timeout: 30_000, interval: 50 },
  )
}, 120_000)
