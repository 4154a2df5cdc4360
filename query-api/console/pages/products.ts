import { z } from 'zod'
import { Release } from '#domain/catalogue/events.ts'
import { ProductType } from '#domain/values.ts'
import { act } from '../act.ts'
import type { List } from '../list.ts'
import { apiOf, pageOf, type Asked, type Page } from '../page.ts'
import { Refused } from '../read.ts'
import { badge, empty, facts, label, link, moment, section, table, words, type Tone } from '../show.ts'
import { h, type View } from '../view.ts'
import { setUpChanges } from './set-up-changes.ts'

const Product = z.object({
  id: z.string(),
  slug: z.string(),
  name: z.string(),
  product_type: ProductType,
  lifecycle_state: z.string(),
  release: z.object({ id: z.string(), number: z.number() }).nullable(),
  unpublished_changes: z.boolean(),
})
type Product = z.infer<typeof Product>

const tones: Readonly<Record<string, Tone>> = { production: 'good', sandbox: 'wait' }

const draftOf = ({ unpublished_changes, release }: Product): View =>
  unpublished_changes ? badge(release ? 'differs from the release' : 'not published', 'wait') : 'as published'

export const products: List<typeof Product> = {
  title: 'Products',
  path: 'products',
  api: 'products',
  item: Product,
  filters: [],
  none: 'No product is set up yet. The set-up file declares them.',
  columns: (organisation_id) => [
    { title: 'Product', show: ({ slug, name }) => link(pageOf(organisation_id, `products/${slug}`), name) },
    { title: 'State', show: ({ lifecycle_state: state }) => badge(state, tones[state]) },
    { title: 'Type', show: ({ product_type }) => words(product_type) },
    { title: 'Release', show: ({ release }) => (release ? String(release.number) : '–'), isNumber: true },
    { title: 'Draft', show: draftOf },
  ],
}

const Releases = z.object({
  data: z.array(
    Release.pick({ id: true, number: true, name: true, rate_tables: true }).extend({ published_at: z.string() }),
  ),
})

const publication = ({ slug, name, release }: Product, organisation_id: string): View =>
  act({
    title: 'Publish the draft',
    method: 'POST',
    address: apiOf(organisation_id, `products/${slug}/releases`),
    ask: `The draft of ${name} becomes release ${(release?.number ?? 0) + 1}. Whoever applies from now on is asked and priced by it; applications that were begun keep theirs.`,
  })

const releasesOf = ({ slug }: Product, { data }: z.infer<typeof Releases>, organisation_id: string): View =>
  data.length === 0
    ? empty('None was published yet.')
    : table(
        'Releases',
        [
          {
            title: 'Release',
            show: ({ id, number }) =>
              link(pageOf(organisation_id, `products/${slug}/releases/${id}`), `Release ${number}`),
          },
          { title: 'Published', show: ({ published_at }) => moment(published_at) },
          {
            title: 'Rate tables',
            show: ({ rate_tables }) =>
              Object.entries(rate_tables)
                .map(([key, version]) => `${key} ${version}`)
                .join(', '),
          },
        ],
        data,
      )

/** The product of an address, as the list has it: there is no address of one alone. */
export const findProduct = async ({ organisation, path, read }: Pick<Asked, 'organisation' | 'path' | 'read'>) => {
  const { data } = await read(apiOf(organisation?.id ?? '', 'products'), z.object({ data: z.array(Product) }))
  const found = data.find(({ slug }) => slug === path['product_slug'])
  if (!found) throw new Refused(404, 'There is no product with this name.')
  return found
}

/** One product with its releases, the newest first. */
export const productPage: Page = {
  address: '/console/organisations/:organisation_id/products/:product_slug',
  show: async (asked) => {
    const organisation_id = asked.organisation?.id ?? ''
    const product = await findProduct(asked)
    const [releases, changes] = await Promise.all([
      asked.read(`/admin/v1/releases?organisation_id=${organisation_id}&product_id=${product.id}&limit=10`, Releases),
      setUpChanges(asked, product.id),
    ])
    const mayAct = asked.me.roles.includes('owner')
    return {
      title: product.name,
      main: h(
        'div',
        { class: 'record' },
        h(
          'div',
          {},
          facts([
            ['State', badge(product.lifecycle_state, tones[product.lifecycle_state])],
            ['Type', label(product.product_type)],
            ['Short name', h('code', {}, product.slug)],
            [
              'Draft',
              [draftOf(product), ' ', link(pageOf(organisation_id, `products/${product.slug}/draft`), 'See the draft')],
            ],
          ]),
          section('Releases', releasesOf(product, releases, organisation_id)),
          changes,
        ),
        mayAct &&
          product.unpublished_changes &&
          h('div', {}, section('What next', publication(product, organisation_id))),
      ),
    }
  },
}
