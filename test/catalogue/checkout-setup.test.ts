import { afterAll, expect, test } from 'vitest'
import { OrganisationId } from '#domain/values.ts'
import { derivedId } from '#infra/ids.ts'
import { keyDocuments } from '../../projections/catalogue/projection.ts'
import { keyDocumentRoutes } from '../../query-api/catalogue/key-documents.ts'
import { fillReadModel } from '../read-model.ts'
import { serve } from '../serve.ts'
import { file } from '../setup/builders.ts'
import { setupApi } from '../setup/setup-api.ts'

const acme = OrganisationId.parse(derivedId('organisation', 'acme'))
const stream = `product-${derivedId('product', acme, 'term')}`
const pdf = Buffer.from('%PDF-1.7 \u00ff\u0000', 'latin1')

/** The set-up file with this checkout, and with the files that it names. */
const withCheckout = (checkout: string, binary_files: Readonly<Record<string, Buffer>> = {}) => {
  const indented = checkout.trim().replaceAll('\n', '\n          ')
  const product = file.replace('        covers:\n', `        checkout:\n          ${indented}\n        covers:\n`)
  const encoded = Object.entries(binary_files).map(([name, content]) => [name, content.toString('base64')] as const)
  return `${product}\n---\n${JSON.stringify({ files: {}, binary_files: Object.fromEntries(encoded) })}\n`
}

const keyFacts = (name: string) => `
key_documents:
  - { kind: key_facts, name: Key facts, file: ${name} }
  - { kind: policy_terms, name: Terms, url: 'https://acme.example/terms', given: after_bind }`

const open = async () => {
  const api = await setupApi()
  await fillReadModel(api.pool, [keyDocuments], [])
  const read = await serve(keyDocumentRoutes({ pool: api.pool, db: api.pool }))
  return {
    ...api,
    read,
    project: async () => fillReadModel(api.pool, [keyDocuments], await api.eventLog.read(stream)),
    versions: async () =>
      (
        await api.pool.query<{ version_id: string; document_id: string; url: string | null }>(
          `select version_id, document_id, document ->> 'url' as url from key_documents`,
        )
      ).rows,
    [Symbol.asyncDispose]: async () => {
      await read[Symbol.asyncDispose]()
      await api[Symbol.asyncDispose]()
    },
  }
}

const api = await open()
afterAll(() => api[Symbol.asyncDispose]())

test('200: a file of the set-up is served under the address of its version, whoever asks, and never changes', async () => {
  expect(await api.apply(withCheckout(keyFacts('facts.pdf'), { 'facts.pdf': pdf }))).toMatchObject({ status: 200 })
  await api.project()

  const listed = await api.read.get(`/admin/v1/key_documents?organisation_id=${acme}`)
  expect(listed.body).toMatchObject({
    data: expect.arrayContaining([
      expect.objectContaining({ kind: 'policy_terms', url: 'https://acme.example/terms', given: 'after_bind' }),
      expect.objectContaining({ kind: 'key_facts', url: null, given: 'before_bind' }),
    ]) as unknown,
    next_cursor: null,
  })
  const { data } = listed.body as { data: { kind: string; version_id: string }[] }
  const versionOf = (kind: string) => data.find((each) => each.kind === kind)?.version_id

  const served = await fetch(`${api.read.origin}/api/v1/key_documents/${versionOf('key_facts')}`)
  expect(served.status).toBe(200)
  expect(served.headers.get('content-type')).toBe('application/pdf')
  expect(served.headers.get('cache-control')).toContain('immutable')
  expect(Buffer.from(await served.arrayBuffer())).toEqual(pdf)

  // A link is not a file of ours.
  expect((await api.read.get(`/api/v1/key_documents/${versionOf('policy_terms')}`)).status).toBe(404)
})

test('a file with other content is a new version of the same document, and the former is still served', async () => {
  await api.project()
  const before = await api.versions()
  const changed = Buffer.concat([pdf, pdf])
  await api.apply(withCheckout(keyFacts('facts.pdf'), { 'facts.pdf': changed }))
  await api.apply(withCheckout(keyFacts('facts.pdf'), { 'facts.pdf': changed }))
  await fillReadModel(api.pool, [keyDocuments], (await api.eventLog.read(stream)).slice(-2))

  const after = await api.versions()
  expect(after).toHaveLength(before.length + 1)
  const files = after.filter(({ url }) => url === null)
  expect(new Set(files.map(({ document_id }) => document_id)).size).toBe(1)
  for (const { version_id } of files)
    expect((await fetch(`${api.read.origin}/api/v1/key_documents/${version_id}`)).status).toBe(200)

  const first = await api.read.get(`/admin/v1/key_documents?organisation_id=${acme}&limit=1`)
  const { data, next_cursor } = first.body as { data: { kind: string }[]; next_cursor: string }
  expect(data).toHaveLength(1)
  const rest = await api.read.get(`/admin/v1/key_documents?organisation_id=${acme}&cursor=${next_cursor}`)
  expect((rest.body as { data: unknown[] }).data).toHaveLength(after.length - 1)
})

test.each([
  ['a file that was not sent along', keyFacts('lost.pdf'), 'key_documents[0].file', 'was not sent along'],
  ['a file of a type that is not served', keyFacts('page.html'), 'key_documents[0].file', 'must end in .pdf'],
  [
    'two documents of one kind without keys',
    `key_documents: [{ kind: a, name: A, url: 'https://a.example' }, { kind: a, name: B, url: 'https://b.example' }]`,
    'key_documents[1].kind',
    'give each a key',
  ],
  [
    'neither a link nor a file',
    `key_documents: [{ kind: a, name: A }]`,
    'key_documents[0]',
    'name one of url and file',
  ],
  ['a day that some months do not have', 'collection_days: [29]', 'collection_days[0]', '28'],
  ['a prefix in small letters', 'policy_number_prefix: abc', 'policy_number_prefix', 'capital letters'],
  [
    'a text with an unknown placeholder',
    `confirmation: { intro: Check, points: ['{premum} a month'], question: Right? }`,
    'confirmation.points[0]',
    'cannot fill {premum}',
  ],
])('422: %s is refused with its line, and nothing is changed', async (_what, checkout, field, reason) => {
  const before = await api.written()
  const { status, body } = await api.apply(withCheckout(checkout, { 'page.html': Buffer.from('<p>') }))

  expect(status).toBe(422)
  const { fields } = (body as { error: { fields: Record<string, string> } }).error
  expect(fields[`organisations[0].products[0].checkout.${field}`]).toMatch(/^line \d+: /)
  expect(fields[`organisations[0].products[0].checkout.${field}`]).toContain(reason)
  expect(await api.written()).toEqual(before)
})
