import { z } from 'zod'
import { Release } from '#domain/catalogue/events.ts'
import { pageOf, type Asked, type Page } from '../page.ts'
import { Refused } from '../read.ts'
import { badge, empty, facts, label, link, moment, money, pounds, section, table, text, value, words } from '../show.ts'
import { h, type View } from '../view.ts'
import { presentationView } from './preview.ts'

const PublishedRelease = Release.extend({ published_at: z.string() })
type PublishedRelease = z.infer<typeof PublishedRelease>

const address = '/console/organisations/:organisation_id/products/:product_slug/releases/:release_id'

/** The release of an address, which is one of the product of that address. */
const findRelease = async ({ organisation, path, read }: Asked): Promise<PublishedRelease> => {
  const { data } = await read(
    `/admin/v1/releases/${path['release_id'] ?? ''}?organisation_id=${organisation?.id ?? ''}`,
    z.object({ data: PublishedRelease }),
  )
  if (data.slug !== path['product_slug']) throw new Refused(404, 'There is no such release of this product.')
  return data
}

const years = (least: number | null, most: number | null): string =>
  least === null || most === null ? 'no fixed term' : `${least} to ${most} years`

const list = (given: readonly string[]): View =>
  given.length === 0
    ? text('')
    : h(
        'ul',
        {},
        given.map((each) => h('li', {}, each)),
      )

const covers = ({ covers: all }: Release): View =>
  section(
    'Covers',
    table(
      'Covers',
      [
        { title: 'Cover', show: ({ title, cover_type }) => title ?? label(cover_type) },
        {
          title: 'Amounts',
          show: (each) => `${pounds(each.sum_assured_min_pence)} to ${pounds(each.sum_assured_max_pence)}`,
        },
        { title: 'Age at entry', show: (each) => `${each.age_at_entry_min} to ${each.age_at_entry_max}` },
        { title: 'Term', show: (each) => years(each.term_years_min, each.term_years_max) },
        { title: 'Priced by', show: (each) => each.rate_table ?? words(each.pricing_basis) },
      ],
      all,
    ),
  )

const rateTables = ({ rate_tables }: Release, organisation_id: string): View =>
  section(
    'Rate tables',
    Object.keys(rate_tables).length === 0
      ? empty('Its prices need none.')
      : h(
          'ul',
          {},
          Object.entries(rate_tables).map(([key, version]) =>
            h(
              'li',
              {},
              link(pageOf(organisation_id, `rate_tables/${key}/versions/${version}`), `${key}, version ${version}`),
            ),
          ),
        ),
  )

type Rule = Release['underwriting']['rules'][number]

const effectOf = ({ extra_percent, extra_per_mille, decision }: Rule): string => {
  if (decision !== undefined) return label(decision)
  return extra_percent === undefined ? `£${extra_per_mille ?? ''} a year for each £1,000` : `${extra_percent} % more`
}

const conditionText = (condition: Exclude<Rule['when'], readonly unknown[]>): string => {
  const { key, ...limits } = condition
  return `${words(key)}: ${Object.entries(limits)
    .map(([name, limit]) => (name === 'equals' ? value(limit) : `${name} ${value(limit)}`))
    .join(', ')}`
}

const underwriting = ({ underwriting: { rules, refer_above_percent, decline_above_percent } }: Release): View =>
  section(
    'Underwriting',
    rules.length === 0
      ? empty('It has no rules.')
      : table(
          'Underwriting rules',
          [
            { title: 'Rule', show: (rule) => rule.label },
            { title: 'When', show: ({ when }) => [when].flat().map(conditionText).join(' and ') },
            { title: 'Then', show: effectOf },
          ],
          rules,
        ),
    h(
      'p',
      { class: 'quiet' },
      `Referred above ${refer_above_percent} % more in all, declined above ${decline_above_percent} %.`,
    ),
  )

const journeys = ({ journeys: all, slug, id }: Release, organisation_id: string): View =>
  section(
    'Journeys',
    table(
      'Journeys',
      [
        {
          title: 'Journey',
          show: (each) =>
            link(pageOf(organisation_id, `products/${slug}/releases/${id}/journeys/${each.slug}`), each.name),
        },
        { title: 'State', show: ({ lifecycle_state }) => badge(lifecycle_state) },
        { title: 'Questions', show: ({ questions }) => String(questions.length), isNumber: true },
        { title: 'Price times', show: ({ journey_loading }) => journey_loading, isNumber: true },
      ],
      all,
    ),
  )

/** A product as it was at the moment of publishing. */
export const releasePage: Page = {
  address,
  show: async (asked) => {
    const organisation_id = asked.organisation?.id ?? ''
    const release = await findRelease(asked)
    const { checkout } = release
    return {
      title: `${release.name}, release ${release.number}`,
      main: [
        facts([
          ['Product', link(pageOf(organisation_id, `products/${release.slug}`), release.name)],
          ['Published', moment(release.published_at)],
          ['Policy fee', money(release.policy_fee_pence)],
          ['A quote is valid for', `${release.quote_valid_days} days`],
          ['Can be cancelled within', `${release.cooldown_days} days`],
          ['Two people', words(release.joint.mode)],
          ['Collection on', checkout.collection_days.join(', ')],
          ['Documents', checkout.key_documents.map(({ name }) => name).join(', ') || 'none'],
        ]),
        journeys(release, organisation_id),
        covers(release),
        rateTables(release, organisation_id),
        underwriting(release),
        section('Included', list(release.inclusions)),
        section('Excluded', list(release.exclusions)),
      ],
    }
  },
}

/** The stages and questions of a journey as a customer sees them, with nothing to send. */
export const journeyPage: Page = {
  address: `${address}/journeys/:journey_slug`,
  show: async (asked) => {
    const organisation_id = asked.organisation?.id ?? ''
    const release = await findRelease(asked)
    const journey = release.journeys.find(({ slug }) => slug === asked.path['journey_slug'])
    if (!journey) throw new Refused(404, 'The release has no such journey.')
    const back = pageOf(organisation_id, `products/${release.slug}/releases/${release.id}`)
    return {
      title: `${journey.name}, as customers see it`,
      main: [
        facts([
          ['Product', link(back, `${release.name}, release ${release.number}`)],
          ['State', badge(journey.lifecycle_state)],
          ['For', text(journey.description)],
        ]),
        presentationView(release, journey, asked.url),
      ],
    }
  },
}
