import { application } from '#domain/applications/application.ts'
import type { NoteMarketSearch } from '#domain/applications/market.ts'
import { idOf } from '#domain/event.ts'
import { marketQuoteEvents, type MarketSearch, type ReceivedResult } from '#domain/market-quotes/events.ts'
import { isUnderWay, type MarketSearchRecord } from '#domain/market-quotes/record.ts'
import { fromStored } from '#domain/event.ts'
import type { OpenAccount } from '#domain/provider-accounts/record.ts'
import { OrganisationId } from '#domain/values.ts'
import { realNow as databaseNow, type Clock } from '#infra/clock.ts'
import { isAboutErased } from '#infra/crypto/erased.ts'
import { derivedId } from '#infra/ids.ts'
import type { Log } from '#infra/log.ts'
import type { MarketPanel, PanelResult } from '#infra/market-panel/panel.ts'
import { commandHandler, type Context, type Writer } from '../writing/handle.ts'
import type { DueTime, Timer } from '../reactions/timers.ts'

type Deps = {
  readonly writer: Writer
  readonly panel: MarketPanel
  readonly openAccount: OpenAccount
  readonly clock: Clock
  readonly log: Log
  /** Real time. */
  readonly realNow?: () => number
}

/** Steps under way at once: for all organisations together, and for each. Of each so many more wait for their turn. */
const most = { all: 64, each: 8, waiting: 1_000 }

/** The searches of one organisation, by request: those under way, and those waiting in the order in which they asked. */
type Turns = {
  readonly underWay: Set<string>
  readonly waiting: Map<string, Asked>
}

type Asked = { readonly due: DueTime; readonly context: Context }

/**
 * A search that is under way is due all the time: each time one step is made, which asks the panel and stores what is
 * new. So any process goes on with the search of one that has died, and nothing waits for a slow panel: a step goes on
 * by itself, and while it does the search is passed over. Organisations have their turn one after the other, and the steps of
 * each in the order in which they asked for it, so that a search that takes long leaves room for those that came after it.
 */
export const searchMarket = ({ writer, panel, openAccount, clock, log, realNow = databaseNow }: Deps): Timer => {
  const { handle, load } = commandHandler(writer, application)
  const organisations = new Map<string, Turns>()
  let underWay = 0

  /** The search as sent to the providers, from the event that asked for it. */
  const readSearch = async (stream: string, request_id: string): Promise<MarketSearch | undefined> => {
    const page = await writer.log.read(stream, { direction: 'backwards', limit: 1000 })
    const found = page.find(({ type, data }) => type === 'MarketSearchRequested' && data['request_id'] === request_id)
    const event = found && fromStored(marketQuoteEvents, found)
    return event?.type === 'MarketSearchRequested' ? event.search : undefined
  }

  /** One look at the panel, and its results. */
  const look = async (search: MarketSearchRecord, stream: string, organisation_id: OrganisationId) => {
    const nothing = { search_id: null, provider_count: 0, results: [], isFinished: false }
    const account = openAccount(organisation_id, 'market_panel')
    if (!account) return { ...nothing, isFinished: true }
    const { request_id } = search
    const told = search.search_id === null ? await readSearch(stream, request_id) : undefined
    const begun = told && (await panel.begin(account, request_id, bodyOf(told)))
    const search_id = search.search_id ?? begun?.search_id ?? null
    const read = search_id === null ? undefined : await panel.read(account, search_id)
    return { ...nothing, search_id, provider_count: begun?.provider_count ?? 0, ...read }
  }

  const step = async ({ id, stream, organisation_id }: DueTime, context: Context): Promise<void> => {
    const search = (await load(idOf(stream)))?.record.market_search
    if (search?.request_id !== id || !isUnderWay(search)) return
    const { isFinished, results, ...seen } = await look(search, stream, OrganisationId.parse(organisation_id))
    const isTooLate = realNow() >= Date.parse(search.deadline_at)
    const heard: Heard = {
      ...seen,
      results: results.map((result) => receivedResult(id, result)),
      ended: isFinished ? 'finished' : isTooLate ? 'too_late' : null,
    }
    const note = async (what: Heard) =>
      handle(
        idOf(stream),
        { type: 'NoteMarketSearch', request_id: id, ...what },
        { ...context, now: clock.now().toISOString() },
      )
    await note(heard).catch(async (error: unknown) => {
      if (!isAboutErased(error)) throw error
      // Nobody is left whom the providers could tell anything about.
      await note({ ...heard, results: [], ended: 'finished' })
    })
  }

  /** Begins the steps that there is room for. */
  const goOn = (): void => {
    for (const [organisation_id, turns] of organisations) {
      if (underWay >= most.all) return
      const next = turns.waiting.values().next().value
      if (!next || turns.underWay.size >= most.each) continue
      begin(next, turns)
      // The loop comes to it again behind the others.
      organisations.delete(organisation_id)
      organisations.set(organisation_id, turns)
    }
  }

  const begin = ({ due, context }: Asked, turns: Turns): void => {
    turns.waiting.delete(due.id)
    turns.underWay.add(due.id)
    underWay++
    void step(due, context)
      .catch((error: unknown) => log.warn({ error, request_id: due.id }, 'market search step failed'))
      .finally(() => {
        turns.underWay.delete(due.id)
        underWay--
        if (turns.underWay.size + turns.waiting.size === 0) organisations.delete(due.organisation_id)
        goOn()
      })
  }

  return {
    kind: 'market_search',
    fire: async (due, context) => {
      const turns = organisations.get(due.organisation_id) ?? { underWay: new Set(), waiting: new Map() }
      if (turns.underWay.has(due.id) || turns.waiting.has(due.id) || turns.waiting.size >= most.waiting) return
      turns.waiting.set(due.id, { due, context })
      organisations.set(due.organisation_id, turns)
      goOn()
    },
  }
}

type Heard = Omit<NoteMarketSearch, 'type' | 'request_id'>

const bodyOf = ({ lives, ...search }: MarketSearch): object => ({
  ...search,
  lives: lives.map(({ dob, postcode_area, answers }) => ({ dob, postcode_area, ...answers })),
})

const standard = { buy_now: 'standard', buy_now_non_standard: 'underwritten', refer: null, decline: null } as const

/** A provider has one result in a search. A success without a price is none. */
const receivedResult = (request_id: string, result: PanelResult): ReceivedResult => {
  const { provider_id, provider_name, logo_url, premium_pence, decision } = result
  const isPriced = result.status === 'success' && typeof premium_pence === 'number' && premium_pence > 0
  return {
    result_id: derivedId('market_result', request_id, provider_id),
    provider_id,
    provider_name,
    logo_url: logo_url ?? null,
    offer: {
      status: result.status === 'success' && !isPriced ? 'error' : result.status,
      status_reason: result.status_reason ?? null,
      product_name: result.product_name,
      premium_pence: isPriced ? premium_pence : 0,
      plan_fee_pence: result.plan_fee_pence ?? null,
      variations: result.variations,
      features: result.features,
      evidence_required: result.evidence_required,
      further_underwriting: result.further_underwriting,
      standard_or_underwritten: decision ? standard[decision] : null,
      expiry_date: result.expiry_date ?? null,
    },
  }
}
