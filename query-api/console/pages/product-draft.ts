import { z } from 'zod'
import { ProductDraft } from '#domain/catalogue/record.ts'
import type { ReleaseJourney } from '#domain/catalogue/events.ts'
import { changeTable } from '../change-table.ts'
import { apiOf, pageOf, type Asked, type Page } from '../page.ts'
import { Refused } from '../read.ts'
import { badge, empty, facts, link, money, pounds, section, table, text, value, words } from '../show.ts'
import { h, type View } from '../view.ts'
import { presentationView } from './preview.ts'

type ProductDraft = z.infer<typeof ProductDraft>
type Prices = NonNullable<ProductDraft['prices']>
type SamplePrice = Prices['changed'][number]
type Outcome = SamplePrice['before']

const findDraft = async ({ organisation, path, now }: Asked): Promise<ProductDraft> => {
  const address = apiOf(organisation?.id ?? '', `products/${path['product_slug'] ?? ''}/draft`)
  return (await now(address, z.object({ data: ProductDraft }))).data
}

const outcomeOf = (outcome: Outcome): View => (typeof outcome === 'number' ? money(outcome) : words(outcome))

const differenceOf = ({ before, after }: SamplePrice): string => {
  if (typeof before !== 'number' || typeof after !== 'number') return ''
  const sign = after > before ? '+' : '−'
  const percent = before === 0 ? '' : ` (${sign}${((Math.abs(after - before) / before) * 100).toFixed(1)} %)`
  return `${sign}${pounds(Math.abs(after - before))}${percent}`
}

/** The question as customers read it. */
const labelsOf = ({ journeys }: ProductDraft['draft']): ReadonlyMap<string, string> =>
  new Map(journeys.flatMap(({ questions }) => questions.map(({ key, label }) => [key, label] as const)))

const answered = (labels: ReadonlyMap<string, string>, answers: readonly (readonly [string, unknown])[]): string =>
  answers.map(([key, answer]) => `${labels.get(key) ?? words(key)} ${value(answer)}`).join('; ')

/** The answers that all of these samples share are said once. */
const sharedIn = (samples: readonly SamplePrice[]): readonly (readonly [string, unknown])[] =>
  Object.entries(samples[0]?.sample.answers ?? {}).filter(([key, answer]) =>
    samples.every(({ sample }) => value(sample.answers[key]) === value(answer)),
  )

const priceTable = ({ changed }: Prices, { draft, release }: ProductDraft): View => {
  const labels = labelsOf(draft)
  const shared = sharedIn(changed)
  const isShared = (key: string) => shared.some(([other]) => other === key)
  const journeys = new Map(draft.journeys.map(({ id, name }) => [String(id), name]))
  return [
    shared.length > 0 && h('p', { class: 'quiet' }, `All of them: ${answered(labels, shared)}.`),
    table(
      'Prices that differ',
      [
        { title: 'Age', show: ({ sample }) => String(sample.age), isNumber: true },
        { title: 'Term', show: ({ sample }) => (sample.term === null ? text('') : `${sample.term} years`) },
        { title: 'Journey', show: ({ sample }) => journeys.get(sample.journey) ?? text('') },
        {
          title: 'Answers',
          show: ({ sample }) =>
            text(
              answered(
                labels,
                Object.entries(sample.answers).filter(([key]) => !isShared(key)),
              ),
            ),
        },
        { title: `Release ${release?.number ?? ''}`, show: ({ before }) => outcomeOf(before), isNumber: true },
        { title: 'Draft', show: ({ after }) => outcomeOf(after), isNumber: true },
        { title: 'Difference', show: differenceOf, isNumber: true },
      ],
      changed,
    ),
  ]
}

const pricesOf = (shown: ProductDraft): View => {
  const { prices, release } = shown
  if (!release) return empty('Nothing was published yet that a price could be compared with.')
  if (!prices) return empty('No price differs: nothing that makes a price was changed.')
  if (prices.samples === 0) return empty('No sample application has a price.')
  if (prices.changed.length === 0) return empty(`None of ${prices.samples} sample prices differs.`)
  return [
    h('p', {}, `${prices.changed.length} of ${prices.samples} sample prices differ, the largest changes first.`),
    priceTable(prices, shown),
  ]
}

const changesOf = ({ changes, changes_count, release }: ProductDraft): View => {
  if (!release) return empty('Nothing was published yet: all of it is new.')
  if (changes_count === 0) return empty('The draft is as it was published.')
  return [
    changeTable(changes, `Release ${release.number}`, 'Draft'),
    changes_count > changes.length &&
      h('p', { class: 'quiet' }, `These are the first ${changes.length} of ${changes_count}.`),
  ]
}

const address = '/console/organisations/:organisation_id/products/:product_slug/draft'

/** A product's draft beside the release on sale: what it says, and what it costs. */
export const productDraftPage: Page = {
  address,
  show: async (asked) => {
    const shown = await findDraft(asked)
    const { draft, release } = shown
    const own = pageOf(asked.organisation?.id ?? '', `products/${draft.slug}`)
    const journey = ({ slug, name, lifecycle_state }: ReleaseJourney) =>
      h('li', {}, link(`${own}/draft/journeys/${slug}`, name), ' ', badge(lifecycle_state))
    return {
      title: `${draft.name}, the draft`,
      main: [
        facts([
          ['Product', link(own, draft.name)],
          ['On sale', release ? link(`${own}/releases/${release.id}`, `Release ${release.number}`) : 'not yet'],
        ]),
        section('Prices that differ', pricesOf(shown)),
        section('What differs', changesOf(shown)),
        section('Journeys as customers would see them', h('ul', {}, draft.journeys.map(journey))),
      ],
    }
  },
}

/** A journey of the draft as customers would see it. */
export const draftJourneyPage: Page = {
  address: `${address}/journeys/:journey_slug`,
  show: async (asked) => {
    const { draft } = await findDraft(asked)
    const journey = draft.journeys.find(({ slug }) => slug === asked.path['journey_slug'])
    if (!journey) throw new Refused(404, 'The draft has no such journey.')
    const own = pageOf(asked.organisation?.id ?? '', `products/${draft.slug}/draft`)
    return {
      title: `${journey.name}, as customers would see it`,
      main: [facts([['Product', link(own, `${draft.name}, the draft`)]]), presentationView(draft, journey, asked.url)],
    }
  },
}
