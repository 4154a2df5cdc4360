import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { policyEvents } from '#domain/policies/events.ts'
import { fromStored } from '#domain/event.ts'
import { defaultPolicyRules } from '#domain/policy-rules/record.ts'
import { makeSealedFiles } from '#infra/crypto/sealed-files.ts'
import { subjectOfPerson } from '#infra/crypto/subjects.ts'
import { contextOf } from '../../command-api/reactions/reaction.ts'
import { whenPolicyBoundIssueDocuments } from '../../command-api/policies/when-policy-bound-issue-documents.ts'
import { whenTermsChangedIssueSchedule } from '../../command-api/policies/when-terms-changed-issue-schedule.ts'
import { organisation_id } from '../applications/release.ts'
import { keyFacts, terms } from '../checkout/builders.ts'
import { anna } from './builders.ts'
import { openSales, quotedAt, type Sales } from './fixture.ts'

let sales: Sales
beforeAll(async () => {
  sales = await openSales()
})
afterAll(async () => sales[Symbol.asyncDispose]())

const ofDocuments = () => ({
  writer: sales.writer,
  catalogue: sales.catalogue,
  files: makeSealedFiles(sales),
  organisations: new Map([[organisation_id, { name: 'Northlight Life' }]]),
})

/** A policy whose documents were issued, as often as said. */
const issued = async (times = 1) => {
  const { quote_id, share } = await sales.ready({ customer: { ...anna, last_name: 'Wałęsa' } })
  const { id } = (await sales.bind(quote_id)).body.data
  const [bound] = await sales.log.read(`policy-${id}`)
  if (!bound) throw new Error('The policy was not set up.')
  const event = fromStored({ PolicyBound: policyEvents.PolicyBound }, bound)
  const reaction = whenPolicyBoundIssueDocuments({ ...ofDocuments(), rulesOf: () => defaultPolicyRules })
  for (let time = 0; time < times; time++)
    await reaction.react(event, bound, contextOf(reaction, bound, new AbortController().signal))
  const read = async () => {
    await sales.project()
    return ((await sales.get(`/api/v1/policies/${id}`)).body as { data: Shown }).data.documents
  }
  await vi.waitUntil(async () => (await read()).length > 0, { timeout: 60_000, interval: 5 })
  const documents = await read()
  return { id, documents, share, customer_id: event.customer_id }
}
type Shown = {
  documents: { document_id: string; version_id: string; kind: string; name: string; url: string; issued_at: string }[]
}

const pathOf = (url: string | undefined) => new URL(url ?? '').pathname
const download = (url: string | undefined, headers: Record<string, string> = {}) =>
  fetch(`${sales.origin}${pathOf(url)}`, { headers })

describe('the documents of a policy', () => {
  test('are the policy schedule, the cancellation notice and the key facts, issued when it was bound', async () => {
    const { id, documents } = await issued()

    const issued_at = quotedAt
    expect(documents).toMatchObject([
      { kind: 'policy_schedule', name: 'Policy schedule', issued_at },
      { kind: 'cancellation_notice', name: 'Your right to cancel' },
      { kind: 'key_facts', version_id: keyFacts.version_id, name: keyFacts.name, issued_at },
      // Given after the sale only. Who the firm is, is no document of a policy.
      { kind: 'policy_terms', document_id: terms.document_id, name: terms.name, url: terms.url },
    ])
    expect(pathOf(documents[2]?.url)).toBe(`/api/v1/key_documents/${keyFacts.version_id}`)
    expect(await sales.typesOf(`policy-${id}`)).toEqual(['PolicyBound', ...documents.map(() => 'PolicyDocumentIssued')])
  })

  test('are issued once, however often the reaction runs', async () => {
    expect((await issued(2)).documents).toHaveLength(4)
  })

  test('are followed by another version of the schedule when the policy is amended, and the former stays', async () => {
    const { id, documents } = await issued()
    await sales.post(`/admin/v1/organisations/${organisation_id}/policies/${id}/amendment`, {
      components: [{ cover_index: 0, premium_pence: 1_500 }],
    })
    const amended = (await sales.log.read(`policy-${id}`)).find(({ type }) => type === 'PolicyAmended')
    if (!amended) throw new Error('The policy was not amended.')
    const reaction = whenTermsChangedIssueSchedule(ofDocuments())
    const react = async () =>
      reaction.react(
        fromStored(reaction.events, amended),
        amended,
        contextOf(reaction, amended, new AbortController().signal),
      )
    await react()
    await react()

    const issuedTypes = (await sales.typesOf(`policy-${id}`)).filter((type) => type === 'PolicyDocumentIssued')
    expect(issuedTypes).toHaveLength(5)
    const shown = async () => {
      await sales.project()
      return ((await sales.get(`/api/v1/policies/${id}`)).body as { data: Shown }).data.documents
    }
    await vi.waitUntil(async () => (await shown()).length === 5, { timeout: 60_000, interval: 5 })
    const [former, , , , latest] = await shown()
    expect(latest).toMatchObject({ kind: 'policy_schedule', document_id: former?.document_id })
    expect(latest?.url).not.toBe(former?.url)
    for (const url of [documents[0]?.url, latest?.url]) expect((await download(url)).status).toBe(200)
  })

  test('are PDF, for a server of the firm', async () => {
    const { documents } = await issued()
    for (const { url } of documents.slice(0, 2)) {
      const answer = await download(url)
      const content = Buffer.from(await answer.arrayBuffer())
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('application/pdf')
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(content.subarray(0, 5).toString()).toBe('%PDF-')
      expect(content.length).toBeGreaterThan(5_000)
    }
  })

  test('are opened by a web page with the share token of its application, and by nobody else', async () => {
    const { documents, share } = await issued()
    const url = documents[0]?.url
    const browser = { 'x-caller': 'browser' }

    expect((await download(url, { ...browser, 'x-share-token': share })).status).toBe(200)
    expect((await download(url, browser)).status).toBe(404)
    expect((await download(url, { 'x-caller': 'stranger' })).status).toBe(404)
    expect((await download(`${url}`.replace(/.$/, (last) => (last === '0' ? '1' : '0')))).status).toBe(404)
  })

  test('are read by the operator of the organisation too, who asks what the customer was given', async () => {
    const { id, documents } = await issued()
    const version = documents[0]?.version_id ?? ''
    const read = async (path: string, organisation: string) =>
      (await fetch(`${sales.origin}/admin/v1/policies/${path}?organisation_id=${organisation}`)).status

    expect(await read(`${id}/files/${version}`, organisation_id)).toBe(200)
    expect(await read(`${id}/files/${id}`, organisation_id)).toBe(404)
    expect(await read(`${id}/files/${version}`, id)).toBe(404)
  })

  test('are sealed at rest, and unreadable once the person is erased', async () => {
    const { documents, customer_id } = await issued()
    const { rows } = await sales.pool.query<{ sealed: Buffer }>('select sealed from sealed_file')
    expect(rows.some(({ sealed }) => sealed.includes('%PDF-'))).toBe(false)

    await sales.dataKeys.erase({ organisation_id, subject: subjectOfPerson(customer_id) })

    expect((await download(documents[0]?.url)).status).toBe(404)
  })
})
