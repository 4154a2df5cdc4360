import { testAccounts, testSortCode } from '#infra/stripe/test-accounts.ts'
import { randomFirm } from './firm.ts'
import type { Data, World } from './world.ts'

type Act = (world: World) => Promise<void>

const letters = (number: number): string =>
  Array.from(String(number), (digit) => String.fromCodePoint(97 + Number(digit))).join('')

/** Everything that somebody says of themselves is found again by it. */
export const personOf = (number: number) => ({
  first_name: `Ada${letters(number)}q`,
  last_name: `Okafor${letters(number)}q`,
  email: `person-${number}-q@example.com`,
})

const phoneOf = (number: number): string => `+4474${String(10_000_000 + number)}`

const today = (world: World): string => world.service.parts.clock.now().toISOString().slice(0, 10)
const now = (world: World): string => world.service.parts.clock.now().toISOString()

// Applications and sales

const startApplication: Act = async (world) => {
  const started = { product_slug: 'simple-life', journey_slug: 'standard' }
  const made = await world.send('POST', '/api/v1/applications', started)
  world.touch('application', made?.['id'])
}

const saveCustomer = async (world: World, id: string): Promise<void> => {
  const number = world.chance(0.8) ? world.next() : Math.ceil(world.random() * 20)
  const customer = {
    ...personOf(number),
    dob: `19${world.one('75', '80', '90')}-05-01`,
    ...(world.chance(0.5) && { phone_number: phoneOf(number) }),
    ...(world.chance(0.3) && { address_line1: `${number} q Street`, city: 'London', postal_code: 'SW1A 1AA' }),
  }
  const saved = await world.send('PATCH', `/api/v1/applications/${id}/customer`, { customer })
  world.touch('application', saved?.['id'])
  world.touch('person', (saved?.['customer'] as Data | undefined)?.['id'])
}

const sayWho: Act = async (world) => {
  const application = world.some('application')
  if (application) await saveCustomer(world, application.id)
}

const saveCover = async (world: World, id: string): Promise<void> => {
  const cover = { cover_amount_pence: world.one(5_000_000, 10_000_000, 20_000_000), term_years: world.one(10, 20) }
  const answers = world.chance(0.5) ? { answers: { smoker: world.chance(0.5) } } : {}
  const saved = await world.send('PATCH', `/api/v1/applications/${id}`, { ...cover, ...answers })
  world.touch('application', saved?.['id'])
}

const answer: Act = async (world) => {
  const application = world.some('application')
  if (application) await saveCover(world, application.id)
}

const price = async (world: World, id: string): Promise<string | undefined> => {
  const made = await world.send('POST', `/api/v1/applications/${id}/quotes`, {})
  world.touch('application', id)
  return world.touch('quote', made?.['id'], id)?.id
}

const quote: Act = async (world) => {
  const application = world.some('application')
  if (application) await price(world, application.id)
}

const reject: Act = async (world) => {
  const known = world.some('quote')
  if (!known) return
  await world.send('POST', `/api/v1/quotes/${known.id}/reject`, { reason: 'Too dear.' })
  world.touch('quote', known.id, known.of)
}

/** Mostly an account that pays; some banks refuse. */
const accounts = [testAccounts.succeeds, testAccounts.succeeds, testAccounts.insufficientFunds] as const

const bankDetails = (world: World) => ({
  direct_debit: {
    account_holder_name: 'Ada q Okafor',
    sort_code: testSortCode,
    account_number: world.one(...accounts),
  },
})

const goOn: Act = async (world) => {
  const known = world.some('quote')
  if (!known) return
  const { id, of = '' } = known
  const step = world.one('accept', 'details', 'confirm', 'bind')
  if (step === 'accept') await world.send('POST', `/api/v1/applications/${of}/accept_quote`, { quote_id: id })
  if (step === 'details') await world.send('POST', `/api/v1/quotes/${id}/direct_debit_details`, bankDetails(world))
  if (step === 'confirm') await world.send('POST', `/api/v1/quotes/${id}/confirm`, {})
  if (step === 'bind') await bind(world, id)
  world.touch('quote', id, of)
  world.touch('application', of)
}

const bind = async (world: World, quote_id: string): Promise<void> => {
  const start = world.chance(0.5) ? { collection_day: world.one(1, 7, 14) } : {}
  const bound = await world.send('POST', `/api/v1/quotes/${quote_id}/bind`, start)
  world.touch('policy', bound?.['id'])
}

const buy: Act = async (world) => {
  const started = { product_slug: 'simple-life', journey_slug: 'standard' }
  const made = await world.send('POST', '/api/v1/applications', started)
  const id = world.touch('application', made?.['id'])?.id
  if (id === undefined) return
  await saveCustomer(world, id)
  await saveCover(world, id)
  const quoted = await price(world, id)
  if (quoted === undefined) return
  await world.send('POST', `/api/v1/quotes/${quoted}/direct_debit_details`, bankDetails(world))
  await bind(world, quoted)
}

// Policies

const servicePolicy: Act = async (world) => {
  const policy = world.some('policy')
  if (!policy) return
  const at = `${world.admin}/policies/${policy.id}`
  const amended = { components: [{ cover_index: 0, premium_pence: Math.ceil(world.random() * 5_000) }] }
  const [path, body] = world.one<readonly [string, object]>(
    ['amendment', { ...amended, note: 'As agreed q.' }],
    ['amendment', { collection_day: world.one(1, 14) }],
    ['suspension', {}],
    ['reinstatement', {}],
    ['mandate', bankDetails(world)],
  )
  await world.send('POST', `${at}/${path}`, body)
  world.touch('policy', policy.id)
}

const cancel: Act = async (world) => {
  const policy = world.some('policy')
  if (!policy) return
  const because = { reason: world.one('customer_request', 'cooling_off', 'other'), note: 'By telephone q.' }
  await world.send('POST', `${world.admin}/policies/${policy.id}/cancellation`, because)
  world.touch('policy', policy.id)
}

const openClaim: Act = async (world) => {
  const policy = world.some('policy')
  if (!policy) return
  const claim = { claim_type: 'life', happened_on: today(world), amount_pence: 1_000_000, note: 'q saw it.' }
  const opened = await world.send('POST', `${world.admin}/policies/${policy.id}/claims`, claim)
  world.touch('claim', opened?.['claim_id'], policy.id)
  world.touch('policy', policy.id)
}

const decideClaim: Act = async (world) => {
  const claim = world.some('claim')
  if (!claim) return
  const decision = world.one('request_evidence', 'approve', 'decline', 'pay', 'reopen', 'close')
  const body = { decision, note: 'As the q report says.' }
  await world.send('POST', `${world.admin}/policies/${claim.of ?? ''}/claims/${claim.id}/decisions`, body)
  world.touch('policy', claim.of)
}

const actOnPremium: Act = async (world) => {
  const policy = world.some('policy')
  if (!policy) return
  const query = `organisation_id=${world.organisation_id}&policy_id=${policy.id}`
  const listed = await world.send('GET', `/admin/v1/premiums?${query}`)
  const premiums = (listed ?? []) as unknown as readonly Data[] // a list
  const premium = premiums[Math.floor(world.random() * premiums.length)]
  if (!premium) return
  const because = { reason: 'The customer q asked for it.' }
  const [path, body] = world.one<readonly [string, object]>(
    ['retry', because],
    ['refund', { refund_pence: 5, ...because }],
    ['refund', { all: true, ...because }],
    ['write_off', because],
  )
  await world.send(
    'POST',
    `${world.admin}/policies/${policy.id}/premiums/${String(premium['premium_id'])}/${path}`,
    body,
  )
  world.touch('policy', policy.id)
}

// Leads

const purposes = ['service', 'first_party_marketing', 'third_party_marketing'] as const

const sendLead: Act = async (world) => {
  const number = world.chance(0.7) ? world.next() : Math.ceil(world.random() * 40)
  const { email, ...names } = personOf(number)
  const identity = { ...names, email, ...(world.chance(0.5) && { phone: phoneOf(number) }), match_on_details: true }
  const consent = {
    method: 'a form',
    wording: 'I agree q',
    [world.one(...purposes)]: { email: world.chance(0.8), phone: world.chance(0.5) },
  }
  const sent = await world.send('POST', '/api/v1/crm/ingests', {
    source: 'website',
    source_reference: `reference-${world.next()}`,
    identity,
    ...(world.chance(0.7) && { consent }),
    ...(world.chance(0.3) && { campaign: world.one('plain', 'strict') }),
    ...(world.chance(0.3) && { declared: { pet: `Rex q ${number}` } }),
    ...(world.chance(0.1) && { text: `I am ${names.first_name}.` }),
  })
  world.touch('ingest', sent?.['id'])
  world.touch('person', sent?.['contact_id'])
}

const sendNobody: Act = async (world) => {
  const sent = await world.send('POST', '/api/v1/crm/ingests', { source: 'list', data: { note: `q ${world.next()}` } })
  world.touch('ingest', sent?.['id'])
}

const settleIngest: Act = async (world) => {
  const ingest = world.some('ingest')
  if (!ingest) return
  const [path, body] = world.one<readonly [string, object]>(
    ['accept', {}],
    ['discard', { note: 'A test q.' }],
    ['pick_person', { contact_id: null }],
    ['pick_person', { contact_id: world.some('person')?.id ?? null }],
  )
  const settled = await world.send('POST', `${world.admin}/ingests/${ingest.id}/${path}`, body)
  world.touch('ingest', ingest.id)
  world.touch('person', settled?.['contact_id'])
}

/** Whom an ingest was found to be about is told a little later. */
const learnPerson: Act = async (world) => {
  const ingest = world.some('ingest')
  if (!ingest) return
  const shown = await world.send('GET', `${world.admin}/ingests/${ingest.id}`)
  world.touch('person', shown?.['contact_id'])
}

const workLead: Act = async (world) => {
  const person = world.some('person')
  if (!person) return
  const number = world.next()
  const act = world.one<object>(
    { act: 'change_status', status: world.one('open', 'lost', 'not_interested', 'won'), reason: 'no' },
    { act: 'record_activity', kind: 'call', summary: `Called q ${number}`, direction: 'outbound' },
    { act: 'record_activity', kind: 'complaint', summary: `Was cross q ${number}`, channel: 'phone' },
    { act: 'record_facts', facts: { budget: number, hobby: `chess q ${number}` } },
    { act: 'flag_vulnerability', flagged: world.chance(0.7), details: 'Ill q' },
    { act: 'set_next_action', next_action: { type: 'call', summary: `Call q ${number}`, due_at: now(world) } },
    { act: 'add_task', title: `Ring q ${number}` },
    { act: 'snooze', until: new Date(Date.parse(now(world)) + 86_400_000).toISOString() },
    { act: 'end_snooze' },
    { act: 'set_outcome_reason', reason: 'price', note: `q ${number}` },
    { act: 'mark', priority: world.one('low', 'high'), follow_up: world.chance(0.5), archived: world.chance(0.2) },
    { act: 'mark', external_system_id: `crm-q-${number}` },
  )
  await world.send('POST', `${world.admin}/leads/${person.id}/acts`, { acts: [act] })
  world.touch('person', person.id)
}

const reportOutcome: Act = async (world) => {
  const person = world.some('person')
  const number = world.next()
  const about =
    person && world.chance(0.8)
      ? { contact_id: person.id }
      : { lead: { email: personOf(Math.ceil(world.random() * 60)).email, match_on_details: true } }
  const report = { type: world.one('quoted', 'sold'), occurred_at: now(world), event_id: `event-${number}`, ...about }
  const made = await world.send('POST', '/api/v1/crm/outcomes', report)
  if (made?.['status'] !== 'held') world.touch('outcome', made?.['id'])
  world.touch('person', person?.id)
}

const reverseOutcome: Act = async (world) => {
  const outcome = world.some('outcome')
  if (!outcome) return
  const reversed = await world.send('POST', `/api/v1/crm/outcomes/${outcome.id}/reverse`, { note: 'q mistake' })
  world.touch('person', reversed?.['contact_id'])
}

const sayConsent: Act = async (world) => {
  const person = world.some('person')
  if (!person) return
  const entry = {
    purpose: world.one(...purposes),
    channel: world.one('email', 'phone', 'sms'),
    state: world.one('granted', 'refused', 'withdrawn'),
  }
  const said = { entries: [entry], method: 'by phone q', wording: 'May we call, q?' }
  await world.send('POST', `${world.admin}/people/${person.id}/consent`, said)
  world.touch('person', person.id)
}

// Complaints

const causes = ['advice_and_sale', 'administration_and_service', 'claim', 'other'] as const

const complain: Act = async (world) => {
  const person = world.some('person')
  if (!person) return
  const complaint = {
    contact_id: person.id,
    cause: world.one(...causes),
    description: `Nobody answers q ${world.next()}.`,
  }
  const opened = await world.send('POST', `${world.admin}/complaints`, complaint)
  world.touch('complaint', opened?.['id'])
}

const answerComplaint: Act = async (world) => {
  const complaint = world.some('complaint')
  if (!complaint) return
  const [path, body] = world.one<readonly [string, object]>(
    ['notes', { note: `Called back q ${world.next()}.` }],
    ['decisions', { decision: world.one('upheld', 'partly_upheld', 'rejected'), reason: 'We forgot q.' }],
    ['redress', { amount_pence: 5_000, action: 'A letter q.' }],
    ['referral', { referred_on: today(world), reference: 'PNX-q-1' }],
    ['closing', { withdrawn: world.chance(0.3) }],
  )
  await world.send('POST', `${world.admin}/complaints/${complaint.id}/${path}`, body)
  world.touch('complaint', complaint.id)
}

// Members, and messages to people

const programmes = async (world: World): Promise<string> => {
  const listed = await world.send('GET', `${world.admin}/programmes`)
  const [first] = (listed ?? []) as unknown as readonly Data[] // a list
  return String(first?.['id'])
}

const enrol: Act = async (world) => {
  const enrolment = { policy_number: `OUTSIDE-${world.next()}` }
  const made = await world.send('POST', `${world.admin}/programmes/${await programmes(world)}/memberships`, enrolment)
  world.touch('member', made?.['id'])
}

const changeMember: Act = async (world) => {
  const member = world.some('member')
  if (!member) return
  const status = { status: world.one('active', 'suspended', 'cancelled') }
  await world.send('PATCH', `/api/v1/programme_memberships/${member.id}`, status)
  world.touch('member', member.id)
}

const earn: Act = async (world) => {
  const member = world.some('member')
  if (!member) return
  const entries = [
    { idempotency_key: `walk-${world.next()}`, entry_type: 'points_awarded', points: 250, payload: { q: 'steps' } },
    { idempotency_key: `tier-${world.next()}`, entry_type: 'tier_asserted', tier_key: world.one('silver', 'gold') },
  ]
  await world.send('POST', `/api/v1/programme_memberships/${member.id}/events`, { events: entries })
  world.touch('member', member.id)
}

const makeStream: Act = async (world) => {
  const made = await world.send('POST', `${world.admin}/outreach_streams`, {
    slug: `stream-${world.next()}`,
    kind: 'mailshot',
    name: 'A letter',
    purpose: world.one(...purposes),
    auto_send: world.chance(0.5),
    texts: [{ subject: 'Hello {{first_name}}', body: 'Hello {{first_name}}, a word from us.' }],
  })
  world.touch('stream', made?.['id'])
}

const steerStream: Act = async (world) => {
  const stream = world.some('stream')
  if (!stream) return
  const act = world.one('start', 'start', 'pause', 'resume', 'stop', 'reopen')
  await world.send('POST', `${world.admin}/outreach_streams/${stream.id}/acts`, { act })
  world.touch('stream', stream.id)
}

const joinStream: Act = async (world) => {
  const [stream, person] = [world.some('stream'), world.some('person')]
  if (!stream || !person) return
  const people = [{ contact_id: person.id }]
  await world.send('POST', `${world.admin}/outreach_streams/${stream.id}/members`, { people })
  world.touch('stream', stream.id)
  world.touch('person', person.id)
}

// What is set up

const integrate: Act = async (world) => {
  const inbound = { event_type_path: 'type', signing_secret: 'webhook_secret' }
  const name = `Integration ${world.next()}`
  const made = await world.send('POST', `${world.admin}/custom_integrations`, { name, inbound })
  const id = world.touch('integration', made?.['id'])?.id
  if (id === undefined) return
  const connection = { name: `connection-${world.next()}`, secrets: { webhook_secret: '' } }
  const connected = await world.send('POST', `${world.admin}/custom_integrations/${id}/connections`, connection)
  world.touch('connection', connected?.['id'])
}

const revoke: Act = async (world) => {
  const connection = world.some('connection')
  if (!connection) return
  await world.send('POST', `${world.admin}/integration_connections/${connection.id}/revoke`, {})
  world.touch('connection', connection.id)
}

const setUp: Act = async (world) => {
  const number = world.next()
  const [path, body] = world.one<readonly [string, object]>(
    ['campaigns', { key: `campaign-${number}`, name: 'Another' }],
    ['users', { name: `Olive q ${number}`, email: `olive-${number}@firm.test`, roles: ['leads'] }],
    ['api_applications', { name: `Server ${number}`, scopes: ['read'] }],
    ['endpoint_connections', { name: `receiver-${number}`, base_url: 'https://receiver.example.com/hooks' }],
    [
      'workflows',
      {
        name: `Workflow ${number}`,
        trigger: { event_type: 'activity.booking' },
        actions: [{ kind: 'webhook', endpoint_connection: 'crm' }],
      },
    ],
    [
      'lifecycle_actions',
      { name: `Action ${number}`, event_types: ['policy.bound'], endpoint_connection: 'crm', active: false },
    ],
  )
  await world.send('POST', `${world.admin}/${path}`, body)
}

const publish: Act = async (world) => {
  const version = world.next()
  await world.send('POST', '/admin/v1/setup?apply=true', randomFirm(world.provider, version, `Simple Life ${version}`))
}

// Time, and the end

const passTime: Act = async (world) => {
  await world.send('POST', '/admin/v1/clock', { forward_seconds: world.one(3_600, 86_400, 5 * 86_400) })
}

const erase: Act = async (world) => {
  const person = world.some('person')
  if (!person) return
  const erased = await world.send('POST', `${world.admin}/people/${person.id}/erasure`, {})
  if (erased) world.touch('erased', person.id)
}

/** Each act as often, beside the others, as its number says. */
const weights: readonly (readonly [Act, number])[] = [
  [startApplication, 3],
  [sayWho, 6],
  [answer, 6],
  [quote, 5],
  [reject, 1],
  [goOn, 6],
  [buy, 3],
  [servicePolicy, 6],
  [cancel, 1],
  [openClaim, 2],
  [decideClaim, 4],
  [actOnPremium, 3],
  [sendLead, 8],
  [sendNobody, 1],
  [settleIngest, 3],
  [learnPerson, 4],
  [workLead, 12],
  [reportOutcome, 4],
  [reverseOutcome, 1],
  [sayConsent, 4],
  [complain, 2],
  [answerComplaint, 5],
  [enrol, 2],
  [changeMember, 2],
  [earn, 3],
  [makeStream, 1],
  [steerStream, 2],
  [joinStream, 4],
  [integrate, 1],
  [revoke, 0.5],
  [setUp, 1],
  [publish, 0.2],
  [passTime, 0.5],
  [erase, 0.7],
]
const total = weights.reduce((sum, [, weight]) => sum + weight, 0)

/** Something happens. */
export const actAtRandom: Act = async (world) => {
  let left = world.random() * total
  for (const [act, weight] of weights) {
    left -= weight
    if (left < 0) return act(world)
  }
}
