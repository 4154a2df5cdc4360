import { Refused } from './api.ts'
import { button, choice, h, list, pounds } from './elements.ts'
import type { Application, MarketQuotes, MarketResult } from './records.ts'
import { showWaiting } from './screen.ts'
import { changeStage, requireAll, textIn, type MakeScreen, type Visit } from './visit.ts'

type MarketConfig = {
  readonly label?: string
  readonly sort?: 'premium' | 'provider'
  readonly max_results?: number | null
}

const everyMs = 1_500

const isUnderWay = ({ status }: MarketQuotes): boolean => status === 'pending' || status === 'fetching'

/** The search goes on in the background: the application is asked for until it has ended. It has a time limit of its own. */
const search = async ({ api, application, shareToken }: Visit): Promise<MarketQuotes | null> => {
  const path = `/applications/${application.id}`
  let { market_quotes } = await api.send<Application>('POST', `${path}/market_quotes`, { body: {}, shareToken })
  while (market_quotes && isUnderWay(market_quotes)) {
    const { results, provider_count } = market_quotes
    const heard = provider_count === 0 ? '' : ` ${results.length} of ${provider_count} have answered.`
    showWaiting(`We ask the providers for their prices …${heard}`)
    await new Promise((resolve) => setTimeout(resolve, everyMs))
    ;({ market_quotes } = await api.send<Application>('GET', path, { shareToken }))
  }
  return market_quotes
}

const why: Readonly<Record<string, string>> = {
  referred: 'looks at your details first',
  declined: 'does not offer you this cover',
  unavailable: 'does not offer this cover',
  error: 'could not answer',
  timeout: 'did not answer in time',
}

/** The prices of all providers: the visitor chooses one, and the case goes to that provider. */
export const marketQuotes: MakeScreen = async (visit, { key, title, cta_label, config }) => {
  const { api, application, shareToken } = visit
  const { label, sort = 'premium', max_results } = config as MarketConfig
  const searched = await search(visit)
  const results = searched?.results ?? []
  const offers = results
    .filter(({ status }) => status === 'success')
    .toSorted((one, other) =>
      sort === 'premium'
        ? one.premium_pence - other.premium_pence
        : one.provider_name.localeCompare(other.provider_name),
    )
    .slice(0, max_results ?? undefined)
  const change = h(
    'div',
    { class: 'choices' },
    button('Change my cover', () => changeStage(visit, 'cover_capture')),
    // The same search is answered for the same answers, unless it has failed.
    offers.length === 0 && button('Ask again', () => visit.next({}, key)),
  )
  if (offers.length === 0)
    return {
      title: 'We found no price',
      body: [h('p', {}, 'None of the providers gave us a price for this cover.'), others(results), change],
    }
  return {
    title,
    body: [
      choice(
        { name: 'result_id', label: label ?? 'Choose your provider' },
        offers.map(({ result_id, provider_name, product_name, premium_pence }) => ({
          value: result_id,
          label: `${pounds(premium_pence)} a month`,
          detail: `${provider_name}, ${product_name}`,
        })),
      ),
      others(results),
      change,
    ],
    submit: {
      label: cta_label ?? 'Go on with this provider',
      send: async (given) => {
        requireAll(given, ['result_id'])
        try {
          const chosen = await api.send<Application>('POST', `/applications/${application.id}/market_quotes/select`, {
            body: { result_id: textIn(given, 'result_id') },
            shareToken,
          })
          visit.next({ application: chosen })
        } catch (error) {
          // The prices no longer hold: they are asked for again.
          if (!(error instanceof Refused) || error.code !== 'market_quotes_stale') throw error
          visit.next({}, key)
        }
      },
    },
  }
}

const others = (results: readonly MarketResult[]): HTMLElement | undefined => {
  const without = results.filter(({ status }) => status !== 'success')
  if (without.length === 0) return undefined
  return h(
    'details',
    {},
    h('summary', {}, `${without.length} without a price`),
    list(without.map(({ provider_name, status }) => `${provider_name} ${why[status] ?? 'gave no price'}.`)),
  )
}
