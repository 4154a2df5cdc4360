import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Workflow } from '#domain/workflows/record.ts'
import { wholeService } from '../whole-service.ts'

const file = (workflows: string) => `
organisations:
  - slug: firm
    name: A firm
    endpoint_connections:
      - { name: crm, base_url: 'https://crm.example.com/hooks', signing_secret: a signing secret of the firm }
    campaigns:
      - { key: spring, name: Spring }
    workflows:
${workflows}
`
const told = `
      - name: Tell the CRM
        trigger: { event_type: lead.created, campaign: spring }
        actions:
          - { kind: webhook, endpoint_connection: crm }
          - { kind: webhook, endpoint_connection: crm }
`

type Step = { readonly what: string; readonly change: string; readonly details: readonly string[] }
type Planned = { readonly organisations: readonly { readonly steps: readonly Step[] }[] }

let service: Awaited<ReturnType<typeof wholeService>>
let admin: string
beforeAll(async () => {
  service = await wholeService()
  await service.setUp(file(told))
  const { body } = await service.send<readonly { id: string }[]>('GET', '/admin/v1/organisations')
  admin = `/admin/v1/organisations/${body.data[0]?.id ?? ''}/workflows`
}, 60_000)
afterAll(async () => service[Symbol.asyncDispose]())

const webhook = { kind: 'webhook', endpoint_connection: 'crm' }
const create = (body: object) => service.send<Workflow>('POST', admin, { body })
const made = async (name: string, event_type = 'lead.created') =>
  (await create({ name, trigger: { event_type }, actions: [webhook] })).body.data
const fieldsOf = ({ status, body }: Awaited<ReturnType<typeof create>>) => [
  status,
  Object.keys(body.error?.fields ?? {}),
]

describe('a workflow', () => {
  test('201: is created with the names of things, and shows their ids', async () => {
    const { status, body } = await create({
      name: 'Every kind of trigger',
      trigger: { event_type: 'activity.booking', campaign: 'spring' },
      actions: [webhook, webhook],
    })

    expect(status).toBe(201)
    expect(body.data).toMatchObject({
      name: 'Every kind of trigger',
      trigger: { event_type: 'activity.booking', campaign_id: expect.any(String) as unknown, product_id: null },
      state: 'active',
    })
    expect(new Set(body.data.actions.map(({ id }) => id)).size).toBe(2)
    expect((await service.send('GET', `${admin}/${body.data.id}`)).body.data).toEqual(body.data)
  })

  test('200: keeps the id of an action that stays, wherever it stands', async () => {
    const two = [webhook, webhook]
    const { id, actions } = (await create({ name: 'Kept', trigger: { event_type: 'lead.created' }, actions: two })).body
      .data

    const one = await service.send<Workflow>('PATCH', `${admin}/${id}`, { body: { actions: [webhook] } })

    expect(one.body.data.actions).toEqual(actions.slice(0, 1))
    expect(one.body.data.trigger.event_type).toBe('lead.created')
  })

  test('200: is archived and enabled, and stays listed', async () => {
    const { id } = await made('Archived')
    const change = async (state: string) =>
      (await service.send<Workflow>('PATCH', `${admin}/${id}`, { body: { state } })).body.data.state

    expect([await change('archived'), await change('archived'), await change('active')]).toEqual([
      'archived',
      'archived',
      'active',
    ])
    const listed = await service.send<readonly Workflow[]>('GET', `${admin}?limit=200`)
    expect(listed.body.data.map((each) => each.id)).toContain(id)
  })

  test('200: are listed by name, page by page', async () => {
    for (const name of ['page b', 'page c', 'page a']) await made(name)
    const names: string[] = []
    for (let cursor: string | null | undefined = ''; cursor !== null && cursor !== undefined;) {
      const query: string = cursor === '' ? '' : `&cursor=${cursor}`
      const { body } = await service.send<readonly Workflow[]>('GET', `${admin}?limit=2${query}`)
      names.push(...body.data.map(({ name }) => name))
      cursor = body.next_cursor
    }

    expect(names).toEqual(names.toSorted())
    expect(names).toEqual(expect.arrayContaining(['Tell the CRM', 'page a', 'page b', 'page c']))
    expect(new Set(names).size).toBe(names.length)
  })

  test('409: a name that is taken is refused', async () => {
    await made('Taken')

    expect(
      fieldsOf(await create({ name: 'Taken', trigger: { event_type: 'lead.created' }, actions: [webhook] })),
    ).toEqual([409, ['name']])
  })

  test.each([
    [{ trigger: { event_type: 'lead.unheard_of' } }, 'trigger.event_type'],
    [{ trigger: { event_type: 'lead.created', campaign: 'unknown' } }, 'trigger.campaign'],
    [{ trigger: { event_type: 'policy.bound', campaign: 'spring' } }, 'trigger.campaign'],
    [{ trigger: { event_type: 'policy.bound', product: 'unknown' } }, 'trigger.product'],
    [{ actions: [] }, 'actions'],
    [{ actions: [webhook, { ...webhook, endpoint_connection: 'unknown' }] }, 'actions[1].endpoint_connection'],
    [{ actions: [{ kind: 'integration', integration: 'unknown', endpoint: 'create' }] }, 'actions[0].integration'],
    [{ actions: [{ kind: 'outreach_stream', stream: 'unknown' }] }, 'actions[0].stream'],
    [{ actions: [{ kind: 'fax' }] }, 'actions[0].kind'],
    [{ name: ' ' }, 'name'],
  ])('422: %j', async (changes, field) => {
    const body = { name: 'Refused', trigger: { event_type: 'lead.created' }, actions: [webhook], ...changes }

    const [status, fields] = fieldsOf(await create(body))

    expect([status, fields]).toEqual([422, [field]])
    const listed = await service.send<readonly Workflow[]>('GET', `${admin}?limit=200`)
    expect(listed.body.data.map(({ name }) => name)).not.toContain('Refused')
  })

  test('404: is unknown to another organisation', async () => {
    const { id } = await made('Of the firm')
    const theirs = `/admin/v1/organisations/${await service.organisation('stranger')}/workflows/${id}`

    for (const [method, path, body] of [
      ['GET', theirs],
      ['PATCH', theirs, { state: 'archived' }],
      ['POST', `${theirs}/runs`, { contact_id: crypto.randomUUID() }],
    ] as const)
      expect((await service.send(method, path, body ? { body } : {})).status).toBe(404)
  })
})

describe('the section of a set-up file', () => {
  const plan = async (text: string) => service.send<Planned>('POST', '/admin/v1/setup', { body: file(text) })
  const stepOf = (answer: Awaited<ReturnType<typeof plan>>, name: string) =>
    JSON.stringify(answer.body).includes(name) ? JSON.stringify(answer.body) : ''

  test('says what it would do, and nothing when it is already so', async () => {
    const same = await plan(told)
    const changed = await plan(told.replace('lead.created', 'activity.reply'))

    expect(stepOf(same, 'workflow Tell the CRM')).toMatch(/"workflow Tell the CRM","change":"none"/)
    expect(stepOf(changed, 'workflow Tell the CRM')).toMatch(
      /"workflow Tell the CRM","change":"change","details":\["on activity.reply of spring","sends it to crm","sends it to crm"\]/,
    )
  })

  test('says at once what is not there, and where', async () => {
    const { status, body } = await plan(
      told
        .replace('campaign: spring', 'campaign: autumn')
        .replace('endpoint_connection: crm', 'endpoint_connection: erp'),
    )

    expect(status).toBe(422)
    expect(JSON.stringify(body)).toContain('there is none called autumn')
    expect(JSON.stringify(body)).toContain('there is none called erp')
  })
})
