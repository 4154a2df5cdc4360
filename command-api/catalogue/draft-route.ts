import { z } from 'zod'
import { mostChanges, ProductDraft } from '#domain/catalogue/record.ts'
import { product, type ProductState } from '#domain/catalogue/product.ts'
import { changesOf } from '#domain/changes.ts'
import { notFound } from '#domain/rejection.ts'
import { OrganisationId, Slug } from '#domain/values.ts'
import { route, type Route } from '#infra/http/route.ts'
import { impersonalRoute } from '../operator.ts'
import { commandHandler, type Writer } from '../writing/handle.ts'
import { productIdOf } from './ids.ts'
import { makeComparePrices } from './price-differences.ts'

const changesIn = ({ draft, current }: ProductState) => {
  if (!current) return []
  const { id: _id, number: _number, ...published } = current
  return changesOf(published, draft).map(({ path, before = null, after = null }) => ({ path, before, after }))
}

/** Shows what a product's next release would be, beside the one that is on sale. */
export const draftRoute = (writer: Writer): Route => {
  const { load } = commandHandler(writer, product)
  const comparePrices = makeComparePrices(writer)
  return route(
    {
      ...impersonalRoute('owner', 'underwriting'),
      method: 'get',
      address: '/admin/v1/organisations/:organisation_id/products/:slug/draft',
      summary: 'Show a product’s draft beside its release, with the sample prices that differ',
      path: z.object({ organisation_id: OrganisationId, slug: Slug }),
      answers: { 200: z.object({ data: ProductDraft }) },
    },
    async ({ path: { organisation_id, slug }, now }) => {
      const state = await load(productIdOf(organisation_id, slug))
      if (!state) throw notFound('product')
      const { draft, current } = state
      const changes = changesIn(state)
      const data = {
        draft,
        release: current ? { id: current.id, number: current.number } : null,
        changes: changes.slice(0, mostChanges),
        changes_count: changes.length,
        prices: (current && (await comparePrices(current, draft, now))) ?? null,
      }
      return { status: 200, body: { data: ProductDraft.parse(data) } }
    },
  )
}
