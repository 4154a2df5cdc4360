import type autocannon from 'autocannon'
import { Client } from 'pg'
import { generateTable, tableDesigns } from '#domain/rating/generator.ts'
import { standardFactors } from '#domain/rating/factors.ts'
import { price } from '#domain/rating/price.ts'
import type { PricingRequest } from '#domain/rating/request.ts'
import { standardUnderwriting } from '#domain/rating/underwriting.ts'
import type { RatedCover } from '#domain/rating/events.ts'
import { CoverId } from '#domain/values.ts'
import { lifeTerms } from '../test/rating/cover.ts'
import { applications as applicationsModel } from '../projections/applications/projection.ts'
import { dueTimes } from '../projections/due-times/projection.ts'
import { quotes as quotesModel } from '../projections/quotes/projection.ts'
import { afterWarmUp, insertedRow, load, startBare, type Bare } from './api.ts'
import type { Environment } from './environment.ts'
import { rated, type Figure } from './figure.ts'
import { costMeters } from './processor-time.ts'
import { fillIn, startService, type Service } from './service.ts'
import type { Pace } from './throughput.ts'

const connections = 32
/** Every load has as many of its own, since an application that is quoted again and again has a longer stream. */
const applications = 200

const day = 86_400_000
const dateIn = (days: number): string => new Date(Date.now() + days * day).toISOString().slice(0, 10)

/** Each time for another day, so that every request issues a quote and none is answered the former one. */
const quoting = (ids: readonly string[]): autocannon.Request => {
  let asked = 0
  return {
    method: 'POST',
    setupRequest: (request) => {
      const number = asked++
      const start_date = dateIn(2 + (Math.floor(number / ids.length) % 60))
      const path = `/api/v1/applications/${ids[number % ids.length]}/quotes`
      return { ...request, path, body: JSON.stringify({ start_date }) }
    },
  }
}

type Bench = {
  readonly service: Service
  readonly bare: Bare
  readonly meters: Awaited<ReturnType<typeof costMeters>>
  readonly idsOf: (turn: number) => readonly string[]
}

const measureRate = async ({ service, bare, meters, idsOf }: Bench, { rounds, seconds }: Pace): Promise<Figure> => {
  const { origin: url, headers } = service
  const request = quoting(idsOf(0))
  const floor = () => load(seconds, { ...bare, connections, requests: [insertedRow()] })
  const ours = () => load(seconds, { url, connections, headers, requests: [request] })
  const measured = await afterWarmUp(rounds, meters.floor(seconds, floor), meters.ours(seconds, ours))
  const details = meters.details(rounds)
  return rated(`POST quote, ${connections} connections, to a row inserted`, measured, {
    target: { ratio: 0.4 },
    details,
  })
}

/** How many applications are added by a statement. */
const batch = 50_000

/** Copies of an application, its quote, what is due of it and its events; those come before all others in the log. */
const filling = (): string => {
  const copied = ({ columns }: { readonly columns: object }, others: Readonly<Record<string, string>>) => {
    const names = Object.keys(columns)
    return `(${names.join(', ')}) select ${names.map((name) => others[name] ?? `one.${name}`).join(', ')}`
  }
  const { table } = applicationsModel
  return `
    with added as materialized (
      select gen_random_uuid() as application, gen_random_uuid() as quote from generate_series(1, ${batch})
    ), filled_applications as (
      insert into applications ${copied(table, { id: 'application' })}
      from added, (select * from applications where id = $1) as one
    ), filled_quotes as (
      insert into quotes ${copied(quotesModel.table, { id: 'quote', application_id: 'application' })}
      from added, (select * from quotes where application_id = $1 limit 1) as one
    ), filled_times as (
      insert into due_times ${copied(dueTimes.table, { id: 'gen_random_uuid()', stream: `'application-' || application` })}
      from added, (select * from due_times where stream = 'application-' || $1) as one
    )
    insert into event_log.event (transaction_id, revision, id, schema_version, stream, category, type, data, metadata)
    select 0, revision, gen_random_uuid(), schema_version, 'application-' || application, category, type, data, metadata
    from added, (select * from event_log.event where stream = 'application-' || $1 and revision < 8) as one`
}

const fill = async (database: string, copied: string, count: number): Promise<void> => {
  const client = new Client({ connectionString: database })
  await client.connect()
  for (let made = 0; made < count; made += batch) {
    await client.query(filling(), [copied])
    process.stdout.write(`${made + batch} applications filled in\n`)
  }
  await client.query('vacuum analyze')
  await client.query('checkpoint')
  await client.end()
}

/** The same requests before and after the database is filled: what they lose by it. */
const measureFilled = async (bench: Bench, { rounds, seconds, applications: many }: Pace) => {
  const { service, idsOf } = bench
  const { origin: url, headers } = service
  const both = (ids: readonly string[]) => {
    const request = quoting(ids)
    const paths = ids.map((id) => ({ path: `/api/v1/applications/${id}` }))
    return {
      quotes: () => load(seconds, { url, connections, headers, requests: [request] }),
      reads: () => load(seconds, { url: service.reads, connections, headers, requests: paths }),
    }
  }
  const few = both(idsOf(1))
  const before = await afterWarmUp(rounds, few.quotes, few.reads)
  await fill(service.database, idsOf(0)[0] ?? '', many)
  const filled = both(idsOf(2))
  const after = await afterWarmUp(rounds, filled.quotes, filled.reads)
  const name = (what: string) => `${what}, ${connections} connections, with ${many} applications to with few`
  const target = { ratio: 0.9 }
  return [
    rated(name('POST quote'), { ours: after.floor, floor: before.floor }, { target }),
    rated(name('GET application'), { ours: after.ours, floor: before.ours }, { target }),
  ]
}

const cover = (cover_index: number, changes: Partial<RatedCover>): RatedCover => ({
  id: CoverId.parse(`00000000-0000-4000-8000-00000000000${cover_index}`),
  display_id: '',
  cover_index,
  ...lifeTerms,
  age_at_entry_max: 64,
  max_age_at_expiry: 70,
  ...changes,
})

const bundleForTwo = (): PricingRequest => {
  const tables = tableDesigns
    .filter(({ key }) => key === 'life.level' || key === 'ci.standalone')
    .map(
      (design) =>
        [
          design.key,
          { ...generateTable(design), version: 1, currency_code: 'GBP', unit: 'rate_e4', source_note: '' } as const,
        ] as const,
    )
  const answers = { smoker: false, height_cm: 180, weight_kg: 100, blood_pressure: 'controlled', alcohol_units: 6 }
  return {
    release: {
      product_type: 'bundled',
      currency_code: 'GBP',
      covers: [cover(0, {}), cover(1, { cover_type: 'critical_illness', rate_table: 'ci.standalone' })],
      smoker: { key: 'smoker', values: [true] },
      policy_fee_pence: 150,
      underwriting: standardUnderwriting,
      factors: standardFactors,
      earnings: null,
    },
    rate_tables: new Map(tables),
    journey_loading: '1.10',
    start_date: '2027-01-01',
    lives: [
      { dob: '1990-01-01', answers },
      { dob: '1988-01-01', answers },
    ],
    cover_amount_pence: 20_000_000,
    term_years: 25,
    components: [],
  }
}

const calls = 20_000

/** Pricing alone, of two covers for two people with loadings, in milliseconds of this process's CPU. */
const measurePricing = (): Figure => {
  const request = bundleForTwo()
  if (price(request).outcome !== 'priced') throw new Error('There is no price.')
  for (let call = 0; call < calls; call++) price(request)
  const before = process.cpuUsage()
  for (let call = 0; call < calls; call++) price(request)
  const { user, system } = process.cpuUsage(before)
  return {
    name: 'CPU of pricing, two covers for two people',
    unit: 'ms',
    value: (user + system) / 1000 / calls,
    target: { below: 1 },
  }
}

/** Quotes a second against rows inserted, what a filled database costs them, and what pricing costs. */
export const measureQuotes = async (environment: Environment, pace: Pace): Promise<readonly Figure[]> => {
  const service = await startService(environment)
  const { bare, child } = await startBare(environment, service)
  const ids: string[] = []
  for (let number = 0; number < 3 * applications; number += connections) {
    const numbers = Array.from({ length: connections }, (_, index) => number + index)
    const made = await Promise.all(numbers.map(async (each) => fillIn(service, each)))
    ids.push(...made.map(({ id }) => id))
  }
  const idsOf = (turn: number) => ids.slice(turn * applications, (turn + 1) * applications)
  const meters = await costMeters(environment, { floor: child.pid, ours: service.child.pid })
  const bench = { service, bare, meters, idsOf }
  const figures = [measurePricing(), await measureRate(bench, pace), ...(await measureFilled(bench, pace))]
  await service.child.stop()
  await child.stop()
  return figures
}
