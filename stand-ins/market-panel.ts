import { createHash } from 'node:crypto'
import { z } from 'zod'
import { startStandIn } from './stand-in.ts'

type Provider = {
  readonly id: string
  readonly name: string
  readonly product: string
  /** Times our own rate. */
  readonly factor: number
  readonly maxPence: number
  readonly maxAge: number
}

/** Invented firms, each with a price and limits of its own. */
const providers: readonly Provider[] = [
  { id: 'albion', name: 'Albion Mutual', product: 'Albion Term', factor: 0.91, maxPence: 50_000_000, maxAge: 60 },
  { id: 'beacon', name: 'Beacon Life', product: 'Beacon Protect', factor: 0.95, maxPence: 100_000_000, maxAge: 65 },
  { id: 'cairn', name: 'Cairn Assurance', product: 'Cairn Level', factor: 0.98, maxPence: 75_000_000, maxAge: 70 },
  { id: 'dovetail', name: 'Dovetail', product: 'Dovetail Cover', factor: 1, maxPence: 100_000_000, maxAge: 70 },
  { id: 'evergreen', name: 'Evergreen', product: 'Evergreen Family', factor: 1.04, maxPence: 40_000_000, maxAge: 55 },
  // Refers smokers above 60.
  { id: 'fathom', name: 'Fathom Life', product: 'Fathom Plus', factor: 1.08, maxPence: 100_000_000, maxAge: 75 },
  // Declines whoever smokes.
  { id: 'granite', name: 'Granite', product: 'Granite Healthy', factor: 1.18, maxPence: 100_000_000, maxAge: 70 },
  // Never answers.
  { id: 'hollow', name: 'Hollow Tree', product: 'Hollow Term', factor: 1.1, maxPence: 100_000_000, maxAge: 70 },
]

const Search = z.object({
  request_id: z.string(),
  cover_amount_pence: z.int().nullable(),
  term_years: z.int().nullable(),
  start_date: z.string(),
  lives: z.array(z.looseObject({ dob: z.string(), smoker: z.boolean().default(false) })).min(1),
})
type Search = z.output<typeof Search>

type Options = {
  /** The longest that a provider thinks. */
  readonly slowestMs?: number
  /** The time after which the panel gives up a provider that does not answer. */
  readonly giveUpMs?: number
  readonly now?: () => number
}

/** A whole number below `most` that is always the same for the same text. */
const seeded = (text: string, most: number): number => createHash('sha256').update(text).digest().readUInt32BE(0) % most

const answerOf = ({ id, name, product, factor, maxPence, maxAge }: Provider, search: Search) => {
  const { cover_amount_pence, term_years, start_date, lives } = search
  const [life] = lives
  const age = Number(start_date.slice(0, 4)) - Number(life?.dob.slice(0, 4) ?? 0)
  const smokes = lives.some(({ smoker }) => smoker)
  const amount = cover_amount_pence ?? 10_000_000
  const of = { provider_id: id, provider_name: name, logo_url: null, product_name: product }
  const unpriced = (status: string, status_reason: string) => ({ ...of, status, status_reason, premium_pence: null })

  if (amount > maxPence) return unpriced('unavailable', 'The amount is above our limit.')
  if (age > maxAge) return unpriced('unavailable', 'The age is above our limit.')
  if (id === 'granite' && smokes) return unpriced('declined', 'We cover people who do not smoke.')
  if (id === 'fathom' && smokes && age > 60)
    return { ...unpriced('referred', 'Our underwriters decide.'), decision: 'refer', evidence_required: true }
  const rate = 0.0001 * 1.09 ** (age - 20) * (smokes ? 2.3 : 1) * (1 + (term_years ?? 20) / 50)
  return {
    ...of,
    status: 'success',
    status_reason: null,
    premium_pence: Math.max(500, Math.round((amount * rate * factor) / 12) + 150),
    plan_fee_pence: 150,
    decision: smokes && factor > 1 ? 'buy_now_non_standard' : 'buy_now',
    evidence_required: false,
    further_underwriting: false,
    variations: [],
    features: ['Terminal illness cover', ...(factor < 1 ? [] : ['Wellbeing line'])],
    expiry_date: null,
  }
}

/** Speaks the panel's protocol (docs/market-panel.md). How long a provider thinks follows from the request's id. */
export const startMarketPanel = (port?: number, options: Options = {}) => {
  const { slowestMs = 2_000, giveUpMs = 4_000, now = Date.now } = options
  const searches = new Map<string, { readonly search: Search; readonly begun: number }>()

  return startStandIn(({ method, url, header, text }) => {
    if (!header('authorization')?.startsWith('Bearer ')) return { status: 401, body: { error: 'no key' } }
    if (method === 'POST' && url.pathname === '/searches') {
      const search = Search.safeParse(JSON.parse(text)).data
      const search_id = header('idempotency-key')
      if (!search || search_id === undefined) return { status: 422, body: { error: 'not understood' } }
      if (!searches.has(search_id)) searches.set(search_id, { search, begun: now() })
      return { status: 202, body: { search_id, provider_count: providers.length } }
    }
    const known = searches.get(decodeURIComponent(/^\/searches\/([^/]+)$/.exec(url.pathname)?.[1] ?? ''))
    if (!known) return { status: 404, body: { error: 'unknown search' } }

    const elapsed = now() - known.begun
    const results = providers.flatMap((provider): readonly object[] => {
      if (provider.id === 'hollow') {
        if (elapsed < giveUpMs) return []
        const { id: provider_id, name: provider_name, product: product_name } = provider
        return [{ provider_id, provider_name, product_name, status: 'timeout', status_reason: 'No answer in time.' }]
      }
      const thinksMs = seeded(`${known.search.request_id} ${provider.id}`, slowestMs)
      return elapsed < thinksMs ? [] : [answerOf(provider, known.search)]
    })
    const status = results.length === providers.length ? 'completed' : 'fetching'
    return { status: 200, body: { status, results } }
  }, port)
}
