import { z } from 'zod'
import { Quote } from '#domain/quotes/record.ts'
import { PriceStep } from '#domain/rating/events.ts'
import { apiOf, pageOf, type Asked, type Page } from '../page.ts'
import { badge, exactMoment, facts, label, link, money, section, table, words } from '../show.ts'
import type { View } from '../view.ts'

/** The quotes of an application, the newest first, each with the way to its price. */
export const quotesOf = async (
  { organisation, me, now }: Pick<Asked, 'organisation' | 'me' | 'now'>,
  application_id: string,
): Promise<View> => {
  const organisation_id = organisation?.id ?? ''
  const { data } = await now(
    `/admin/v1/quotes?organisation_id=${organisation_id}&application_id=${application_id}&limit=20`,
    z.object({ data: z.array(Quote) }),
  )
  if (data.length === 0) return null
  const mayExplain = me.roles.includes('underwriting') || me.roles.includes('auditor')
  return section(
    'Quotes',
    table(
      'Quotes',
      [
        { title: 'Issued', show: ({ created_at }) => exactMoment(created_at) },
        { title: 'Status', show: ({ status }) => badge(status) },
        { title: 'Terms', show: ({ decision }) => words(decision) },
        { title: 'Premium a month', show: ({ premium_pence }) => money(premium_pence), isNumber: true },
        {
          title: 'Price',
          show: ({ id }) =>
            mayExplain &&
            link(pageOf(organisation_id, `applications/${application_id}/quotes/${id}`), 'How it came about'),
        },
      ],
      data,
    ),
  )
}

const Explanation = z.object({
  data: z.object({
    components: z.array(
      z.object({
        cover_index: z.int(),
        title: z.string().nullable(),
        cover_type: z.string(),
        premium_pence: z.int(),
        steps: z.array(PriceStep),
      }),
    ),
    policy_fee_pence: z.int(),
    premium_pence: z.int(),
  }),
})

/** The price of a quote, worked out again step by step: the steps of a cover add up to its premium. */
export const pricePage: Page = {
  address: '/console/organisations/:organisation_id/applications/:id/quotes/:quote_id',
  show: async ({ organisation, path, read }) => {
    const organisation_id = organisation?.id ?? ''
    const application = `applications/${path['id'] ?? ''}`
    const address = apiOf(organisation_id, `${application}/quotes/${path['quote_id'] ?? ''}/explanation`)
    const { data } = await read(address, Explanation)
    return {
      title: 'How a price came about',
      main: [
        facts([
          ['Premium a month', money(data.premium_pence)],
          ['Of it the policy fee', money(data.policy_fee_pence)],
          ['Application', link(pageOf(organisation_id, application), 'Open it')],
        ]),
        data.components.map(({ title, cover_type, cover_index, premium_pence, steps }) =>
          section(
            `${title ?? label(cover_type)} (cover ${cover_index + 1})`,
            table(
              'Steps of the price',
              [
                { title: 'Step', show: ({ step }) => words(step) },
                { title: 'By', show: ({ name }) => name },
                { title: 'Value', show: ({ value }) => value, isNumber: true },
                { title: 'Pence', show: ({ adds_pence }) => adds_pence, isNumber: true },
              ],
              steps,
            ),
            facts([['Premium a month', money(premium_pence)]]),
          ),
        ),
      ],
    }
  },
}
