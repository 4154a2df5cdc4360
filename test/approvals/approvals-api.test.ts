import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { FourEyesRule } from '#domain/approvals/events.ts'
import type { Proposal } from '#domain/approvals/record.ts'
import { organisation_id } from '../applications/release.ts'
import { commandsOf, runCommands } from '../guides/guide.ts'
import { premium_id } from '../premiums/premium-builders.ts'
import { file } from '../setup/builders.ts'
import { memberOf, withOwnKey, type Member } from '../users/team.ts'
import { wholeService } from '../whole-service.ts'
import { policyWithPremium } from './policy-with-premium.ts'

/** What an organisation asks for a second user for, over HTTP, in every way in. */

const admin = `/admin/v1/organisations/${organisation_id}`
const rule: FourEyesRule = {
  release: true,
  rate_table: true,
  payment_account: true,
  sign_in_provider: true,
  refund_above_pence: 1_000,
  erasure: true,
}
const firm = file.replace('slug: acme\n', `slug: acme\n    id: ${organisation_id}\n`)
const patience = { timeout: 30_000, interval: 20 }

vi.setConfig({ testTimeout: 60_000 })

type Service = Awaited<ReturnType<typeof wholeService>>
type Waiting = { readonly status: 'waiting'; readonly proposal_id: string; readonly address: string }

let service: Service
let ada: Member
let bea: Member
let cash: Member
let coin: Member
let stranger: Member
beforeAll(async () => {
  service = await wholeService()
  await service.setUp(firm)
  const owner = await memberOf(service, organisation_id, ['owner'], { name: 'Ada' })
  ada = await withOwnKey(service, organisation_id, owner)
  bea = await memberOf(service, organisation_id, ['owner'], { name: 'Bea' })
  cash = await memberOf(service, organisation_id, ['finance'], { name: 'Cash' })
  const finance = await memberOf(service, organisation_id, ['finance'], { name: 'Coin' })
  coin = await withOwnKey(service, organisation_id, finance)
  stranger = await memberOf(service, await service.organisation('strangers'), ['owner'])
  const set = await service.send('PATCH', `${admin}/four_eyes`, { token: ada.key, body: rule })
  if (set.status !== 200) throw new Error(JSON.stringify(set.body))
}, 120_000)
afterAll(() => service[Symbol.asyncDispose]())

const by = async <Data = Proposal>(who: Member | undefined, method: string, address: string, body?: unknown) =>
  service.send<Data>(method, address, { ...(who && { token: who.key }), ...(body !== undefined && { body }) })
const proposed = async (who: Member | undefined, method: string, address: string, body?: unknown) => {
  const answer = await by<Waiting>(who, method, address, body)
  expect(answer).toMatchObject({ status: 202, body: { data: { status: 'waiting' } } })
  return answer.body.data
}
const approve = async (who: Member | undefined, { address }: Waiting) => by(who, 'POST', `${address}/approve`, {})
const becomes = async ({ address }: Waiting, status: Proposal['status']) =>
  vi.waitFor(async () => {
    const { body } = await by(ada, 'GET', address)
    expect(body.data.status).toBe(status)
    return body.data
  }, patience)
const eventsOf = async (stream: string) => service.parts.eventLog.read(stream, {})
const ofType = async (stream: string, type: string) => (await eventsOf(stream)).filter((each) => each.type === type)

const account = (key = 'sk_test_1') => ({ secret_key: key, base_url: 'https://api.stripe.com' })
const setAccount = async (who: Member | undefined, key?: string) =>
  proposed(who, 'PUT', `${admin}/payment_accounts/test`, account(key))
const accounts = async () => (await by<readonly object[]>(ada, 'GET', `${admin}/payment_accounts`)).body.data

describe('a payment account', () => {
  test('waits as proposed, and is set when another user approves it, with both in the log', async () => {
    const waiting = await setAccount(ada)
    expect(await accounts()).toEqual([])

    expect((await approve(bea, waiting)).body.data).toMatchObject({ status: 'approved' })

    const done = await becomes(waiting, 'done')
    expect(done).toMatchObject({
      act: 'payment_account',
      proposed_by: { type: 'user', id: ada.id },
      proposed_by_name: 'Ada',
      decided_by: { type: 'user', id: bea.id },
      decided_by_name: 'Bea',
    })
    expect(done.changes).toContainEqual({ path: 'base_url', before: null, after: 'https://api.stripe.com' })
    expect(JSON.stringify(done)).not.toContain('sk_test_1')
    await vi.waitFor(async () => expect(await accounts()).toHaveLength(1), patience)
    const [set] = await ofType(done.stream, 'PaymentAccountSet')
    expect(set?.metadata.actor).toEqual({ type: 'user', id: bea.id })
  })

  test('the same proposed again is the same proposal, with another secret it is another', async () => {
    const waiting = await setAccount(ada, 'sk_test_2')

    expect(await setAccount(bea, 'sk_test_2')).toEqual(waiting)
    expect((await setAccount(ada, 'sk_test_3')).proposal_id).not.toBe(waiting.proposal_id)
  })

  test('approved by many at once it is set once', async () => {
    const waiting = await setAccount(ada, 'sk_test_4')

    const answers = await Promise.all([1, 2, 3, 4].map(async () => approve(bea, waiting)))

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const { stream } = await becomes(waiting, 'done')
    expect(await ofType(stream, 'PaymentAccountSet')).toHaveLength(2)
    expect((await approve(bea, waiting)).status).toBe(200)
    expect((await approve(ada, waiting)).status).toBe(403)
  })

  test('409: what has changed since voids the proposal, which is named', async () => {
    const waiting = await setAccount(ada, 'sk_test_5')
    const other = await setAccount(ada, 'sk_test_6')
    await approve(bea, other)
    await becomes(other, 'done')

    const answer = await approve(bea, waiting)

    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } })
    expect(answer.body.error?.message).toContain('payment_account-')
    expect(await becomes(waiting, 'voided')).toMatchObject({ decided_by: null })
    expect((await approve(bea, waiting)).status).toBe(409)
  })

  test('403: nobody approves their own, with whatever key', async () => {
    const waiting = await setAccount(ada, 'sk_test_7')
    const { body } = await service.send<{ key: string }>('POST', `${admin}/users/${ada.id}/keys`, { body: {} })

    for (const key of [ada.key, body.data.key])
      expect(await approve({ ...ada, key }, waiting)).toMatchObject({
        status: 403,
        body: { error: { code: 'forbidden', message: 'You have proposed this. Another user must approve it.' } },
      })
    expect(await becomes(waiting, 'waiting')).toMatchObject({ decided_by: null })
  })

  test('403: a key of a program proposes, and does not approve', async () => {
    const waiting = await setAccount(undefined, 'sk_test_8')
    expect((await approve(undefined, await setAccount(ada, 'sk_test_9'))).status).toBe(403)
    expect((await approve(undefined, waiting)).status).toBe(403)

    expect((await approve(ada, waiting)).status).toBe(200)
    expect(await becomes(waiting, 'done')).toMatchObject({ proposed_by: { type: 'operator', id: 'OPERATOR_KEY' } })
  })

  test('403: nobody approves with a key that its proposer has made, until they have replaced it themselves', async () => {
    const team = `${admin}/users`
    type Made = { readonly id: string; readonly key: string; readonly keys: readonly { readonly id: string }[] }
    const added = await by<Made>(ada, 'POST', team, { name: 'Dot', email: 'dot@firm.test', roles: ['owner'] })
    const dot = `${team}/${added.body.data.id}`
    const first = (await by<Made>(ada, 'POST', `${dot}/keys`, {})).body.data
    const asDot = (key: string): Member => ({ id: first.id, key, email: 'dot@firm.test' })
    const second = (await by<Made>(asDot(first.key), 'POST', `${dot}/keys`, {})).body.data
    const waiting = await setAccount(ada, 'sk_test_13')

    for (const key of [first.key, second.key])
      expect(await approve(asDot(key), waiting)).toMatchObject({
        status: 403,
        body: { error: { message: expect.stringContaining('/rotate') as unknown } },
      })
    const own = await by<Made>(asDot(first.key), 'POST', `${dot}/keys/${first.keys[0]?.id ?? ''}/rotate`, {})
    expect(own.body.data.keys).toMatchObject([{ made_by: [{ type: 'user', id: first.id }] }])
    expect((await approve(asDot(second.key), waiting)).status).toBe(401)
    expect((await approve(asDot(own.body.data.key), waiting)).status).toBe(200)
    await becomes(waiting, 'done')
  })

  test('403: nobody approves in the name of a colleague whose own key they have ended, or whom they have added again', async () => {
    const team = `${admin}/users`
    type Made = { readonly id: string; readonly key: string; readonly keys: readonly { readonly id: string }[] }
    const email = 'eli@firm.test'
    const added = async () => (await by<Made>(ada, 'POST', team, { name: 'Eli', email, roles: ['owner'] })).body.data.id
    /** A key that somebody makes, replaced in the name of its user. */
    const taken = async (maker: Member | undefined, id: string): Promise<Member> => {
      const { key, keys } = (await by<Made>(maker, 'POST', `${team}/${id}/keys`, {})).body.data
      const rotation = `${team}/${id}/keys/${keys.at(-1)?.id ?? ''}/rotate`
      const made = await by<Made>({ id, key, email }, 'POST', rotation, {})
      return { id, key: made.body.data.key, email }
    }
    const id = await added()
    await taken(ada, id)
    const shown = await by<Made>(ada, 'GET', `${team}/${id}`)
    await by(ada, 'DELETE', `${team}/${id}/keys/${shown.body.data.keys[0]?.id ?? ''}`)
    const waiting = await setAccount(ada, 'sk_test_16')

    expect((await approve(await taken(ada, id), waiting)).status).toBe(403)
    await by(ada, 'DELETE', `${team}/${id}`)
    const again = await added()
    expect((await approve(await taken(ada, again), waiting)).status).toBe(403)
    expect((await approve(await taken(undefined, again), waiting)).status).toBe(200)
    await becomes(waiting, 'done')
  })

  test('403: two whose keys a program has made are not two, until one of them has made theirs their own', async () => {
    const waiting = await setAccount(bea, 'sk_test_17')
    const third = await memberOf(service, organisation_id, ['owner'], { name: 'Cem' })

    expect((await approve(third, waiting)).status).toBe(403)
    expect((await approve(await withOwnKey(service, organisation_id, third), waiting)).status).toBe(200)
    await becomes(waiting, 'done')
  })

  test('403: a program’s proposal is not approved with a key that a program has made', async () => {
    const waiting = await setAccount(undefined, 'sk_test_14')

    expect((await approve(bea, waiting)).status).toBe(403)
    expect((await approve(ada, waiting)).status).toBe(200)
    await becomes(waiting, 'done')
  })

  test('is rejected by another, and withdrawn by who has proposed it', async () => {
    const one = await setAccount(ada, 'sk_test_10')
    const other = await setAccount(ada, 'sk_test_11')

    expect((await by(ada, 'POST', `${one.address}/reject`, {})).status).toBe(403)
    expect((await by(bea, 'POST', `${one.address}/withdraw`, {})).status).toBe(403)
    expect((await by(bea, 'POST', `${one.address}/reject`, { reason: 'Not ours.' })).status).toBe(200)
    expect(await becomes(one, 'rejected')).toMatchObject({ rejection_reason: 'Not ours.' })
    expect((await by(ada, 'POST', `${other.address}/withdraw`, {})).body.data).toMatchObject({ status: 'withdrawn' })
    expect((await approve(bea, one)).status).toBe(409)
    const again = await setAccount(ada, 'sk_test_10')
    expect(again.proposal_id).not.toBe(one.proposal_id)
  })

  test('removed, it waits too', async () => {
    const waiting = await proposed(ada, 'DELETE', `${admin}/payment_accounts/test`)

    await approve(bea, waiting)
    await becomes(waiting, 'done')

    await vi.waitFor(async () => expect(await accounts()).toEqual([]), patience)
  })

  test('404: another firm’s proposal is as if it were not there', async () => {
    const { proposal_id, address } = await setAccount(ada, 'sk_test_12')

    expect((await by(stranger, 'GET', address)).status).toBe(404)
    expect((await by(stranger, 'POST', `${address}/approve`, {})).status).toBe(404)
    const own = address.replace(organisation_id, (await strangersOrganisation()) ?? '')
    expect((await by(stranger, 'POST', `${own}/approve`, {})).status).toBe(404)
    const listed = await by<readonly Proposal[]>(bea, 'GET', `${admin}/approvals?status=waiting`)
    expect(listed.body.data.map(({ id }) => id)).toContain(proposal_id)
  })
})

describe('a sign-in provider', () => {
  const provider = (roles: readonly string[] = ['leads']) => ({
    issuer: 'https://login.example.com/tenant',
    client_id: 'coverstream',
    client_secret: 'a secret of the client',
    roles_of: [{ value: 'agents', roles }],
  })
  const address = (name = 'entra') => `${admin}/sign_in_providers/${name}`
  const held = async () => (await by<readonly object[]>(ada, 'GET', `${admin}/sign_in_providers`)).body.data

  test('waits as proposed, with the roles that it would give, and is set when another user approves it', async () => {
    const waiting = await proposed(ada, 'PUT', address(), provider())
    expect(await held()).toEqual([])
    expect(await proposed(bea, 'PUT', address(), provider())).toEqual(waiting)
    expect((await approve(ada, waiting)).status).toBe(403)

    expect((await approve(bea, waiting)).status).toBe(200)

    const done = await becomes(waiting, 'done')
    expect(done).toMatchObject({ act: 'sign_in_provider', title: 'Set the sign-in provider entra' })
    expect(done.changes).toContainEqual({
      path: 'roles_of',
      before: null,
      after: [{ value: 'agents', roles: ['leads'] }],
    })
    expect(JSON.stringify(done)).not.toContain('a secret of the client')
    await vi.waitFor(async () => expect(await held()).toMatchObject([{ name: 'entra' }]), patience)
  })

  test('of the operator’s key and of a set-up file waits as well: more roles for a value of the claim', async () => {
    const waiting = await proposed(undefined, 'PUT', address(), provider(['leads', 'owner']))
    expect((await by(ada, 'GET', waiting.address)).body.data.changes).toEqual([
      { path: 'roles_of[0].roles[1]', before: null, after: 'owner' },
    ])

    const declared = JSON.stringify({ name: 'entra', ...provider(['leads', 'owner']) })
    const file = firm.replace('name: Acme Life\n', `name: Acme Life\n    sign_in_providers: [${declared}]\n`)
    const step = (await setup(file)).find(({ what }) => what === 'sign-in provider entra')
    expect(step).toMatchObject({ waits: true, proposal_id: waiting.proposal_id })
    expect((await proposed(ada, 'PUT', address(), { ...provider(), client_secret: 'another' })).proposal_id).not.toBe(
      waiting.proposal_id,
    )
    expect(await held()).toMatchObject([{ roles_of: [{ value: 'agents', roles: ['leads'] }] }])
  })

  test('409: is not set beside as many as there may be, however few there were when it was proposed', async () => {
    const names = ['two', 'three', 'four', 'five', 'six']
    const waiting: Waiting[] = []
    for (const name of names) waiting.push(await proposed(ada, 'PUT', address(name), provider()))
    const [last, ...others] = waiting.toReversed()
    if (!last) throw new Error('Nothing was proposed.')
    for (const each of others) {
      await approve(bea, each)
      await becomes(each, 'done')
    }
    await vi.waitFor(async () => expect(await held()).toHaveLength(5), patience)

    expect((await approve(bea, last)).status).toBe(409)
    await becomes(last, 'voided')
  })

  test('is removed at once: nobody signs in by it any more', async () => {
    expect(await by(ada, 'DELETE', address())).toMatchObject({ status: 200, body: { data: { removed: true } } })
  })
})

const strangersOrganisation = async () => {
  const { body } = await service.send<readonly { id: string; slug: string }[]>('GET', '/admin/v1/organisations')
  return body.data.find(({ slug }) => slug === 'strangers')?.id
}

describe('a refund', () => {
  const refund = (policy: string) => `${admin}/policies/${policy}/premiums/${premium_id}/refund`
  const reason = 'Charged twice, says Ada Finch.'

  test('up to the amount is made at once; what goes beyond it, together, waits for another of finance', async () => {
    const policy = await policyWithPremium(service.parts.eventLog)
    expect((await by(cash, 'POST', refund(policy), { refund_pence: 1_000, reason })).status).toBe(200)

    const waiting = await proposed(cash, 'POST', refund(policy), { refund_pence: 1, reason })

    expect((await approve(bea, waiting)).status).toBe(403)
    expect((await by(coin, 'GET', waiting.address)).body.data).toMatchObject({
      reason,
      changes: [{ before: 1_000, after: 1_001 }],
    })
    expect(JSON.stringify((await by(coin, 'GET', `${admin}/approvals`)).body)).not.toContain('Ada Finch')
    // What becomes due by itself changes the policy, too, which voids what was proposed before.
    const approved = await vi.waitFor(async () => {
      const again = await proposed(cash, 'POST', refund(policy), { refund_pence: 1, reason })
      expect((await approve(coin, again)).status).toBe(200)
      return again
    }, patience)

    await becomes(approved, 'done')
    const owed = await ofType(`policy-${policy}`, 'PremiumRefundOwed')
    expect(owed.map(({ data }) => data['refund_pence'])).toEqual([1_000, 1])
    expect(owed.at(-1)).toMatchObject({ data: { note: reason }, metadata: { actor: { type: 'user', id: coin.id } } })
  })

  test('the same with one Idempotency-Key is the same proposal', async () => {
    const policy = await policyWithPremium(service.parts.eventLog)
    const ask = async () =>
      service.send<Waiting>('POST', refund(policy), {
        token: cash.key,
        headers: { 'Idempotency-Key': policy },
        body: { all: true, reason },
      })

    const [one, other] = [await ask(), await ask()]

    expect(other.body.data).toEqual(one.body.data)
    expect(one.status).toBe(202)
  })
})

type Step = { readonly what: string; readonly waits: boolean; readonly proposal_id?: string; readonly change: string }
const setup = async (text: string, { apply = true, key = ada.key }: { apply?: boolean; key?: string | null } = {}) => {
  const { status, body } = await service.send<{ readonly steps: readonly Step[] }>(
    'POST',
    `/admin/v1/setup?apply=${apply}`,
    { body: text, ...(key !== null && { token: key }) },
  )
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.data.steps.filter(({ change }) => change !== 'none')
}
const waitingOf = ({ proposal_id = '' }: Step): Waiting => ({
  status: 'waiting',
  proposal_id,
  address: `${admin}/approvals/${proposal_id}`,
})
const released = async () =>
  (await by<readonly { release: { number: number } | null }[]>(ada, 'GET', `${admin}/products`)).body.data[0]?.release

describe('a set-up file', () => {
  const dearer = firm
    .replace('version: 1', 'version: 2')
    .replace('30,10,n,23360\n          30,10,s,56052', '30,10,n,33360')
    .replace('life.level: 1', 'life.level: 2')

  test('shows in the plan what waits, and leaves it as proposals; a product waits for its rate table', async () => {
    const planned = await setup(dearer, { apply: false })
    expect(planned.map(({ what, waits }) => [what, waits])).toEqual([
      ['rate table life.level version 2', true],
      ['product term', true],
    ])

    const [table, product] = await setup(dearer)

    expect(product).toMatchObject({ waits: true })
    expect(product?.proposal_id).toBeUndefined()
    if (!table) throw new Error('No rate table was planned.')
    const shown = (await by(bea, 'GET', waitingOf(table).address)).body.data
    expect(shown.changes).toEqual([
      { path: 'version', before: 1, after: 2 },
      { path: 'cells.30|10|s', before: 56_052, after: null },
      { path: 'cells.30|10|n', before: 23_360, after: 33_360 },
    ])
    expect((await setup(dearer))[0]?.proposal_id).toBe(table.proposal_id)
    await approve(bea, waitingOf(table))
    await becomes(waitingOf(table), 'done')

    const [release] = await setup(dearer)
    if (!release) throw new Error('No release was planned.')
    expect(await released()).toMatchObject({ number: 1 })
    const proposedRelease = (await by(bea, 'GET', waitingOf(release).address)).body.data
    expect(proposedRelease.changes.slice(0, 3)).toEqual([
      { path: 'price of age 30, term 10, smoker true', before: '£5.61', after: 'no rate' },
      { path: 'price of age 30, term 10, smoker false', before: '£2.34', after: '£3.34' },
      { path: 'rate_tables.life.level', before: 1, after: 2 },
    ])
    await approve(bea, waitingOf(release))
    await becomes(waitingOf(release), 'done')
    expect(await released()).toMatchObject({ number: 2 })
    expect(await setup(dearer)).toEqual([])
  })

  test('with more changes than are shown at once, each of them can be seen, page by page', async () => {
    const rates = Array.from({ length: 600 }, (_, at) => `${(at % 100) + 1},${Math.floor(at / 100) + 1},n,9000`)
    const larger = dearer
      .replace('version: 2', 'version: 3')
      .replace('30,10,n,33360', ['30,10,n,33360', ...rates].join('\n          '))
    const [step] = await setup(larger)
    if (!step) throw new Error('No rate table was planned.')
    const { address } = waitingOf(step)
    const page = async (query: string, who = bea) =>
      by<readonly { readonly path: string }[]>(who, 'GET', `${address}/changes?limit=200${query}`)

    const seen: string[] = []
    for (let cursor: string | null | undefined = ''; cursor !== null && cursor !== undefined;) {
      const { body } = await page(cursor && `&cursor=${cursor}`)
      seen.push(...body.data.map(({ path }) => path))
      cursor = body.next_cursor
    }

    const shown = (await by(bea, 'GET', address)).body.data
    expect(shown.changes).toHaveLength(500)
    expect(seen.slice(0, 500)).toEqual(shown.changes.map(({ path }) => path))
    expect([seen.length, new Set(seen).size]).toEqual([shown.changes_count, shown.changes_count])
    expect(seen).toContain('cells.100|6|n')
    expect((await page('', stranger)).status).toBe(404)
    expect((await page('&cursor=nonsense')).status).toBe(422)
    await by(ada, 'POST', `${address}/withdraw`, {})
  })

  test('of the operator’s key waits as well, and a release by its route', async () => {
    const renamed = dearer.replace('name: Term', 'name: Term life')
    const [step] = await setup(renamed, { key: null })
    expect(step).toMatchObject({ waits: true })
    if (!step) throw new Error('Nothing was planned.')

    const { proposal_id } = await proposed(bea, 'POST', `${admin}/products/term/releases`, {})

    expect(proposal_id).toBe(step.proposal_id)
    await approve(ada, waitingOf(step))
    expect((await becomes(waitingOf(step), 'done')).proposed_by).toEqual({ type: 'operator', id: 'OPERATOR_KEY' })
    expect(await released()).toMatchObject({ number: 3 })
  })
})

test('a proposal that nobody decides expires by itself', async () => {
  const waiting = await setAccount(ada, 'sk_test_15')

  await service.send('POST', '/admin/v1/clock', { body: { forward_seconds: 14 * 86_400 } })

  expect(await becomes(waiting, 'expired')).toMatchObject({ decided_by: null })
  expect((await approve(bea, waiting)).status).toBe(409)
  expect(await setAccount(ada, 'sk_test_15')).not.toEqual(waiting)
})

describe('an erasure', () => {
  test('waits, finds at its approval who is there by then, and is done', async () => {
    const { token } = await service.client(organisation_id, ['read', 'write', 'crm'])
    const sent = await service.send<{ id: string }>('POST', '/api/v1/crm/ingests', {
      token,
      body: { source: 'website', source_reference: 'r-1', identity: { email: 'eve@example.com', first_name: 'Eve' } },
    })
    const contact_id = await vi.waitFor(async () => {
      const address = `/api/v1/crm/ingests/${sent.body.data.id}`
      const { body } = await service.send<{ contact_id: string | null }>('GET', address, { token })
      if (!body.data.contact_id) throw new Error('Nobody is known yet.')
      return body.data.contact_id
    }, patience)
    const waiting = await proposed(ada, 'POST', `${admin}/people/${contact_id}/erasure`, {})
    expect(await eventsOf(`erasure-${contact_id}`)).toEqual([])
    // Sealed for the person, as are the reasons for a rejection.
    expect((await eventsOf(`proposal-${waiting.proposal_id}`))[0]?.data).toMatchObject({ customer_id: contact_id })

    await approve(bea, waiting)

    await becomes(waiting, 'done')
    await vi.waitFor(
      async () => expect(await ofType(`erasure-${contact_id}`, 'PersonErased')).toHaveLength(1),
      patience,
    )
  })
})

test('however often an act was proposed and withdrawn, it is proposed again, and waits once', async () => {
  const policy = await policyWithPremium(service.parts.eventLog)
  const address = `${admin}/policies/${policy}/premiums/${premium_id}/refund`
  const ask = async () => proposed(cash, 'POST', address, { all: true, reason: 'Charged twice.' })
  const ids = new Set<string>()
  for (let time = 0; time < 55; time++) {
    const waiting = await ask()
    ids.add(waiting.proposal_id)
    await by(cash, 'POST', `${waiting.address}/withdraw`, {})
  }

  const last = await ask()

  expect(ids.size).toBe(55)
  expect(ids).not.toContain(last.proposal_id)
  expect(await ask()).toEqual(last)
})

describe('the rule itself', () => {
  const patch = async (who: Member, body: Partial<FourEyesRule>) =>
    by<FourEyesRule>(who, 'PATCH', `${admin}/four_eyes`, body)

  test('is tightened at once; to ask less often waits for a second user, also in a set-up file', async () => {
    expect((await patch(ada, { refund_above_pence: 500 })).status).toBe(200)

    const loosened = firm.replace('name: Acme Life\n', 'name: Acme Life\n    four_eyes: [{ erasure: false }]\n')
    const step = (await setup(loosened)).find(({ what }) => what === 'four eyes')
    expect(step).toMatchObject({ waits: true })
    for (const less of [{ release: false }, { refund_above_pence: 501 }, { refund_above_pence: null }])
      expect((await patch(ada, less)).status).toBe(202)

    const now = await by<FourEyesRule>(bea, 'GET', `${admin}/four_eyes`)
    expect(now.body.data).toEqual({ ...rule, refund_above_pence: 500 })
    if (!step) throw new Error('Nothing was planned.')
    await approve(bea, waitingOf(step))
    await becomes(waitingOf(step), 'done')
    expect((await by(bea, 'GET', `${admin}/four_eyes`)).body.data).toMatchObject({ erasure: false })
  })

  test('is set, proposed to be looser and approved as the guide says', async () => {
    const others = await strangersOrganisation()
    if (others === undefined) throw new Error('There is no other organisation.')
    const second = await withOwnKey(service, others, await memberOf(service, others, ['owner'], { name: 'Second' }))
    const environment = {
      BASE_URL: service.origin,
      ORGANISATION: others,
      ADA_KEY: stranger.key,
      BEA_KEY: second.key,
    }

    const blocks = await commandsOf('docs/four-eyes.md', 'With curl')
    const output = await runCommands(blocks.join('\n'), { cwd: process.cwd(), environment })

    expect(output).toContain('"refund_above_pence":50000')
    expect(output).toContain('{"path":"refund_above_pence","before":50000,"after":100000}')
    expect(output).toContain('"status":"approved"')
    await vi.waitFor(async () => {
      const { body } = await by<FourEyesRule>(second, 'GET', `/admin/v1/organisations/${others}/four_eyes`)
      expect(body.data.refund_above_pence).toBe(100_000)
    }, patience)
  })

  test('binds the organisation that has set it, and no other', async () => {
    const others = `/admin/v1/organisations/${await strangersOrganisation()}`

    expect((await by(stranger, 'PUT', `${others}/payment_accounts/test`, account())).status).toBe(200)
  })
})
