import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { readOptions } from '#infra/command-line.ts'
import { readConfig } from '#infra/config.ts'
import { isCode, standInAddress } from '../stand-ins/demo.ts'
import { readOwnSecrets } from '#infra/local-installation.ts'
import { nothingToDeclare } from './answers.ts'
import { demoApplication, demoReceiver } from './demo.ts'
import { playMembership, playOutreach } from './members-and-leads.ts'
import { sales, type Sale } from './products.ts'
import { startReceiver } from './receiver.ts'

readOptions(
  `Usage: npm run demo

Plays the main job against a running service over HTTP, from a token to the signed webhooks, and shows each step. The service is
found by BASE_URL and DATA_DIR.
`,
  {},
)

const { BASE_URL, DATA_DIR, OPERATOR_KEY } = readConfig(process.env)
const operatorKey = OPERATOR_KEY ?? (await readOwnSecrets(DATA_DIR))?.OPERATOR_KEY
const [client, connection] = await Promise.all([demoApplication(), demoReceiver()])
const colour = (code: number, text: string) => (process.stdout.isTTY ? `\u001b[${code}m${text}\u001b[0m` : text)
const pounds = (pence: number) => `£${(pence / 100).toFixed(2)}`

/** Runs a step, and says what it gave; the first that fails ends the journey. */
const step = async <Result>(what: string, work: () => Promise<readonly [result: Result, shown: string]>) => {
  const begun = performance.now()
  try {
    const [result, shown] = await work()
    const ms = Math.round(performance.now() - begun)
    process.stdout.write(`${colour(32, '✔')} ${what.padEnd(38)} ${shown} ${colour(90, `${ms} ms`)}\n`)
    return result
  } catch (error) {
    process.stdout.write(
      `${colour(31, '✘')} ${what.padEnd(38)} ${error instanceof Error ? error.message : String(error)}\n`,
    )
    process.exit(1)
  }
}

const Token = z.object({ access_token: z.string(), scope: z.string(), expires_in: z.int() })
const Products = z.object({
  data: z.array(z.object({ slug: z.string(), name: z.string(), lifecycle_state: z.string() })),
})
const Questions = z.object({
  data: z.object({ questions: z.array(z.object({ key: z.string(), question_type: z.string(), label: z.string() })) }),
})
const Application = z.object({
  data: z.object({ id: z.uuid(), status: z.string(), created_at: z.string(), share_token: z.string() }),
})
const Quote = z.object({
  data: z.object({
    id: z.uuid(),
    premium_pence: z.int(),
    decision: z.string(),
    expires_at: z.string(),
    status: z.string(),
  }),
})

const BeforeYouBuy = z.object({ data: z.object({ steps: z.array(z.string()), key_documents: z.array(z.unknown()) }) })
const BankDetails = z.object({ data: z.object({ account_number_last4: z.string() }) })
const Policy = z.object({
  data: z.object({
    policy_number: z.string(),
    premium_pence: z.int(),
    start_date: z.string(),
    first_collection_on: z.string(),
  }),
})
const Intent = z.object({ data: z.object({ payment_intent: z.object({ id: z.string() }) }) })
const Paid = z.object({ data: z.object({ status: z.enum(['succeeded', 'authorised']) }) })
const Confirmed = z.object({ data: z.object({ owed: z.array(z.string()) }) })

const Searched = z.object({
  data: z.object({
    market_quotes: z.object({
      status: z.string(),
      results: z.array(z.object({ status: z.string(), premium_pence: z.int() })),
    }),
  }),
})

let token = ''
let joint = ''

const sendBy = async <Schema extends z.ZodType>(
  key: string,
  schema: Schema,
  method: string,
  path: string,
  body?: object,
) => {
  const response = await fetch(`${BASE_URL}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  }).catch(() => {
    throw new Error(`Nothing answers at ${BASE_URL}. Start the service first (npm start), or name its BASE_URL.`)
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return schema.parse(await response.json())
}

const send = async <Schema extends z.ZodType>(schema: Schema, method: string, path: string, body?: object) =>
  sendBy(token, schema, method, path, body)
const operate = async <Schema extends z.ZodType>(schema: Schema, method: string, path: string, body?: object) => {
  if (operatorKey === undefined) throw new Error('Give OPERATOR_KEY, or the DATA_DIR that npm start was given.')
  return sendBy(operatorKey, schema, method, path, body)
}

const answers = nothingToDeclare
const customer = {
  first_name: 'Grace',
  last_name: 'Okafor',
  email: `grace.${Date.now()}@example.com`,
  dob: '1992-03-10',
  address_line1: '10 Downing Street',
  city: 'London',
  postal_code: 'sw1a1aa',
}

const direct_debit = { account_holder_name: 'Grace Okafor', sort_code: '08-99-99', account_number: '66374958' }

/** Another journey that is under way listens at the same address until it ends. */
const onceFree = async <Started>(start: () => Promise<Started>, seconds = 90): Promise<Started> =>
  start().catch(async (error: unknown) => {
    if (!isCode(error, 'EADDRINUSE') || seconds === 0) throw error
    await pause(1_000)
    return onceFree(start, seconds - 1)
  })

const receiver = await step('listen for webhooks', async () => {
  const { port } = new URL(await standInAddress('receiver', DATA_DIR))
  const started = await onceFree(() => startReceiver({ port: Number(port), secret: connection.signing_secret }))
  return [started, started.url]
})

await step('get a token', async () => {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    ...client,
    scope: 'read write crm',
    resource: `${BASE_URL}/api/v1`,
  })
  const response = await fetch(`${BASE_URL}/oauth/token`, { method: 'POST', body: form }).catch(() => {
    throw new Error(`Nothing answers at ${BASE_URL}. Start the service first (npm start), or name its BASE_URL.`)
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  const { access_token, scope, expires_in } = Token.parse(await response.json())
  token = access_token
  return [undefined, `${scope}, for ${expires_in / 3600} hours`]
})

await step('read products', async () => {
  const { data } = await send(Products, 'GET', '/api/v1/products')
  return [undefined, data.map(({ name, lifecycle_state }) => `${name} (${lifecycle_state})`).join(', ')]
})

await step('read questions', async () => {
  const { data } = await send(Questions, 'GET', '/api/v1/products/term-life/journeys/standard/questions')
  const asked = data.questions.filter(({ question_type }) => question_type !== 'derived')
  return [undefined, `${asked.length} questions, the first: ${asked[0]?.label ?? ''}`]
})

const { id } = await step('start an application', async () => {
  const { data } = await send(Application, 'POST', '/api/v1/applications', {
    product_slug: 'term-life',
    journey_slug: 'standard',
    idempotency_key: `journey-${Date.now()}`,
  })
  return [data, `${data.id}, ${data.status}`]
})

await step('save answers', async () => {
  await send(Application, 'PATCH', `/api/v1/applications/${id}`, { answers })
  return [undefined, `${Object.keys(answers).length} answers`]
})

await step('save cover', async () => {
  await send(Application, 'PATCH', `/api/v1/applications/${id}`, { cover_amount_pence: 25_000_000, term_years: 25 })
  return [undefined, '£250,000 for 25 years']
})

await step('save the customer', async () => {
  const { data } = await send(Application, 'PATCH', `/api/v1/applications/${id}/customer`, { customer })
  return [undefined, `${customer.first_name} ${customer.last_name}, ${data.status}`]
})

const quote = await step('get a price', async () => {
  const { data } = await send(Quote, 'POST', `/api/v1/applications/${id}/quotes`)
  return [data, `${pounds(data.premium_pence)} a month (${data.decision}), until ${data.expires_at.slice(0, 10)}`]
})

await step('accept it', async () => {
  const { data } = await send(Application, 'POST', `/api/v1/applications/${id}/accept_quote`, { quote_id: quote.id })
  return [undefined, `application ${data.status}`]
})

await step('show what must be seen before buying', async () => {
  const { data } = await send(BeforeYouBuy, 'GET', `/api/v1/quotes/${quote.id}/before_you_buy`)
  return [undefined, `${data.steps.length} steps, ${data.key_documents.length} documents`]
})

await step('confirm it', async () => {
  const { data } = await send(Confirmed, 'POST', `/api/v1/quotes/${quote.id}/confirm`)
  return [undefined, data.owed.length === 0 ? 'nothing is owed any more' : `owed: ${data.owed.join(', ')}`]
})

await step('send bank details', async () => {
  const { data } = await send(BankDetails, 'POST', `/api/v1/quotes/${quote.id}/direct_debit_details`, { direct_debit })
  return [undefined, `account ending ${data.account_number_last4}`]
})

const { policy_number } = await step('set the policy up', async () => {
  const { data } = await send(Policy, 'POST', `/api/v1/quotes/${quote.id}/bind`)
  return [data, `${data.policy_number}, from ${data.start_date}, first collection on ${data.first_collection_on}`]
})

await step('read the quote back', async () => {
  const { data } = await send(Quote, 'GET', `/api/v1/quotes/${quote.id}`)
  return [undefined, `${data.status}, ${pounds(data.premium_pence)}`]
})

await step('start an application of two people', async () => {
  const { data } = await send(Application, 'POST', '/api/v1/applications', {
    product_slug: 'joint-term-life',
    journey_slug: 'standard',
    customer: { ...customer, email: `joint.${customer.email}` },
  })
  joint = data.id
  const cover = { cover_amount_pence: 25_000_000, term_years: 25 }
  await send(Application, 'PATCH', `/api/v1/applications/${joint}`, { answers, ...cover })
  return [undefined, data.id]
})

/** Saves the second person with answers of their own, and prices both. */
const priceWith = async (smoker: 'yes' | 'no') => {
  await send(Application, 'PATCH', `/api/v1/applications/${joint}/partner`, {
    partner: { first_name: 'Sam', last_name: 'Okafor', dob: '1990-07-21' },
    answers: { ...answers, smoker, ...(smoker === 'yes' && { nicotine_products: ['vape'] }) },
  })
  return (await send(Quote, 'POST', `/api/v1/applications/${joint}/quotes`)).data.premium_pence
}

const forTwo = await step('get a price for two people', async () => {
  const price = await priceWith('no')
  if (price <= quote.premium_pence) throw new Error('Two people cost no more than one.')
  return [price, `${pounds(price)} a month`]
})

await step('change an answer of the second one', async () => {
  const price = await priceWith('yes')
  if (price <= forTwo) throw new Error('The answers of the second person do not change the price.')
  return [undefined, `${pounds(price)} a month, since the second person smokes`]
})

const day = 86_400_000
/** Someone of that age, a hundred days after a birthday. */
const bornFor = (age: number, now: string): string => {
  const birthday = new Date(Date.parse(now) - 100 * day)
  birthday.setUTCFullYear(birthday.getUTCFullYear() - age)
  return birthday.toISOString().slice(0, 10)
}

/** Starts an application for a product with all that its price needs. */
const applyFor = async ({ slug, age, answers: given, cover }: Pick<Sale, 'slug' | 'age' | 'answers' | 'cover'>) => {
  const { data } = await send(Application, 'POST', '/api/v1/applications', {
    product_slug: slug,
    journey_slug: 'standard',
  })
  if (Object.keys({ ...given, ...cover }).length > 0)
    await send(Application, 'PATCH', `/api/v1/applications/${data.id}`, { answers: given, ...cover })
  const buyer = { ...customer, email: `${slug}.${customer.email}`, dob: bornFor(age, data.created_at) }
  await send(Application, 'PATCH', `/api/v1/applications/${data.id}/customer`, { customer: buyer })
  return data.id
}

/** Pays the first premium as the customer would on the provider's form, which its stand-in fills in. */
const payByCard = async (quote_id: string) => {
  const { data } = await send(Intent, 'POST', `/api/v1/quotes/${quote_id}/payment_intent`)
  const payment_intent_id = data.payment_intent.id
  const form = `${await standInAddress('stripe', DATA_DIR)}/stand-in/payment_intents/${payment_intent_id}/confirm`
  const filledIn = await fetch(form, { method: 'POST', body: new URLSearchParams({ payment_method: 'pm_card_visa' }) })
  if (!filledIn.ok) throw new Error(`The payment provider answered ${filledIn.status}.`)
  await send(Paid, 'POST', `/api/v1/quotes/${quote_id}/card_payment`, { payment_intent_id })
}

const buy = async (sale: Sale) => {
  const application = await applyFor(sale)
  const { data: priced } = await send(Quote, 'POST', `/api/v1/applications/${application}/quotes`)
  if (priced.premium_pence !== sale.premium_pence)
    throw new Error(`The price is ${pounds(priced.premium_pence)}; it must be ${pounds(sale.premium_pence)}.`)
  await send(Confirmed, 'POST', `/api/v1/quotes/${priced.id}/confirm`)
  if (sale.paysByCard) await payByCard(priced.id)
  await send(BankDetails, 'POST', `/api/v1/quotes/${priced.id}/direct_debit_details`, { direct_debit })
  const { data: policy } = await send(Policy, 'POST', `/api/v1/quotes/${priced.id}/bind`)
  return `${pounds(policy.premium_pence)} a month for ${sale.what}: policy ${policy.policy_number}`
}

// Its providers take some seconds, in which the products of our own are bought.
const search = await step('ask the market', async () => {
  const cover = { cover_amount_pence: 20_000_000, term_years: 25 }
  const application = await applyFor({ slug: 'market-term', age: 34, answers: { smoker: 'no' }, cover })
  await send(Searched, 'POST', `/api/v1/applications/${application}/market_quotes`)
  return [application, application]
})

for (const sale of sales) await step(`buy: ${sale.product_type}`, async () => [undefined, await buy(sale)])

await step('read what the market offers', async () => {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await pause(200)) {
    const { data } = await send(Searched, 'GET', `/api/v1/applications/${search}`)
    const { status, results } = data.market_quotes
    if (status === 'failed') throw new Error('The search failed.')
    if (status === 'completed') {
      const priced = results.filter((result) => result.status === 'success')
      const cheapest = Math.min(...priced.map(({ premium_pence }) => premium_pence))
      return [undefined, `${results.length} providers, ${priced.length} prices from ${pounds(cheapest)} a month`]
    }
  }
  throw new Error('The search did not end within a minute.')
})

const own = (type: string) =>
  receiver.requests.find(
    ({ raw_body, refused }) => refused === undefined && raw_body.includes(id) && raw_body.includes(`"type":"${type}"`),
  )

for (const type of ['application.started', 'quote.issued', 'quote.accepted'])
  await step(`receive ${type}`, async () => {
    for (let count = 1; !own(type); count++) await receiver.untilRequested(count)
    const received = own(type)
    const leaked = Object.keys(answers).find((question) => received?.raw_body.includes(`"${question}"`))
    if (leaked !== undefined) throw new Error(`The webhook holds the answer to ${leaked}.`)
    return [undefined, `signature verified, Idempotency-Key ${received?.idempotency_key ?? ''}`]
  })

const Ingest = z.object({ data: z.object({ id: z.uuid(), status: z.string() }) })

const lead = await step('send a lead', async () => {
  const { data } = await send(Ingest, 'POST', '/api/v1/crm/ingests', {
    source: 'journey',
    campaign: 'life-spring',
    identity: {
      first_name: 'Ada',
      last_name: 'Lane',
      email: `ada.${Date.now()}@example.com`,
      phone: `07400 ${String(Date.now() % 1_000_000).padStart(6, '0')}`,
      dob: '1990-02-03',
      postal_code: 'SW1A 1AA',
    },
    declared: { product_interest: 'life' },
  })
  return [data.id, data.status]
})

await step('receive lead.created', async () => {
  const isOwn = ({ raw_body, refused }: (typeof receiver.requests)[number]) =>
    refused === undefined && raw_body.includes(lead) && raw_body.includes('"event_type":"lead.created"')
  for (let count = 1; !receiver.requests.some(isOwn); count++) await receiver.untilRequested(count)
  return [undefined, `signature verified, Idempotency-Key ${receiver.requests.find(isOwn)?.idempotency_key ?? ''}`]
})

const organisation_id = await step('act as the operator', async () => {
  const Organisations = z.object({ data: z.array(z.object({ id: z.uuid(), slug: z.string(), name: z.string() })) })
  const { data } = await operate(Organisations, 'GET', '/admin/v1/organisations?limit=200')
  const own = data.find(({ slug }) => slug === 'northlight')
  if (!own) throw new Error('The demo organisation is not set up.')
  return [own.id, own.name]
})
const journey = { step, send, operate, organisation_id }
await playMembership(journey, policy_number)
await playOutreach(journey, { gateway: await standInAddress('messageGateway', DATA_DIR), baseUrl: BASE_URL })

await receiver.close()
process.stdout.write(`\n${colour(32, 'Every step is green.')}\n`)
