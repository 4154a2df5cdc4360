import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { missingRates } from '#domain/catalogue/missing-rates.ts'
import { hasUnpublishedChanges, product, type ProductState } from '#domain/catalogue/product.ts'
import { OrganisationId, ProductId, ReleaseId, Slug, ProductType } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import type { Catalogue } from './live-catalogue.ts'
import { teamContext, impersonalRoute } from '../operator.ts'
import { mayWait } from '../waiting.ts'
import { draftRoute } from './draft-route.ts'
import { productIdOf } from './ids.ts'
import { LifecycleState } from '#domain/catalogue/events.ts'
import { RateTableKey } from '#domain/rating/events.ts'
import { notFound } from '#domain/rejection.ts'

/** True where a policy of the product was ever set up, in test or in earnest. */
export type HasSold = (organisation_id: OrganisationId, product_id: ProductId) => Promise<boolean>

type Deps = {
  readonly writer: Writer
  readonly catalogue: Pick<Catalogue, 'slugs' | 'rateTablesOf'>
  readonly hasSold: HasSold
}

const products = '/admin/v1/organisations/:organisation_id/products'

const ProductsPath = z.object({ organisation_id: OrganisationId })
const ProductPath = ProductsPath.extend({ slug: Slug })

const ManagedProduct = z
  .object({
    id: ProductId,
    slug: Slug,
    name: z.string(),
    product_type: ProductType,
    lifecycle_state: LifecycleState,
    release: z
      .object({ id: ReleaseId, number: z.int() })
      .nullable()
      .describe('The release on show; null while none was published.'),
    unpublished_changes: z.boolean().describe('Whether the draft differs from the release on show.'),
  })
  .meta({ id: 'ManagedProduct' })

const OneProduct = z.object({ data: ManagedProduct })

const PublishedProduct = z.object({
  data: ManagedProduct.extend({
    missing_rates: z
      .array(
        z.object({
          cover_index: z.int(),
          rate_table: RateTableKey,
          version: z.int(),
          cells: z.array(z.string()).describe('For example `34|25|n`; the first 1,000.'),
        }),
      )
      .describe('What the limits of a cover allow and its rate table has no rate for.'),
  }).meta({ id: 'PublishedProduct' }),
})

const viewOf = (state: ProductState): z.output<typeof ManagedProduct> => {
  const { draft, current, lifecycle_state } = state
  const { product_id: id, slug, name, product_type } = draft
  const release = current ? { id: current.id, number: current.number } : null
  return { id, slug, name, product_type, lifecycle_state, release, unpublished_changes: hasUnpublishedChanges(state) }
}

/** The operator's routes for products. Their content is declared in the set-up file. */
export const catalogueAdminRoutes = ({ writer, catalogue, hasSold }: Deps): Route[] => {
  const { handle, load } = commandHandler(writer, product)

  return [
    route(
      {
        ...impersonalRoute('owner', 'leads', 'underwriting', 'policies', 'claims', 'finance'),
        method: 'get',
        address: products,
        summary: 'List an organisation’s products with their drafts and releases',
        path: ProductsPath,
        answers: { 200: z.object({ data: z.array(ManagedProduct) }) },
      },
      async ({ path: { organisation_id } }) => {
        const slugs = catalogue.slugs(organisation_id).toSorted()
        const states = await Promise.all(slugs.map((slug) => load(productIdOf(organisation_id, slug))))
        return { status: 200, body: { data: states.flatMap((state) => (state ? [viewOf(state)] : [])) } }
      },
    ),

    draftRoute(writer),

    route(
      {
        ...impersonalRoute('owner'),
        method: 'post',
        address: `${products}/:slug/releases`,
        summary: 'Publish a product’s draft as its next release; an unchanged draft is no new release',
        path: ProductPath,
        answers: { 200: PublishedProduct, 201: PublishedProduct, ...mayWait },
        errors: ['conflict'],
      },
      async ({ path: { organisation_id, slug }, ...facts }) => {
        const id = productIdOf(organisation_id, slug)
        const command = {
          type: 'PublishRelease',
          release_id: ReleaseId.parse(uuidv7()),
          sold: await hasSold(organisation_id, id),
        } as const
        const { state, events } = await handle(id, command, teamContext(organisation_id, facts))
        if (!state) throw notFound('product')
        const tables = await catalogue.rateTablesOf(state.draft)
        const missing_rates = missingRates(state.draft, (key) => tables.get(key)).map(({ cells, ...table }) => ({
          ...table,
          cells: [...cells],
        }))
        return { status: events.length > 0 ? 201 : 200, body: { data: { ...viewOf(state), missing_rates } } }
      },
    ),

    route(
      {
        ...impersonalRoute('owner'),
        method: 'patch',
        address: `${products}/:slug`,
        summary: 'Change a product’s lifecycle state',
        path: ProductPath,
        body: z.object({ lifecycle_state: LifecycleState.describe('Only `production` products are on sale.') }),
        answers: { 200: OneProduct },
        errors: ['conflict'],
      },
      async ({ path: { organisation_id, slug }, body, ...facts }) => {
        const id = productIdOf(organisation_id, slug)
        const sold = await hasSold(organisation_id, id)
        const command = { type: 'ChangeLifecycle', to: body.lifecycle_state, sold } as const
        const { state } = await handle(id, command, teamContext(organisation_id, facts))
        if (!state) throw notFound('product')
        return { status: 200, body: { data: viewOf(state) } }
      },
    ),
  ]
}
