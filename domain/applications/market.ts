import type { Release } from '../catalogue/events.ts'
import { lifeKeysOf } from '../catalogue/record.ts'
import type { MarketQuoteEvent, MarketSearch, ReceivedResult } from '../market-quotes/events.ts'
import { isUnderWay, type MarketResult } from '../market-quotes/record.ts'
import { daysAfter } from '../dates.ts'
import { Rejection, type Fields } from '../rejection.ts'
import type { Answers } from './events.ts'
import { answersOfPartner } from './joint.ts'
import { missingForProviders } from './missing-answers.ts'
import { dobOf, isJoint, journeyOfApplication } from './record.ts'
import { closed, inputsRefused, refuseClosed } from './refusals.ts'
import { isOpen, pricedInputs, type ApplicationState } from './state.ts'

/** Asks the providers of the panel, unless they were asked the same before. */
export type SearchMarket = {
  readonly type: 'SearchMarket'
  readonly request_id: string
  readonly release: Release
  /** The date now, where the organisation is. */
  readonly today: string
  readonly now: string
  /** The time on the clock, whatever business time is. */
  readonly real_now: string
}

/** The panel's answer to a search. One that comes late, or twice, changes nothing. */
export type NoteMarketSearch = {
  readonly type: 'NoteMarketSearch'
  readonly request_id: string
  readonly search_id: string | null
  readonly provider_count: number
  readonly results: readonly ReceivedResult[]
  /** Set once nothing more comes: the panel has finished, or the time is over. */
  readonly ended: 'finished' | 'too_late' | null
}

export type SelectMarketResult = {
  readonly type: 'SelectMarketResult'
  readonly release: Release
  readonly result_id: string
  /** The date now, where the organisation is. */
  readonly today: string
  readonly now: string
}

type Decision = readonly MarketQuoteEvent[]

const notMarket = () =>
  new Rejection('not_market_product', 'This product is priced by its own rates. Quote the application instead.')

export const searchMarket = (command: SearchMarket, state: ApplicationState): Decision => {
  const { request_id, release, today, now, real_now } = command
  const { record } = state
  const { market_search: former } = record
  if (!release.whole_of_market) throw notMarket()
  if (!isOpen(record) && former) return []
  if (!isOpen(record)) throw new Rejection('mapping_incomplete', closed(record))

  const isSame = former && former.status !== 'failed' && state.searched_inputs === pricedInputs(state)
  const isHeld = isSame && !former.results.some((each) => each.status === 'success' && hasExpired(each, today))
  if (isHeld && Date.parse(now) < Date.parse(former.expires_at)) return []

  const search = searchOf(command, state)
  const { time_limit_seconds, valid_days } = release.market ?? { time_limit_seconds: 60, valid_days: 30 }
  return [
    {
      type: 'MarketSearchRequested',
      request_id,
      organisation_id: record.organisation_id,
      application_id: record.id,
      product_id: record.product_id,
      currency_code: release.currency_code,
      search,
      replaces: former && isUnderWay(former) ? former.request_id : null,
      expires_at: new Date(Date.parse(now) + valid_days * 86_400_000).toISOString(),
      deadline_at: new Date(Date.parse(real_now) + time_limit_seconds * 1000).toISOString(),
    },
  ]
}

/** A provider may hold its price for less long than the search holds. */
const hasExpired = ({ expiry_date }: MarketResult, today: string): boolean => expiry_date < today

const optionPrefix = 'options.'

/** The search sent to the providers; missing details that they need are refused, each by its name. */
const searchOf = ({ release, today }: SearchMarket, state: ApplicationState): MarketSearch => {
  const { record, partner_answers } = state
  const journey = journeyOfApplication(release, record)
  const first = { dob: dobOf(record), answers: record.risk_factors, path: '', person: 'customer' }
  const second = () => ({
    dob: record.joint_customer?.dob ?? null,
    answers: answersOfPartner(lifeKeysOf(release, journey), { first: record.risk_factors, partner: partner_answers }),
    path: 'partner.',
    person: 'partner',
  })
  const people = isJoint(release.joint, record.risk_factors) ? [first, second()] : [first]
  const mapping = release.market?.mapping ?? []
  const ofLives = mapping.filter(({ field }) => !field.startsWith(optionPrefix))
  const options = mapping.filter(({ field }) => field.startsWith(optionPrefix))

  const fields: Record<string, string> = {
    ...missingForProviders(journey, options, record.risk_factors, ''),
    ...Object.fromEntries(
      people.flatMap(({ answers, path }) => Object.entries(missingForProviders(journey, ofLives, answers, path))),
    ),
    ...missingFigures(release, state),
  }
  const lives = people.flatMap(({ dob, answers, person }) => {
    if (dob === null) fields[`${person}.dob`] = 'required'
    const postal_code = person === 'customer' ? (record.customer ?? record.soft_customer)?.postal_code : null
    const told = ofLives.map(({ field, key }) => [field, valueFor(release, field, answers[key])] as const)
    const postcode_area = /^[A-Z]{1,2}/i.exec(postal_code ?? '')?.[0].toUpperCase() ?? null
    return dob === null ? [] : [{ dob, postcode_area, answers: known(told) }]
  })
  if (Object.keys(fields).length > 0)
    throw new Rejection(
      'mapping_incomplete',
      `The providers need ${Object.keys(fields).join(', ')}. Save them on the application, then ask again.`,
      fields,
    )
  return {
    product_type: release.product_type,
    cover_amount_pence: record.cover_amount_pence,
    term_years: record.term_years,
    start_date: daysAfter(today, 1),
    lives,
    options: known(options.map(({ field, key }) => [field.slice(optionPrefix.length), record.risk_factors[key]])),
  }
}

const missingFigures = ({ covers }: Release, { record }: ApplicationState): Fields => ({
  ...(record.cover_amount_pence === null && { cover_amount_pence: 'required' }),
  ...(record.term_years === null &&
    covers.some(({ term_years_min }) => term_years_min !== null) && { term_years: 'required' }),
})

/** The smoker answer as true or false, by the release's values. */
const valueFor = ({ smoker }: Release, field: string, answer: Answers[string] | undefined) => {
  if (field !== 'smoker' || !smoker || answer === undefined || Array.isArray(answer)) return answer
  return smoker.values.some((value) => value === answer)
}

const known = (entries: readonly (readonly [string, Answers[string] | undefined])[]): MarketSearch['options'] =>
  Object.fromEntries(entries.flatMap(([name, answer]) => (answer === undefined ? [] : [[name, answer]])))

const mostResults = 100

export const noteMarketSearch = (command: NoteMarketSearch, { record }: ApplicationState): Decision => {
  const { request_id, search_id, provider_count, results, ended } = command
  const search = record.market_search
  if (!search || search.request_id !== request_id || !isUnderWay(search)) return []

  const heard = new Set(search.results.map(({ result_id }) => result_id))
  const room = mostResults - heard.size
  const isFirst = ({ result_id }: ReceivedResult, index: number): boolean =>
    results.findIndex((each) => each.result_id === result_id) === index
  const fresh = results.filter((result, index) => !heard.has(result.result_id) && isFirst(result, index)).slice(0, room)
  const statuses = [...search.results.map(({ status }) => status), ...fresh.map(({ offer }) => offer.status)]
  return [
    ...(search.search_id === null && search_id !== null
      ? [{ type: 'MarketSearchAccepted', request_id, search_id, provider_count } as const]
      : []),
    ...(fresh.length > 0 ? [{ type: 'MarketResultsReceived', request_id, results: fresh } as const] : []),
    ...(ended ? [endOf(request_id, statuses, ended, search.search_id ?? search_id)] : []),
  ]
}

const endOf = (
  request_id: string,
  statuses: readonly string[],
  ended: 'finished' | 'too_late',
  search_id: string | null,
): MarketQuoteEvent => {
  const failed = (failure_code: Extract<MarketQuoteEvent, { type: 'MarketSearchFailed' }>['failure_code']) =>
    ({ type: 'MarketSearchFailed', request_id, failure_code }) as const
  if (search_id === null) return failed('panel_unreachable')
  if (statuses.length === 0) return failed(ended === 'too_late' ? 'provider_timeout' : 'no_results')
  if (statuses.every((status) => status === 'timeout')) return failed('provider_timeout')
  if (statuses.every((status) => status === 'timeout' || status === 'error')) return failed('all_providers_failed')
  return { type: 'MarketSearchCompleted', request_id }
}

/** The customer has chosen a result, and the case goes to its provider. */
export const selectMarketResult = (
  { release, result_id, today, now }: SelectMarketResult,
  { record }: ApplicationState,
): Decision => {
  const search = record.market_search
  if (!release.whole_of_market) throw notMarket()
  if (record.status === 'handed_off' && search?.selected_result_id === result_id) return []
  refuseClosed(record)

  const result = search?.results.find((each) => each.result_id === result_id)
  if (!search || !result) throw inputsRefused('validation_failed', { result_id: 'is no result of the latest search' })
  if (result.status !== 'success')
    throw inputsRefused('validation_failed', { result_id: `has no price that can be chosen: ${result.status}` })
  if (search.stale || Date.parse(now) >= Date.parse(search.expires_at))
    throw new Rejection('market_quotes_stale', 'These market quotes no longer hold. Search the market again.')
  if (hasExpired(result, today))
    throw new Rejection(
      'market_quotes_stale',
      `The provider held this price until ${result.expiry_date}. Search the market again.`,
    )
  const { request_id } = search
  return [
    { type: 'MarketResultSelected', request_id, result_id },
    { type: 'ApplicationHandedOff', request_id, result_id },
  ]
}
