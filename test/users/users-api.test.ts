import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { commandsOf, runCommands } from '../guides/guide.ts'
import { wholeService } from '../whole-service.ts'
import { memberOf, usersAddress, withOwnKey } from './team.ts'

let service: Awaited<ReturnType<typeof wholeService>>
let firm: string
let other: string
beforeAll(async () => {
  service = await wholeService()
  firm = await service.organisation('firm')
  other = await service.organisation('other')
}, 60_000)
afterAll(() => service[Symbol.asyncDispose]())

const asked = async (key: string, organisation_id = firm) =>
  (await service.send('GET', `/admin/v1/organisations/${organisation_id}`, { token: key })).status

const ada = { name: 'Ada Lovelace', email: 'Ada@Example.org', roles: ['owner'] }

type Shown = { readonly id: string; readonly name: string; readonly email: string | null; readonly keys: unknown[] }

test('the operator adds the first owner, and owners add the others', async () => {
  const team = await service.organisation('of-ada')
  const owner = await memberOf(service, team, ['owner'], { name: 'Grace' })

  const added = await service.send<Shown>('POST', usersAddress(team), { body: ada, token: owner.key })

  expect(added.status).toBe(201)
  expect(added.body.data).toMatchObject({ ...ada, organisation_id: team, in_force: true, erased: false, keys: [] })
  const listed = await service.send<Shown[]>('GET', usersAddress(team), { token: owner.key })
  expect(listed.body).toMatchObject({
    data: [{ name: 'Grace' }, { name: 'Ada Lovelace' }],
    next_cursor: null,
    limits: { users: 1000, keys_of_a_user: 5 },
  })
  const stored = await service.parts.eventLog.read(`user-${added.body.data.id}`, {})
  expect(stored[0]?.metadata.actor).toEqual({ type: 'user', id: owner.id })
})

test('the guide’s commands add the first owner, make the keys of two users their own, and set a provider', async () => {
  const team = await service.organisation('of-the-guide')
  const run = async (heading: string, more: Readonly<Record<string, string>> = {}) => {
    const blocks = [...(await commandsOf('docs/users.md', 'Users')), ...(await commandsOf('docs/users.md', heading))]
    const set = { BASE_URL: service.origin, OPERATOR_KEY: 'the operator key of the tests', ORGANISATION: team }
    return runCommands(blocks.join('\n'), { cwd: process.cwd(), environment: { ...set, ...more } })
  }

  const owner = JSON.parse(await run('The first owner, and the others')) as { readonly data: Shown }
  const bea = await memberOf(service, team, ['owner'], { name: 'Bea' })
  const made = await service.send<{ key: string }>('POST', `${usersAddress(team)}/${owner.data.id}/keys`, { body: {} })
  const keyIdOf = async (id: string) =>
    (await service.send<{ keys: { id: string }[] }>('GET', `${usersAddress(team)}/${id}`)).body.data.keys[0]?.id ?? ''
  const rotated = await run('Keys', {
    ADA: owner.data.id,
    KEY_ID_OF_ADA: await keyIdOf(owner.data.id),
    KEY_OF_ADA: made.body.data.key,
    BEA: bea.id,
    KEY_ID_OF_BEA: await keyIdOf(bea.id),
    KEY_OF_BEA: bea.key,
  })

  for (const id of [owner.data.id, bea.id]) expect(rotated).toContain(`"made_by":[{"type":"user","id":"${id}"}]`)
  expect(await run('Signing in by a provider')).toContain('"issuer":"https://login.example.com/tenant"')
})

test('a list of users is shown by pages', async () => {
  const team = await service.organisation('paged')
  for (const name of ['one', 'two', 'three']) await memberOf(service, team, ['leads'], { name })
  const page = async (query: string) => service.send<Shown[]>('GET', `${usersAddress(team)}?limit=2${query}`)

  const first = await page('')
  const second = await page(`&cursor=${first.body.next_cursor}`)

  expect(first.body.data.map(({ name }) => name)).toEqual(['one', 'two'])
  expect([second.body.data.map(({ name }) => name), second.body.next_cursor]).toEqual([['three'], null])
})

test('name and email are stored under the user’s own key, and their digest of the address alone finds them', async () => {
  const { id } = await memberOf(service, firm, ['leads'], { name: 'Sealed Sally' })

  const stored = await service.parts.storedLog.read(`user-${id}`, {})

  expect(JSON.stringify(stored)).not.toContain('Sealed Sally')
  expect(Object.keys(stored[0]?.data ?? {})).toEqual(expect.arrayContaining(['roles', '$personal']))
})

test('409: an email is that of one user of an organisation, also for five requests at once; elsewhere it is free', async () => {
  const body = { ...ada, email: 'five@example.org' }
  const answers = await Promise.all(
    Array.from({ length: 5 }, async () => service.send('POST', usersAddress(firm), { body })),
  )

  expect(answers.map(({ status }) => status).filter((status) => status !== 409)).toEqual([201])
  const upper = { ...body, email: 'FIVE@example.org' }
  expect((await service.send('POST', usersAddress(firm), { body: upper })).status).toBe(409)
  expect((await service.send('POST', usersAddress(other), { body })).status).toBe(201)
})

test('409: nobody takes the email of another', async () => {
  const one = await memberOf(service, firm, ['leads'], { name: 'takes' })
  const two = await memberOf(service, firm, ['leads'], { name: 'taken' })

  const answer = await service.send('PATCH', `${usersAddress(firm)}/${one.id}`, { body: { email: two.email } })

  expect(answer).toMatchObject({ status: 409, body: { error: { fields: { email: 'is that of another user' } } } })
})

test('whoever comes back after they had a key of their own is known to have had one, also after they were erased', async () => {
  const hadOwn = async (email: string) => {
    const { body } = await service.send<Shown>('POST', usersAddress(firm), { body: { ...ada, email } })
    return (await service.parts.eventLog.read(`user-${body.data.id}`, {}))[0]?.data
  }
  const goes = async (name: string) => {
    const member = await memberOf(service, firm, ['leads'], { name })
    await withOwnKey(service, firm, member)
    return `${usersAddress(firm)}/${member.id}`
  }
  const renamed = await goes('goes under another email')
  await service.send('PATCH', renamed, { body: { email: 'renamed@example.org' } })
  await service.send('DELETE', renamed)
  const gone = await goes('goes and is erased')
  const { body } = await service.send<Shown>('GET', gone)
  await service.send('DELETE', gone)
  await service.send('POST', `${gone}/erasure`)

  expect(await hadOwn('renamed@example.org')).toMatchObject({ had_own: true })
  expect(await hadOwn(body.data.email ?? '')).toMatchObject({ had_own: true })
  expect(await hadOwn('never-here@example.org')).toMatchObject({ had_own: false })
})

test('200: their own email is no other’s, however it is written, and one that was given up is free', async () => {
  const one = await memberOf(service, firm, ['leads'], { name: 'rewrites' })
  const email = one.email.toUpperCase()
  const patch = (body: object) => service.send<Shown>('PATCH', `${usersAddress(firm)}/${one.id}`, { body })

  expect(await patch({ email })).toMatchObject({ status: 200, body: { data: { email } } })
  expect((await patch({ email: 'given-up@example.org' })).status).toBe(200)
  const another = await service.send<Shown>('POST', usersAddress(firm), { body: { ...ada, email } })
  expect(another.status).toBe(201)
  expect(another.body.data.id).not.toBe(one.id)
})

test.each([
  ['roles', { ...ada, roles: [] }],
  ['roles[0]', { ...ada, roles: ['operator'] }],
  ['roles', { ...ada, roles: ['leads', 'leads'] }],
  ['email', { ...ada, email: 'nowhere' }],
  ['name', { ...ada, name: ' ' }],
  ['ends_at', { ...ada, ends_at: '2020-01-01T00:00:00Z' }],
])('422: %s is named when it cannot be used', async (field, body) => {
  const answer = await service.send('POST', usersAddress(firm), { body })

  expect(answer.status).toBe(422)
  expect(Object.keys(answer.body.error?.fields ?? {})).toEqual([field])
})

test('401 at once when a user has ended, a key has ended or is over; whoever ended can be added again', async () => {
  const gone = await memberOf(service, firm, ['leads'], { name: 'gone' })
  expect(await asked(gone.key)).toBe(200)

  const ended = await service.send('DELETE', `${usersAddress(firm)}/${gone.id}`)

  expect(ended).toMatchObject({ status: 200, body: { data: { in_force: false, keys: [] } } })
  expect(await asked(gone.key)).toBe(401)
  const back = await memberOf(service, firm, ['leads'], { name: 'gone' })
  expect(back.id).not.toBe(gone.id)
  expect([await asked(back.key), await asked(gone.key)]).toEqual([200, 401])
})

test('401 when the end of a user or of a key has come', async () => {
  const soon = () => new Date(Date.now() + 800).toISOString()
  const user = await memberOf(service, firm, ['leads'], { name: 'until soon', ends_at: soon() })
  const stays = await memberOf(service, firm, ['leads'], { name: 'stays' })
  const made = await service.send<{ key: string }>('POST', `${usersAddress(firm)}/${stays.id}/keys`, {
    body: { ends_at: soon() },
  })

  await vi.waitUntil(async () => (await asked(user.key)) === 401, { timeout: 60_000 })
  await vi.waitUntil(async () => (await asked(made.body.data.key)) === 401, { timeout: 60_000 })
  expect(await asked(stays.key)).toBe(200)
})

test('a key is replaced at once, or goes on for the overlap', async () => {
  const user = await memberOf(service, firm, ['leads'], { name: 'rotates' })
  const one = `${usersAddress(firm)}/${user.id}`
  const shown = await service.send<{ keys: { id: string }[] }>('GET', one)
  const rotate = async (id: string | undefined, overlap_seconds: number) =>
    service.send<{ key: string; keys: { id: string }[] }>('POST', `${one}/keys/${id}/rotate`, {
      body: { overlap_seconds },
    })

  const second = await rotate(shown.body.data.keys[0]?.id, 3600)
  expect([await asked(user.key), await asked(second.body.data.key)]).toEqual([200, 200])
  const third = await rotate(second.body.data.keys[1]?.id, 0)
  expect([await asked(user.key), await asked(second.body.data.key), await asked(third.body.data.key)]).toEqual([
    200, 401, 200,
  ])

  const first = shown.body.data.keys[0]?.id
  expect((await service.send('DELETE', `${one}/keys/${first}`)).status).toBe(200)
  expect(await asked(user.key)).toBe(401)
})

test('everybody may replace their own key, and nobody but an owner that of another', async () => {
  const [user, colleague] = [
    await memberOf(service, firm, ['finance'], { name: 'replaces their own' }),
    await memberOf(service, firm, ['finance'], { name: 'has another' }),
  ]
  const rotate = async ({ id }: { readonly id: string }) => {
    const shown = await service.send<{ keys: { id: string }[] }>('GET', `${usersAddress(firm)}/${id}`)
    const address = `${usersAddress(firm)}/${id}/keys/${shown.body.data.keys[0]?.id}/rotate`
    return service.send<{ key: string }>('POST', address, { token: user.key, body: { overlap_seconds: 60 } })
  }

  expect((await rotate(colleague)).status).toBe(404)
  expect((await rotate(user)).status).toBe(201)
})

test('403 at once when the organisation is not active, and again served when it is', async () => {
  const team = await service.organisation('asleep')
  const owner = await memberOf(service, team, ['owner'])
  await service.send('POST', `/admin/v1/organisations/${team}/deactivate`)
  expect(await asked(owner.key, team)).toBe(403)
  await service.send('POST', `/admin/v1/organisations/${team}/activate`)
  expect(await asked(owner.key, team)).toBe(200)
})

test('409: the last owner neither ends nor gives up the role by themselves; the operator may end them', async () => {
  const team = await service.organisation('one-owner')
  const owner = await memberOf(service, team, ['owner'], { name: 'first' })
  const one = `${usersAddress(team)}/${owner.id}`
  const byOwner = async (method: string, body?: object) =>
    (await service.send(method, one, { token: owner.key, ...(body && { body }) })).status

  expect([await byOwner('DELETE'), await byOwner('PATCH', { roles: ['leads'] })]).toEqual([409, 409])
  await memberOf(service, team, ['owner'], { name: 'second' })
  expect(await byOwner('PATCH', { roles: ['leads'] })).toBe(200)

  const [, second] = (await service.send<Shown[]>('GET', usersAddress(team))).body.data
  expect((await service.send('DELETE', `${usersAddress(team)}/${second?.id}`)).status).toBe(200)
})

describe('in two processes at once', () => {
  let beside: typeof service
  let team: string
  beforeAll(async () => {
    team = await service.organisation('at-once')
    beside = await wholeService({}, service.database)
  }, 60_000)
  afterAll(() => beside[Symbol.asyncDispose]())

  test('of two owners who end each other, or take the role from each other, one stays, twenty times', async () => {
    let owner = await memberOf(service, team, ['owner'], { name: 'number 0' })
    for (let time = 1; time <= 20; time++) {
      const next = await memberOf(service, team, ['owner'], { name: `number ${time}` })
      await vi.waitUntil(async () => (await beside.send('GET', usersAddress(team), { token: next.key })).status === 200)
      const [one, two] = await Promise.all([
        service.send('DELETE', `${usersAddress(team)}/${next.id}`, { token: owner.key }),
        time % 2 === 0
          ? beside.send('DELETE', `${usersAddress(team)}/${owner.id}`, { token: next.key })
          : beside.send('PATCH', `${usersAddress(team)}/${owner.id}`, { token: next.key, body: { roles: ['leads'] } }),
      ])

      // Whoever was ended first is nobody any more.
      expect([200, 401, 409]).toContain(one.status)
      expect([200, 401, 409]).toContain(two.status)
      const listed = await service.send<(Shown & { roles: string[]; in_force: boolean })[]>(
        'GET',
        `${usersAddress(team)}?limit=100`,
      )
      const owners = listed.body.data.filter(({ roles, in_force }) => in_force && roles.includes('owner'))
      expect(owners.length, `after ${time} times`).toBeGreaterThan(0)
      if (owners.every(({ id }) => id !== owner.id)) owner = next
    }
  }, 120_000)

  test('an email that two take is one user’s, twenty times', async () => {
    const [one, two] = [
      await memberOf(service, team, ['leads'], { name: 'one' }),
      await memberOf(service, team, ['leads'], { name: 'two' }),
    ]
    for (let time = 1; time <= 20; time++) {
      const take = async (of: typeof service, { id }: { readonly id: string }) =>
        of.send('PATCH', `${usersAddress(team)}/${id}`, { body: { email: `number-${time}@firm.test` } })

      const answers = await Promise.all([take(service, one), take(beside, two)])

      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
    }
  }, 120_000)
})

test('a user of another organisation is none', async () => {
  const user = await memberOf(service, firm, ['leads'], { name: 'elsewhere' })
  const owner = await memberOf(service, other, ['owner'], { name: 'of the other' })

  const answers = await Promise.all(
    [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/erasure'],
      ['POST', '/keys'],
    ].map(async ([method = '', rest = '']) =>
      service.send(method, `${usersAddress(other)}/${user.id}${rest}`, {
        token: owner.key,
        ...(method === 'POST' || method === 'PATCH' ? { body: {} } : {}),
      }),
    ),
  )

  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404])
})

test('somebody who has ended is erased: name and email can be read nowhere any more, and what they did stays', async () => {
  const user = await memberOf(service, firm, ['owner'], { name: 'Vera Vanishing' })
  await memberOf(service, firm, ['owner'], { name: 'Stays behind' })
  const one = `${usersAddress(firm)}/${user.id}`
  expect((await service.send('POST', `${one}/erasure`)).status).toBe(409)
  await service.send('DELETE', one)

  const erased = await service.send<Shown>('POST', `${one}/erasure`)

  const name = `person ${user.id.slice(0, 8)}`
  expect(erased.body.data).toMatchObject({ name, email: null, erased: true })
  expect((await service.send('POST', `${one}/erasure`)).body).toEqual(erased.body)
  const [added] = await service.parts.eventLog.read(`user-${user.id}`, {})
  expect(added).toMatchObject({ erased: true, data: { name: '', email: '', roles: ['owner'] } })
  const listed = await service.send<Shown[]>('GET', `${usersAddress(firm)}?limit=200`)
  expect(listed.body.data.some(({ id }) => id === user.id)).toBe(false)
  const again = { name: 'Vera Vanishing', email: user.email, roles: ['owner'] }
  expect((await service.send('POST', usersAddress(firm), { body: again })).status).toBe(201)
})

test('users of the installation have keys under no organisation’s, and can be erased as well', async () => {
  const user = await memberOf(service, null, ['operator'], { name: 'Olga Operator' })
  expect(await asked(user.key)).toBe(200)
  expect(JSON.stringify(await service.parts.storedLog.read(`user-${user.id}`, {}))).not.toContain('Olga')

  await service.send('DELETE', `${usersAddress(null)}/${user.id}`)
  const erased = await service.send<Shown>('POST', `${usersAddress(null)}/${user.id}/erasure`)

  expect(erased.body.data).toMatchObject({ erased: true, email: null })
  expect(await asked(user.key)).toBe(401)
})

test('a list that is asked for without organisation_id is that of the user’s own', async () => {
  const user = await memberOf(service, firm, ['policies'], { name: 'lists' })

  expect((await service.send('GET', '/admin/v1/policies', { token: user.key })).status).toBe(200)
  expect((await service.send('GET', `/admin/v1/policies?organisation_id=${other}`, { token: user.key })).status).toBe(
    404,
  )
  expect((await service.send('GET', '/admin/v1/policies')).status).toBe(422)
})

test('the set-up file names the first people: applied again it changes nothing, and brings nobody back', async () => {
  const file = `
organisations:
  - slug: by-file
    name: By file
    users:
      - { name: Freda, email: freda@example.org, roles: [owner] }
      - { name: Lena, email: lena@example.org, roles: [leads, policies] }
`
  type Steps = { readonly steps: readonly { readonly what: string; readonly change: string }[] }
  const apply = async () => {
    const { body } = await service.send<Steps>('POST', '/admin/v1/setup?apply=true', { body: file })
    return body.data.steps.filter(({ what }) => what.startsWith('user')).map(({ change }) => change)
  }
  expect(await apply()).toEqual(['create', 'create'])
  expect(await apply()).toEqual(['none', 'none'])

  const { body } = await service.send<{ id: string; slug: string }[]>('GET', '/admin/v1/organisations')
  const team = body.data.find(({ slug }) => slug === 'by-file')?.id ?? ''
  const { body: users } = await service.send<Shown[]>('GET', usersAddress(team))
  await service.send('DELETE', `${usersAddress(team)}/${users.data[1]?.id}`)
  expect(await apply()).toEqual(['none', 'none'])

  const leaving = { name: 'Leo', email: 'leo@example.org', roles: ['leads'], ends_at: '2100-01-01T00:00:00.000Z' }
  expect((await service.send('POST', usersAddress(team), { body: leaving })).status).toBe(201)
  type Exported = { readonly setup: { readonly organisations: readonly { readonly users: unknown }[] } }
  const exported = await service.send<Exported>('GET', `/admin/v1/organisations/${team}/setup?format=json`)
  const freda = { name: 'Freda', email: 'freda@example.org', roles: ['owner'], sees_personal_data: false }
  expect(exported.body.data.setup.organisations[0]?.users).toEqual([freda])
})

test('422: an owner’s set-up file holds their own organisation alone', async () => {
  const owner = await memberOf(service, firm, ['owner'], { name: 'sets up' })
  const plan = async (file: string) => service.send('POST', '/admin/v1/setup/plan', { body: file, token: owner.key })

  expect((await plan('organisations: [{ slug: firm, name: firm }]')).status).toBe(200)
  const refused = [
    'organisations: [{ slug: other, name: other }]',
    `organisations: [{ slug: firm, id: ${other}, name: firm }]`,
    'organisations: [{ slug: brand-new, name: New }]',
    'organisations: [{ slug: firm, name: firm }, { slug: other, name: other }]',
    'organisations: [{ slug: firm, name: firm, active: false }]',
  ]
  const answers = await Promise.all(refused.map(plan))
  expect(answers.map(({ status }) => status)).toEqual(refused.map(() => 422))

  const exported = await fetch(`${service.origin}/admin/v1/organisations/${firm}/setup`, {
    headers: { authorization: `Bearer ${owner.key}`, accept: '*/*' },
  })
  expect(exported.headers.get('content-type')).toBe('application/yaml; charset=utf-8')
  const { status, body } = await service.send<{ steps: readonly { change: string }[] }>(
    'POST',
    '/admin/v1/setup/plan',
    {
      body: await exported.text(),
      token: owner.key,
    },
  )
  expect(status).toBe(200)
  expect(body.data.steps.filter(({ change }) => change !== 'none')).toEqual([])
})

test('with OPERATOR_KEY_OPENS=installation, programs do what the role operator may, and nothing else', async () => {
  await using closed = await wholeService({ OPERATOR_KEY_OPENS: 'installation' })
  const organisation_id = await closed.organisation('closed')

  const cases = await closed.send('GET', `/admin/v1/organisations/${organisation_id}/leads`)

  expect(cases.status).toBe(403)
  expect(cases.body.error?.message).toContain('leads or auditor of the organisation')
  expect((await closed.send('GET', '/admin/v1/organisations')).status).toBe(200)
  const lead = await memberOf(closed, organisation_id, ['leads'])
  const own = await closed.send('GET', `/admin/v1/organisations/${organisation_id}/leads`, { token: lead.key })
  expect(own.status).toBe(200)
})
