/** The effect of an act on a policy, as its preview in the API has it. */
type Cover = {
  readonly cover_index: number
  readonly cover_type: string
  readonly status: string
  readonly cover_amount_pence: number | null
  readonly premium_pence: number
  readonly ends_on: string | null
}
type Side = {
  readonly status: string
  readonly covers: readonly Cover[]
  readonly premium_pence: number
  readonly mandate_status: string
  readonly collections: readonly { readonly due_on: string; readonly amount_pence: number }[]
  readonly open_premiums: readonly { readonly due_on: string; readonly amount_pence: number }[]
}
type Effect = {
  readonly is_new: boolean
  readonly before: Side
  readonly after: Side
  readonly refund_pence: number
  readonly refunds: readonly { readonly due_on: string; readonly refund_pence: number }[]
  readonly written_off: readonly { readonly due_on: string; readonly amount_pence: number }[]
  readonly claim_pence: number | null
}

const currency = new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'GBP' })
const dates = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })

const pounds = (pence: number | null): string => (pence === null ? 'no amount' : currency.format(pence / 100))
const day = (date: string): string => dates.format(new Date(`${date}T00:00Z`))
const words = (name: string): string => name.replaceAll('_', ' ')
const title = (name: string): string => words(name).replace(/^./, (first) => first.toUpperCase())

/** A line where the two differ. */
const line = (name: string, before: string, after: string): readonly string[] =>
  before === after ? [] : [`${name}: ${before} → ${after}`]

const listed = (premiums: readonly { readonly due_on: string; readonly amount_pence: number }[]): string =>
  premiums.map(({ due_on, amount_pence }) => `${pounds(amount_pence)} on ${day(due_on)}`).join(', ') || 'none'

const coverLines = (before: Side, after: Side): readonly string[] =>
  after.covers.flatMap((cover) => {
    const former = before.covers.find(({ cover_index }) => cover_index === cover.cover_index) ?? cover
    const name = title(cover.cover_type)
    return [
      ...line(`${name}, cover`, words(former.status), words(cover.status)),
      ...line(`${name}, amount`, pounds(former.cover_amount_pence), pounds(cover.cover_amount_pence)),
      ...line(`${name}, premium a month`, pounds(former.premium_pence), pounds(cover.premium_pence)),
      ...line(
        `${name}, ends`,
        former.ends_on ? day(former.ends_on) : 'never',
        cover.ends_on ? day(cover.ends_on) : 'never',
      ),
    ]
  })

/** The effect of an act on money and cover, in plain lines. */
export const effectLines = (data: Readonly<Record<string, unknown>>): readonly string[] => {
  const { is_new, before, after, refund_pence, refunds, written_off, claim_pence } = data as Effect // our own API's
  if (!is_new) return ['It is so already: nothing will change.']
  return [
    ...line('Policy', words(before.status), words(after.status)),
    ...coverLines(before, after),
    ...line('Premium a month', pounds(before.premium_pence), pounds(after.premium_pence)),
    ...line('Mandate', words(before.mandate_status), words(after.mandate_status)),
    ...(listed(before.collections) === listed(after.collections)
      ? [`Next premiums, as before: ${listed(after.collections)}`]
      : [`Next premiums: ${listed(after.collections)}`, `They were: ${listed(before.collections)}`]),
    ...(after.open_premiums.length > 0 ? [`Still being collected, or failed: ${listed(after.open_premiums)}`] : []),
    refund_pence === 0
      ? 'Given back: nothing'
      : `Given back: ${pounds(refund_pence)}${refunds.map((each) => `; of the premium of ${day(each.due_on)} ${pounds(each.refund_pence)}`).join('')}`,
    ...(written_off.length > 0 ? [`Asked for no more: ${listed(written_off)}`] : []),
    ...(claim_pence === null ? [] : [`Recorded as paid for the claim: ${pounds(claim_pence)}`]),
  ]
}
