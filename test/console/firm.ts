import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { OrganisationId, type OrganisationRole } from '#domain/values.ts'
import { readSetupText } from '../../cli/setup-plan/plan-text.ts'
import { nothingToDeclare } from '../../demo/answers.ts'
import { policyWithPremium } from '../approvals/policy-with-premium.ts'
import { memberOf, type Member } from '../users/team.ts'
import { wholeService } from '../whole-service.ts'

/** A firm at work: the demo organisation, with people of every role, and something for each of them to do. */

export type Firm = Awaited<ReturnType<typeof openFirm>>

export const organisation_id = 'd3e00000-0000-4000-8000-000000000000'

const ofFirm = OrganisationId.parse(organisation_id)

const file = fileURLToPath(new URL('../../demo/organisation.yaml', import.meta.url))
const patience = { timeout: 30_000, interval: 50 }

type Service = Awaited<ReturnType<typeof wholeService>>

const sendLead = async (service: Service, token: string, first_name: string, last_name: string): Promise<string> => {
  const identity = { first_name, last_name, email: `${first_name.toLowerCase()}@example.com` }
  const sent = await service.send<{ id: string }>('POST', '/api/v1/crm/ingests', {
    token,
    body: { source: 'journey', identity },
  })
  return vi.waitUntil(async () => {
    const { body } = await service.send<{ contact_id: string | null }>(
      'GET',
      `/api/v1/crm/ingests/${sent.body.data.id}`,
      {
        token,
      },
    )
    return body.data.contact_id ?? undefined
  }, patience)
}

const sendReferral = async (service: Service, token: string, last_name: string): Promise<string> => {
  const started = await service.send<{ id: string }>('POST', '/api/v1/applications', {
    token,
    body: {
      product_slug: 'term-life',
      journey_slug: 'standard',
      customer: { title: 'Ms', first_name: 'Rita', last_name, email: 'rita@example.com', dob: '1986-02-11' },
    },
  })
  if (started.status !== 201) throw new Error(JSON.stringify(started.body))
  const address = `/api/v1/applications/${started.body.data.id}`
  const answers = { ...nothingToDeclare, serious_illness: 'cancer' }
  const answered = await service.send('PATCH', address, { token, body: { answers } })
  if (answered.status !== 200) throw new Error(JSON.stringify(answered.body))
  return started.body.data.id
}

export const openFirm = async (environment: Readonly<Record<string, string>> = {}) => {
  const service = await wholeService({
    DELIVERY_ALLOWED_HOSTS: '127.0.0.1',
    DELIVERY_ALLOW_HTTP: 'true',
    ...environment,
  })
  await service.setUp(await readSetupText(file))
  const member = (name: string, roles: readonly OrganisationRole[]): Promise<Member> =>
    memberOf(service, organisation_id, roles, { name, sees_personal_data: true })
  const [olga, lee, uma, una, fin, cleo, aud] = await Promise.all([
    member('Olga Owner', ['owner']),
    member('Lee Leads', ['leads']),
    member('Uma Underwriter', ['underwriting']),
    member('Una Underwriter', ['underwriting']),
    member('Fin Finance', ['finance']),
    member('Cleo Claims', ['claims']),
    member('Aud Auditor', ['auditor']),
  ])
  const { token } = await service.client(organisation_id, ['read', 'write', 'crm'])
  return {
    service,
    people: { olga, lee, uma, una, fin, cleo, aud },
    sendLead: (first_name: string, last_name = 'Lane') => sendLead(service, token, first_name, last_name),
    sendReferral: (last_name = 'Referred') => sendReferral(service, token, last_name),
    /** A policy whose first premium, £28.75, was collected. */
    sellPolicy: () => policyWithPremium(service.parts.eventLog, { organisation_id: ofFirm, premium_id: randomUUID() }),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}
