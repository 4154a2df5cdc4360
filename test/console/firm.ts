import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { vi } from 'vitest'
import { OrganisationId, type OrganisationRole } from '#domain/values.ts'
import { readSetupText } from '../../cli/setup-plan/plan-text.ts'
import { nothingToDeclare } from '../../demo/answers.ts'
import { policyWithPremium } from '../approvals/policy-with-premium.ts'
import { memberOf, withOwnKey, type Member } from '../users/team.ts'
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

/** An application with a quote of £12.50 a month. */
const sendQuote = async (service: Service, token: string): Promise<{ application_id: string; quote_id: string }> => {
  const customer = {
    title: 'Mr',
    first_name: 'Quentin',
    last_name: 'Quoted',
    email: 'quentin@example.com',
    dob: '1992-03-10',
  }
  const body = { product_slug: 'term-life', journey_slug: 'standard', customer }
  const started = await service.send<{ id: string }>('POST', '/api/v1/applications', { token, body })
  const application_id = started.body.data.id
  const address = `/api/v1/applications/${application_id}`
  const answers = { answers: nothingToDeclare, cover_amount_pence: 25_000_000, term_years: 25 }
  await service.send('PATCH', address, { token, body: answers })
  const quoted = await service.send<{ id: string }>('POST', `${address}/quotes`, { token })
  if (quoted.status !== 201) throw new Error(JSON.stringify(quoted.body))
  return { application_id, quote_id: quoted.body.data.id }
}

/** The set-up of the firm; its webhooks go to the receiver. */
export const setUpText = async (receiver?: string): Promise<string> => {
  const text = await readSetupText(file)
  return receiver === undefined ? text : text.replace('http://127.0.0.1:4010/webhooks', receiver)
}

/** An account with the payment provider, which waits for a second owner. */
const proposeAccount = async (service: Service, { key: token }: Member): Promise<string> => {
  const admin = `/admin/v1/organisations/${organisation_id}`
  await service.send('PATCH', `${admin}/four_eyes`, { token, body: { payment_account: true } })
  const body = { secret_key: 'sk_test_1', base_url: 'https://api.stripe.com' }
  const address = `${admin}/payment_accounts/test`
  const proposed = await service.send<{ proposal_id: string }>('PUT', address, { token, body })
  if (proposed.status !== 202) throw new Error(JSON.stringify(proposed.body))
  return proposed.body.data.proposal_id
}

export const openFirm = async (
  environment: Readonly<Record<string, string>> = {},
  { receiver }: { readonly receiver?: string } = {},
) => {
  const service = await wholeService({
    AUDIT_KEY: Buffer.alloc(32, 3).toString('base64'),
    DELIVERY_ALLOWED_HOSTS: '127.0.0.1',
    DELIVERY_ALLOW_HTTP: 'true',
    ...environment,
  })
  await service.setUp(await setUpText(receiver))
  await service.send('PATCH', `/admin/v1/organisations/${organisation_id}/lead_intake`, {
    body: { rules: [{ rule: 'format', field: 'email', format: 'email' }] },
  })
  const member = (name: string, roles: readonly OrganisationRole[]): Promise<Member> =>
    memberOf(service, organisation_id, roles, { name, sees_personal_data: true })
  const [olga, odo, lee, pat, uma, una, fin, cleo, aud, opal] = await Promise.all([
    member('Olga Owner', ['owner']),
    member('Odo Owner', ['owner']),
    member('Lee Leads', ['leads']),
    member('Pat Policies', ['policies']),
    member('Uma Underwriter', ['underwriting']),
    member('Una Underwriter', ['underwriting']),
    member('Fin Finance', ['finance']),
    member('Cleo Claims', ['claims']),
    member('Aud Auditor', ['auditor']),
    memberOf(service, null, ['operator'], { name: 'Opal Operator' }),
  ])
  // Whoever approves has a key that nobody else could hold.
  const [olgasOwn, odosOwn] = await Promise.all(
    [olga, odo].map(async (owner) => withOwnKey(service, organisation_id, owner)),
  )
  const { token } = await service.client(organisation_id, ['read', 'write', 'crm'])
  let held = 0
  return {
    service,
    people: { olga: olgasOwn ?? olga, odo: odosOwn ?? odo, lee, pat, uma, una, fin, cleo, aud, opal },
    proposeAccount: async () => proposeAccount(service, olgasOwn ?? olga),
    /** A lead that is held, since its email is none; each is another, or it would be one that was sent twice. */
    sendHeld: async (): Promise<string> => {
      const identity = {
        first_name: 'Hetty',
        last_name: 'Held',
        email: `not an address ${++held}`,
        phone: '020 7183 8750',
      }
      const body = { source: 'journey', identity }
      const sent = await service.send<{ id: string }>('POST', '/api/v1/crm/ingests', { token, body })
      const { id } = sent.body.data
      await vi.waitUntil(async () => {
        const shown = await service.send<{ status: string }>('GET', `/api/v1/crm/ingests/${id}`, { token })
        return shown.body.data.status === 'held'
      }, patience)
      return id
    },
    sendLead: (first_name: string, last_name = 'Lane') => sendLead(service, token, first_name, last_name),
    sendQuote: () => sendQuote(service, token),
    sendReferral: (last_name = 'Referred') => sendReferral(service, token, last_name),
    /** A policy whose first premium, £28.75, was collected. */
    sellPolicy: (state: 'active' | 'expired' = 'expired') =>
      policyWithPremium(service.parts.eventLog, { organisation_id: ofFirm, premium_id: randomUUID(), state }),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  }
}
