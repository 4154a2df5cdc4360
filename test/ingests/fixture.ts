import { vi } from 'vitest'
import type { Ingest } from '#domain/ingests/record.ts'
import type { TestDatabase } from '../database.ts'
import { wholeService, type Client } from '../whole-service.ts'

const file = (slug: string) => `
organisations:
  - slug: ${slug}
    name: A firm
    campaigns:
      - key: spring
        name: Spring
        field_names: { postal_code: Zip, dob: BirthDate }
        rules:
          - { rule: required, field: phone }
          - { rule: age_range, field: dob, min: 18, max: 75 }
          - { rule: postcode_range, field: postal_code, excluded: [BT] }
      - { key: plain, name: Plain }
      - { key: paused, name: Paused, state: paused }
      - { key: archived, name: Archived, state: archived }
      - { key: once, name: Once, rules: [{ rule: no_duplicate, days: 30 }] }
    lead_rules:
      - { rule: format, field: email, format: email }
    blocked_sources: [bulk-lists]
    trap_fields: [website_url]
`

export type Shown = Ingest & { readonly duplicate?: boolean }

const finished: readonly string[] = ['applied', 'needs_review', 'held', 'failed', 'discarded']

let people = 0
/** Somebody whom nobody has heard of. */
export const stranger = () => {
  const number = ++people
  return {
    email: `person-${number}@example.com`,
    phone: `07700 9${String(10_000 + number)}`,
    first_name: `Ada${String.fromCodePoint(97 + (number % 26))}`,
    last_name: `Finch${String.fromCodePoint(97 + Math.floor(number / 26))}`,
  }
}

/** A service with a firm that takes leads, and two of its servers that send them. */
export const leadService = async (environment: Readonly<Record<string, string>> = {}, kept?: TestDatabase) => {
  const service = await wholeService(environment, kept)
  await service.setUp(file('firm'))
  const { body } = await service.send<readonly { id: string; slug: string }[]>('GET', '/admin/v1/organisations')
  const organisation_id = body.data.find(({ slug }) => slug === 'firm')?.id
  if (organisation_id === undefined) throw new Error('There is no firm.')
  const [sender, another] = await Promise.all([
    service.client(organisation_id, ['read', 'write', 'crm']),
    service.client(organisation_id, ['read', 'write', 'crm']),
  ])

  let references = 0
  const get = (id: string, by: Client = sender) =>
    service.send<Shown>('GET', `/api/v1/crm/ingests/${id}`, { token: by.token })
  /** Sends a lead; unless it says otherwise, one that nobody has sent before. */
  const post = (body: object | string, headers: Record<string, string> = {}, by: Client = sender) =>
    service.send<Shown>('POST', '/api/v1/crm/ingests', {
      token: by.token,
      headers,
      body:
        typeof body === 'string' ? body : { source: 'website', source_reference: `reference-${++references}`, ...body },
    })
  /** Waits until a lead is finished with. */
  const settled = (id: string, by: Client = sender): Promise<Shown> =>
    vi.waitFor(
      async () => {
        const { data } = (await get(id, by)).body
        if (!finished.includes(data.status)) throw new Error(`It is ${data.status}: ${JSON.stringify(data)}`)
        return data
      },
      { timeout: 60_000, interval: 10 },
    )

  return {
    ...service,
    organisation_id,
    admin: `/admin/v1/organisations/${organisation_id}`,
    sender,
    another,
    get,
    post,
    settled,
    process: async (body: object, by: Client = sender) => settled((await post(body, {}, by)).body.data.id, by),
  }
}
export type LeadService = Awaited<ReturnType<typeof leadService>>
