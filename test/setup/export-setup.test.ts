import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import type { Organisation as OrganisationRecord } from '#domain/access/record.ts'
import { idOf, toStored } from '#domain/event.ts'
import { outreachEvents } from '#domain/outreach/events.ts'
import { OrganisationId, OutreachStreamId } from '#domain/values.ts'
import { derivedId, newId } from '#infra/ids.ts'
import { writeExported } from '../../cli/setup-plan/export-setup.ts'
import { readSetupText } from '../../cli/setup-plan/plan-text.ts'
import { exportSetup, setupYaml } from '../../command-api/setup-file/export-setup.ts'
import type { AnySetupSection } from '../../command-api/setup-file/section.ts'
import { file, withLine } from './builders.ts'
import { placesIn, placesOf } from './schema-places.ts'
import { setupApi } from './setup-api.ts'

/** A firm's set-up as a file that, applied, changes nothing. */

type Api = Awaited<ReturnType<typeof setupApi>>

const northlight = 'd3e00000-0000-4000-8000-000000000000'
const everything = derivedId('organisation', 'everything')

const everySetting = await readFile(new URL('every-setting.yaml', import.meta.url), 'utf8')

let api: Api
beforeAll(async () => {
  api = await setupApi()
  for (const text of [await readSetupText('demo/organisation.yaml'), everySetting]) {
    const { status, body } = await api.apply(text)
    if (status !== 200) throw new Error(`The file was not applied: ${JSON.stringify(body)}`)
  }
})
afterAll(() => api[Symbol.asyncDispose]())

type Steps = { readonly data: { readonly steps: readonly { readonly what: string; readonly change: string }[] } }

const changesOf = async (on: Api, text: string) => {
  const { status, body } = await on.plan(text)
  if (status !== 200) expect(body).toBe('a plan')
  return (body as Steps).data.steps.filter(({ change }) => change !== 'none')
}

type Organisation = Readonly<Record<string, unknown>>

/** The organisation of a set-up file. */
const declaredIn = (text: string): Organisation => {
  const [file = ''] = text.split('\n---\n')
  const { organisations } = parse(file) as { readonly organisations: readonly [Organisation] }
  return organisations[0]
}

/** The first lines that differ, as far as they can be read. */
const differing = (one: string, other: string): readonly string[] => {
  const [lines, others] = [one.split('\n'), other.split('\n')]
  const places = Array.from({ length: Math.max(lines.length, others.length) }, (_, line) => line)
  const first = places.find((line) => lines[line] !== others[line])
  return first === undefined ? [] : [lines, others].map((each) => (each[first] ?? '').slice(0, 500))
}

const exports = async () => [await api.export(northlight), await api.export(everything)] as const

test.each([
  ['the demo’s organisation', northlight],
  ['one that uses every setting', everything],
])('applied where it comes from, the export of %s changes nothing, and is exported the same again', async (_, id) => {
  const exported = await api.export(id)

  expect(await changesOf(api, exported)).toEqual([])
  await api.apply(exported)
  expect(differing(await api.export(id), exported)).toEqual([])
})

/** They stand in the file in another way: rates and texts in files, versions of documents by their ids. */
const otherwise: Readonly<Record<string, readonly string[]>> = {
  rate_tables: ['csv'],
  products: ['checkout.key_documents.key', 'checkout.key_documents.version'],
}

test('everything that a set-up file can say is exported', async () => {
  const organisations = (await exports()).map(declaredIn)

  const lacking = api.sections.flatMap(({ key, schema }) => {
    const said = new Set(organisations.flatMap((each) => placesIn(each[key])))
    const expected = [...new Set(placesOf(schema))].filter((place) => !otherwise[key]?.includes(place))
    return expected.filter((place) => !said.has(place)).map((place) => `${key}: ${place}`)
  })

  expect(lacking).toEqual([])
})

/** By the names that they have in an export. */
const secrets: Readonly<Record<string, string>> = {
  'api_applications.Server.client_secret': 'secret-of-the-server',
  'custom_integrations.Dialler.main.hook': 'secret-of-the-dialler',
  'custom_integrations.Mailing list.main.token': 'secret-of-the-list',
  'custom_integrations.Old system.north.password': 'secret-of-the-old',
  'endpoint_connections.CRM.signing_secret': 'secret-of-the-webhooks',
  'payment_accounts.live.secret_key': 'sk_live_everything',
  'payment_accounts.live.webhook_secret': 'whsec_everything',
  'provider_accounts.message_gateway.secret': 'secret-of-the-gateway',
  'provider_accounts.message_gateway.webhook_secret': 'secret-of-its-news',
  'sign_in_providers.entra.client_secret': 'secret-of-the-provider',
}

/** All that the log holds of secrets: hashes, and sealed texts. */
const keptOf = (value: unknown, name = ''): readonly string[] => {
  if (typeof value === 'string') return /^sealed_|_hash$/.test(name) ? [value] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, held]) => keptOf(held, key))
}

test('no secret is in it, nor what is kept of one', async () => {
  const exported = await api.export(everything)
  const kept = (await api.eventLog.readAll({ limit: 10_000 })).flatMap(({ data }) => keptOf(data))
  const given = Object.values(secrets)
  expect(given.filter((secret) => !everySetting.includes(secret))).toEqual([])
  expect(kept.length).toBeGreaterThan(given.length)

  const digests = given.flatMap((secret) =>
    (['hex', 'base64', 'base64url'] as const).map((form) => createHash('sha256').update(secret).digest(form)),
  )
  const forms = [...given, ...digests, ...kept, ...given.map((secret) => Buffer.from(secret).toString('base64'))]

  expect(forms.filter((form) => exported.includes(form))).toEqual([])
  for (const name of Object.keys(secrets)) expect(exported).toContain(`missing: ${name}\n`)
})

test('an empty installation asks for each missing secret by its name, and nothing is changed', async () => {
  await using empty = await setupApi()
  const exported = await api.export(everything)

  const refused = await empty.apply(exported)

  expect(refused).toMatchObject({
    status: 422,
    body: { error: { message: expect.stringContaining('10 things') as unknown } },
  })
  const { fields } = (refused.body as { readonly error: { readonly fields: Readonly<Record<string, string>> } }).error
  const named = Object.values(fields).map((reason) => /the secret (.+) is missing/.exec(reason)?.[1] ?? '')
  expect(named.toSorted()).toEqual(Object.keys(secrets).toSorted())
  expect(await empty.written()).toEqual([])
})

/** The export with a value in place of each name of a secret. */
const filledIn = (exported: string, secretOf: (name: string) => string): string => {
  const [, attached] = exported.split('\n---\n')
  const fill = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(fill)
    if (typeof value !== 'object' || value === null) return value
    if ('missing' in value) return secretOf(String(value.missing))
    return Object.fromEntries(Object.entries(value).map(([name, held]) => [name, fill(held)] as const))
  }
  const file = stringify({ organisations: [fill(declaredIn(exported))] }, { aliasDuplicateObjects: false })
  return attached === undefined ? file : `${file}\n---\n${attached}`
}

const demoSecret = (name: string): string =>
  ({ 'payment_accounts.test.secret_key': 'sk_test_demo', 'payment_accounts.test.webhook_secret': 'whsec_demo' })[
    name
  ] ?? 'a-secret-for-the-demo'

/** The last event of each type on each stream of an organisation, but for what is made again each time. */
const storedIn = async (on: Api, organisation_id: string) => {
  const last = new Map<string, unknown>()
  for (const { stream, type, data, metadata } of await on.eventLog.readAll({ limit: 10_000 })) {
    if (metadata.organisation_id !== organisation_id) continue
    const plain = JSON.stringify(data, (key, value: unknown) =>
      /^sealed_|_hash$|^email_digest$/.test(key) ? 'kept' : value,
    )
    // The ids of users follow from their addresses and a key of the installation.
    const name = type === 'UserAdded' ? `user ${String(data['email'])}` : stream
    last.set(`${name} ${type}`, JSON.parse(plain.replace(/"release":\{"id":"[^"]+"/, '"release":{"id":""')))
  }
  return Object.fromEntries([...last].toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

test.each([
  ['the demo’s organisation', northlight, demoSecret, []],
  ['one that uses every setting', everything, (name: string) => secrets[name] ?? '', ['rate_table unused']],
] as const)(
  'with its secrets, the export of %s gives another installation the same set-up',
  async (_, id, secretOf, unused) => {
    await using other = await setupApi()
    const exported = await api.export(id)

    const { status, body } = await other.apply(filledIn(exported, secretOf))

    if (status !== 200) expect(body).toBe('a file that was applied')
    expect(differing(await other.export(id), exported)).toEqual([])
    const stored = await storedIn(api, id)
    // No release and no draft prices with it.
    for (const [name, data] of Object.entries(stored))
      if (unused.length > 0 && JSON.stringify(data).includes('"key":"unused"')) delete stored[name]
    expect(await storedIn(other, id)).toEqual(stored)
  },
)

test('a version of a document that is named by its id says what it said', async () => {
  const exported = await api.export(everything)
  const changed = exported.replace('https://everything.example/short.pdf', 'https://everything.example/other.pdf')

  const refused = await api.plan(changed)

  expect(refused).toMatchObject({
    status: 422,
    body: {
      error: {
        fields: {
          'organisations[0].products[1].checkout.key_documents[1].version_id': expect.stringContaining(
            'is of what the document said before: leave it out for something new',
          ) as unknown,
        },
      },
    },
  })
})

test('a draft that is not published stays one, beside the release that is on show', async () => {
  await using own = await setupApi()
  await own.apply(file)
  await own.apply(withLine('        name: Term', '        name: Term 2\n        publish: false'))
  const acme = derivedId('organisation', 'acme')

  const exported = await own.export(acme)

  expect(exported).toContain('name: Term 2\n')
  expect(exported).toContain('publish: false\n')
  expect(await changesOf(own, exported)).toEqual([])
  await using other = await setupApi()
  expect(await other.plan(filledIn(exported, () => 'a-secret-of-the-server'))).toMatchObject({
    status: 422,
    body: {
      error: {
        fields: { 'organisations[0].products[0]': expect.stringContaining('Publish a release first') as unknown },
      },
    },
  })
})

test('a stream that was paused is not started by its export', async () => {
  await using own = await setupApi()
  await own.apply(everySetting)
  expect(await own.export(everything)).toContain('started: true\n')
  const stream =
    (await own.eventLog.readAll({ limit: 10_000 })).find(({ type }) => type === 'OutreachStreamStarted')?.stream ?? ''
  const events = await own.eventLog.read(stream)
  const [last] = events.slice(-1)
  if (!last) throw new Error('The stream was started.')
  const stream_id = OutreachStreamId.parse(idOf(stream))
  const paused = toStored(outreachEvents, { type: 'OutreachStreamPaused', stream_id })
  await own.eventLog.append(stream, last.revision, [{ id: newId(), ...paused, metadata: last.metadata }])

  await vi.waitUntil(async () => !(await own.export(everything)).includes('started: true\n'))
  expect(await changesOf(own, await own.export(everything))).toEqual([])
})

test('each of many missing secrets is told', async () => {
  const names = Array.from({ length: 120 }, (_, index) => `C${index}`)
  const connections = names.map((name) => ({
    name,
    base_url: 'https://crm.example/hook',
    signing_secret: { missing: name },
  }))
  const many = stringify({ organisations: [{ slug: 'many', name: 'Many', endpoint_connections: connections }] })

  const { status, body } = await api.plan(many)

  const { fields } = (body as { readonly error: { readonly fields: Readonly<Record<string, string>> } }).error
  expect({ status, told: Object.keys(fields).length }).toEqual({ status: 422, told: 120 })
})

test('409: more than a set-up file may bring is not exported', async () => {
  const organisation: OrganisationRecord = {
    id: OrganisationId.parse(everything),
    slug: 'large',
    name: 'Large',
    currency_code: 'GBP',
    time_zone: 'Europe/London',
    stripe_test_mode: false,
    active: true,
  }
  const section = (exported: AnySetupSection['exported']): AnySetupSection => ({
    key: 'things',
    schema: z.unknown(),
    plan: async () => [],
    exported,
  })
  const large = 'x'.repeat(1_000_001)
  const ofFiles = section(async ({ addFile }) =>
    Array.from({ length: 8 }, (_, index) => addFile(`${index}.csv`, large)),
  )
  const ofText = section(async () => [large])

  await expect(exportSetup(organisation, [ofFiles])).rejects.toMatchObject({ code: 'conflict' })
  await expect(setupYaml(await exportSetup(organisation, [ofText]))).rejects.toMatchObject({ code: 'conflict' })
})

test('a folder that cannot be made ends the export', async () => {
  const exported = 'organisations: []\n---\n{"files":{"rates/level.csv":"a"},"binary_files":{}}'
  await expect(writeExported(exported, '/proc/nowhere/acme.yaml')).rejects.toThrow(/ENOENT.*\/proc\/nowhere/)
})
